// The lines that PrefetchRegion asks for, in the order in which it does.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "compiler/loop/bounds.h"
#include "compiler/loop/builder.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/fission.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/primitives/prefetch.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/set_layout.h"
#include "compiler/schedule/primitives/split.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/test_nests.h"

namespace hone::schedule {
namespace {

int64_t ValueOf(const loop::Expr& e, const loop::VarMap& at) {
  int64_t value = -1;
  const loop::Expr simple = Simplify(loop::Substitute(e, at), loop::Bounds());
  EXPECT_TRUE(loop::IsConstInt(simple, &value)) << loop::ToText(simple);
  return value;
}

// Where the prefetches point, in elements, as the statements run.
void Collect(const loop::Stmt& s, loop::VarMap* at, std::vector<int64_t>* offsets) {
  switch (s->kind) {
    case loop::StmtKind::kPrefetch: {
      std::vector<int64_t> index;
      for (const loop::Expr& e : s->indices) index.push_back(ValueOf(e, *at));
      offsets->push_back(s->buffer->layout.Offset(index, s->buffer->shape));
      return;
    }
    case loop::StmtKind::kIf:
      if (ValueOf(s->condition, *at) != 0) Collect(s->body[0], at, offsets);
      return;
    case loop::StmtKind::kFor: {
      const int64_t first = ValueOf(s->min, *at), count = ValueOf(s->extent, *at);
      for (int64_t i = first; i < first + count; ++i) {
        (*at)[s->var.get()] = loop::Expr(i);
        Collect(s->body[0], at, offsets);
      }
      return;
    }
    default:
      for (const loop::Stmt& child : s->body) Collect(child, at, offsets);
  }
}

// Where the prefetches of all launches point.
std::vector<int64_t> PrefetchedBy(const loop::Nest& nest) {
  std::vector<int64_t> offsets;
  loop::VarMap at;
  for (const loop::Launch& launch : nest.launches) Collect(launch.body, &at, &offsets);
  return offsets;
}

struct Case {
  const char* layout;
  int64_t channels, chunk;
  std::vector<std::string> turns;
  int64_t size = 3;
};

class PrefetchOrder : public testing::TestWithParam<Case> {};

constexpr int64_t kFilters = 8, kLine = 4;

// The lines of a chunk of input channels of all filters, ascending.
std::vector<int64_t> LinesOf(const loop::Buffer& weight, int64_t chunk, int64_t channels) {
  std::vector<int64_t> lines;
  for (int64_t c = chunk * channels; c < (chunk + 1) * channels; ++c) {
    for (int64_t tap = 0; tap < 9; ++tap) {
      for (int64_t n = 0; n < kFilters; n += kLine) {
        lines.push_back(weight->layout.Offset({n, c, tap / 3, tap % 3}, weight->shape));
      }
    }
  }
  std::ranges::sort(lines);
  return lines;
}

// Each chunk prefetches the lines of the next, the last its own, ascending; some of them twice
// where the turns do not divide them.
TEST_P(PrefetchOrder, IsThatOfMemory) {
  const Case& c = GetParam();
  const loop::Nest naive = ConvNest(c.channels, c.size, kFilters);
  loop::Nest nest = naive;
  const absl::StatusOr<Stage> packed = Pack(&nest, "w", *Layout::Parse(c.layout, 4));
  ASSERT_TRUE(packed.ok()) << packed.status();
  ASSERT_TRUE(
      Split(&nest, Loop("conv.r0"), c.chunk, Tail::kExact, Loop("conv.chunk"), Loop("conv.r0"))
          .ok());
  ASSERT_TRUE(DecomposeReduction(&nest, Loop("conv.i1")).ok());
  ASSERT_TRUE(Reorder(&nest,
                      {Loop("conv.chunk"), Loop("conv.i2"), Loop("conv.i3"), Loop("conv.r0"),
                       Loop("conv.i1")},
                      true)
                  .ok());
  PrefetchRegionOptions options;
  options.ahead = {Loop("conv.chunk")};
  for (const std::string& turn : c.turns) options.turns.emplace_back(turn);
  options.line_elements = kLine;
  ASSERT_TRUE(PrefetchRegion(&nest, packed->buffer(), options).ok());
  ExpectSameResults(naive, nest, 7, c.layout);

  const std::vector<int64_t> all = PrefetchedBy(nest);
  const int64_t chunks = c.channels / c.chunk;
  const loop::Buffer weight = *FindBuffer(nest, packed->buffer());
  auto from = all.begin();
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const auto to = from + static_cast<std::ptrdiff_t>(all.size()) / chunks;
    std::vector<int64_t> lines;
    std::set<int64_t> seen;
    std::copy_if(from, to, std::back_inserter(lines),
                 [&](int64_t line) { return seen.insert(line).second; });
    EXPECT_EQ(lines, LinesOf(weight, std::min(chunk + 1, chunks - 1), c.chunk));
    from = to;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PrefetchOrder,
    testing::Values(Case{"NCHW8n", 8, 4, {"conv.i2", "conv.i3"}},     // 36 places, 9 turns
                    Case{"NCHW8n", 6, 2, {"conv.i2", "conv.i3"}},     // 2 each
                    Case{"NCHW8n", 6, 3, {"conv.i2", "gone"}},        // 9 of 27 each
                    Case{"NCHW4c8n", 8, 4, {"conv.i2", "conv.i3"}},   // a block
                    Case{"NCHW2c8n", 8, 4, {"conv.i2", "conv.i3"}},   // two
                    Case{"NCHW8c8n", 16, 4, {"conv.i2", "conv.i3"}},  // half of one
                    Case{"NHWC8n", 8, 4, {"conv.i2", "conv.i3", "conv.r0"}},
                    Case{"NCHW8n", 4, 2, {"conv.i2", "conv.i3"}, 2},  // 6 each in 3 of 4 turns
                    Case{"NCHW8n", 3, 1, {"conv.i2"}, 2}));           // 5 and the other 4

// Taps and rows of taps lie one behind the other: one number counts them all, without a division.
TEST(PrefetchOrder, JoinsAxesThatFollowOneAnother) {
  loop::Nest nest = ConvNest(2, 3, kFilters);
  const absl::StatusOr<Stage> packed = Pack(&nest, "w", *Layout::Parse("NCHW8n", 4));
  ASSERT_TRUE(packed.ok()) << packed.status();
  ASSERT_TRUE(DecomposeReduction(&nest, Loop("conv.i1")).ok());
  ASSERT_TRUE(
      Reorder(&nest, {Loop("conv.r0"), Loop("conv.i2"), Loop("conv.i3"), Loop("conv.i1")}, true)
          .ok());
  PrefetchRegionOptions options;
  options.ahead = {Loop("conv.r0")};
  options.turns = {Loop("conv.i2")};
  options.line_elements = kLine;
  ASSERT_TRUE(PrefetchRegion(&nest, packed->buffer(), options).ok());
  const std::string text = loop::ToText(nest);
  const size_t prefetch = text.find("prefetch ");
  ASSERT_NE(prefetch, std::string::npos) << text;
  EXPECT_EQ(text.substr(prefetch, text.find('\n', prefetch) - prefetch).find("floor"),
            std::string::npos)
      << text;
}

// The offsets that are prefetched of a tensor in blocks of four channels, and of the next row's
// every `step`th place of each block, where a line has so many elements.
void ExpectRowsOfBlocks(int64_t line_elements, int64_t step) {
  constexpr int64_t kChannels = 8, kBlock = 4, kRows = 3, kWidth = 5;
  constexpr DataType kFloat = DataType::kFloat32;
  loop::NestBuilder builder("rows");
  const loop::Buffer x = builder.AddInput("x", kFloat, {1, kChannels, kRows, kWidth});
  const loop::Buffer w = builder.AddConstant("w", kFloat, {2, kChannels});
  const loop::Buffer y = builder.Reduce(
      "y", kFloat, {kRows, 2, kWidth}, std::vector<int64_t>{kChannels},
      loop::NestBuilder::Combiner::kAdd, loop::Const(0, kFloat),
      [&](const std::vector<loop::Expr>& i, const std::vector<loop::Expr>& r) {
        return loop::Load(x, {loop::Expr(0), r[0], i[0], i[2]}) * loop::Load(w, {i[1], r[0]});
      });
  const loop::Nest naive = builder.Finish({y});
  loop::Nest nest = naive;
  ASSERT_TRUE(SetLayout(&nest, "x", *Layout::Parse("NCHW4c", 4)).ok());
  PrefetchRegionOptions options;
  options.ahead = {Loop("y.i0")};
  options.turns = {Loop("y.i1"), Loop("y.i2")};
  options.line_axis = 1;
  options.line_elements = line_elements;
  ASSERT_TRUE(PrefetchRegion(&nest, "x", options).ok());
  ExpectSameResults(naive, nest, 7, "rows");
  const loop::Buffer data = *FindBuffer(nest, "x");
  std::vector<int64_t> wanted;
  for (const int64_t row : {1, 2, 2}) {
    for (int64_t c = 0; c < kChannels; c += kBlock) {
      for (int64_t i = 0; i < kWidth; i += step) {
        wanted.push_back(data->layout.Offset({0, c, row, i}, data->shape));
      }
    }
  }
  EXPECT_EQ(PrefetchedBy(nest), wanted);
}

// Blocks of the axis that lines lie along follow one another as any places do: a row of each.
TEST(PrefetchOrder, GoesThroughBlocksOfTheLineAxis) { ExpectRowsOfBlocks(4, 1); }

TEST(PrefetchOrder, AsksOnceForBlocksThatShareALine) { ExpectRowsOfBlocks(8, 2); }

// What is stored comes as what is loaded does, each line of the next row once.
TEST(PrefetchOrder, AsksForWhatIsWritten) {
  constexpr int64_t kRows = 3, kColumns = 8;
  loop::NestBuilder builder("store");
  const loop::Buffer x = builder.AddInput("x", DataType::kFloat32, {kRows, kColumns});
  const loop::Buffer y = builder.Compute(
      "y", DataType::kFloat32, {kRows, kColumns},
      [&](const std::vector<loop::Expr>& i) { return loop::Load(x, {i[0], i[1]}); });
  const loop::Nest naive = builder.Finish({y});
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, Loop("y.i1"), kLine, Tail::kExact, Loop("y.line"), Loop("y.i1")).ok());
  PrefetchRegionOptions options;
  options.ahead = {Loop("y.i0")};
  options.turns = {Loop("y.line")};
  options.line_axis = 1;
  options.line_elements = kLine;
  ASSERT_TRUE(PrefetchRegion(&nest, "y", options).ok());
  ExpectSameResults(naive, nest, 7, "store");
  std::vector<int64_t> seen = PrefetchedBy(nest);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen, (std::vector<int64_t>{8, 12, 16, 20, 16, 20}));
}

// The steps of one row after those of another, three further on; at the end the last row again.
TEST(PrefetchOrder, GoesOnInTheNextRow) {
  loop::Nest nest = MatmulNest(1, 8, 8);
  ASSERT_TRUE(
      Split(&nest, Loop("sum.r0"), 2, Tail::kExact, Loop("sum.r0"), Loop("sum.unroll")).ok());
  PrefetchRegionOptions options;
  options.ahead = {Loop("sum.i1"), Loop("sum.r0")};
  options.distance = 3;
  options.turns = {Loop("sum.unroll")};
  options.line_axis = 1;
  options.line_elements = 4;
  ASSERT_TRUE(PrefetchRegion(&nest, "b", options).ok());
  ExpectSameResults(MatmulNest(1, 8, 8), nest, 7, "distance");
  std::vector<int64_t> wanted;
  for (int64_t step = 3; step < 35; ++step) {  // four of each row, two terms a step
    wanted.push_back(step < 32 ? step * 2 : 56 + step % 4 * 2);
  }
  std::vector<int64_t> seen = PrefetchedBy(nest);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen, wanted);
}

// Every second tap is read, of rows that lie one behind the other: taps whose lines hold two of
// them are one line apart too.
void ExpectEverySecondTap(int64_t line_elements) {
  loop::NestBuilder builder("steps");
  constexpr DataType kFloat = DataType::kFloat32;
  const loop::Buffer x = builder.AddInput("x", kFloat, {4, 3});
  const loop::Buffer w = builder.AddConstant("w", kFloat, {4, 4, 6, 1});
  const loop::Buffer y = builder.Reduce(
      "y", kFloat, {4}, {4, 3}, loop::NestBuilder::Combiner::kAdd, loop::Const(0, kFloat),
      [&](const std::vector<loop::Expr>& i, const std::vector<loop::Expr>& r) {
        return loop::Load(x, {r[0], r[1]}) *
               loop::Load(w, {i[0], r[0], r[1] * loop::Expr(2), loop::Expr(0)});
      });
  loop::Nest nest = builder.Finish({y});
  const absl::StatusOr<Stage> packed = Pack(&nest, "w", *Layout::Parse("NCHW4n", 4));
  ASSERT_TRUE(packed.ok()) << packed.status();
  ASSERT_TRUE(DecomposeReduction(&nest, Loop("y.i0")).ok());
  ASSERT_TRUE(Reorder(&nest, {Loop("y.r0"), Loop("y.r1"), Loop("y.i0")}, true).ok());
  PrefetchRegionOptions options;
  options.ahead = {Loop("y.r0")};
  options.turns = {Loop("y.r1")};
  options.line_elements = line_elements;
  ASSERT_TRUE(PrefetchRegion(&nest, packed->buffer(), options).ok());
  const loop::Buffer weight = *FindBuffer(nest, packed->buffer());
  std::vector<int64_t> wanted;
  for (const int64_t c : {1, 2, 3, 3}) {
    for (const int64_t tap : {0, 2, 4}) {
      wanted.push_back(weight->layout.Offset({0, c, tap, 0}, weight->shape));
    }
  }
  EXPECT_EQ(PrefetchedBy(nest), wanted);
}

TEST(PrefetchOrder, LeavesOutWhatIsNotRead) {
  for (const int64_t line_elements : {4, 8}) ExpectEverySecondTap(line_elements);
}

// Fifteen lines in fourteen turns: two in each of eight, not three in each of five.
TEST(PrefetchOrder, SpreadsLinesOverMoreThanHalfOfTheTurns) {
  loop::Nest nest = MatmulNest(2, 14, 15);
  PrefetchRegionOptions options;
  options.ahead = {Loop("sum.i0")};
  options.turns = {Loop("sum.i1")};
  options.line_elements = 1;
  ASSERT_TRUE(PrefetchRegion(&nest, "a", options).ok());
  ExpectSameResults(MatmulNest(2, 14, 15), nest, 7, "shares");
  std::vector<int64_t> wanted;
  for (int row = 0; row < 2; ++row) {  // the second, and it again
    for (int64_t line = 0; line < 15; ++line) wanted.push_back(15 + line);
    wanted.push_back(15 + 14);  // of the eighth turn
  }
  EXPECT_EQ(PrefetchedBy(nest), wanted);
}

}  // namespace
}  // namespace hone::schedule
