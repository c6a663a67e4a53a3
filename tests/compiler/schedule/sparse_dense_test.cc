// The sparse_dense template on matrices with few, many and no elements, and on columns that fill
// vectors or do not; rows of all lengths are shared out evenly.
#include <algorithm>
#include <bit>
#include <numeric>

#include "compiler/loop/interpreter.h"
#include "compiler/schedule/primitives/prepare_stage.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

std::string SparseText(int nonzeros, int rows, int inner, int columns, bool constant,
                       const char* epilogue) {
  const char* word = constant ? "const " : "";
  return fmt::format(
      "fn ({0}p0: Tensor[({1},), float32], {0}p1: Tensor[({1},), int32], {0}p2: Tensor[({2},), "
      "int32], p3: Tensor[({3}, {4}), float32]{5} accumulate=float32 numerics=default",
      word, nonzeros, rows + 1, inner, columns, epilogue);
}
constexpr char kPlain[] = ") { nn.sparse_dense(p0, p1, p2, p3) }";

int CheckOn(const std::string& kernel, uint64_t seed) {
  int checked = 0;
  for (const char* target : {"llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2",
                             "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1"}) {
    checked += CheckTemplate(kernel, "sparse_dense", TestTarget(target), 5, seed);
  }
  return checked;
}

TEST(SparseDenseTemplate, EveryConfigComputesWhatTheNaiveNestDoes) {
  int checked = 0;
  uint64_t seed = 1;
  for (const int columns : {2, 3, 7, 8, 16, 17, 31, 64, 100}) {
    for (const bool constant : {true, false}) {
      checked += CheckOn(SparseText(60, 11, 13, columns, constant, kPlain), seed++);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
  EXPECT_GE(checked, 200);
}

TEST(SparseDenseTemplate, NoRowsOneRowAndNoElements) {
  EXPECT_GT(CheckOn(SparseText(30, 1, 5, 7, true, kPlain), 1), 0);
  EXPECT_GT(CheckOn(SparseText(1, 9, 1, 16, true, kPlain), 2), 0);
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  EXPECT_GT(CheckTemplate(SparseText(0, 4, 5, 16, true, kPlain), "empty", target, 1, 3), 0);
}

TEST(SparseDenseTemplate, TakesTheLayersEpilogue) {
  EXPECT_GT(
      CheckOn(SparseText(60, 11, 13, 7, true,
                         ", const p4: Tensor[(7,), float32]) { %0 = nn.sparse_dense(p0, p1, p2, "
                         "p3); %1 = add(%0, p4); nn.relu(%1) }"),
              1),
      0);
}

// Where rows of these lengths begin.
std::vector<double> Offsets(const std::vector<int64_t>& lengths) {
  std::vector<double> offsets = {0};
  for (const int64_t length : lengths) offsets.push_back(offsets.back() + double(length));
  return offsets;
}

// Lengths of `rows` rows of `nonzeros` elements, at most.
std::vector<std::pair<std::string, std::vector<int64_t>>> SkewedLengths(int64_t nonzeros,
                                                                        size_t rows) {
  std::vector<int64_t> even(rows, nonzeros / static_cast<int64_t>(rows));
  std::vector<int64_t> none(rows, 0);
  std::vector<int64_t> first = none, middle = none, last = none;
  first.front() = middle[rows / 2] = last.back() = nonzeros;
  std::vector<int64_t> sorted = none;  // by degree: each has half of what is left
  for (int64_t left = nonzeros, i = 0; left > 0 && i < static_cast<int64_t>(rows); ++i) {
    sorted[static_cast<size_t>(i)] = (left + 1) / 2;
    left -= sorted[static_cast<size_t>(i)];
  }
  std::vector<int64_t> ascending(sorted.rbegin(), sorted.rend());
  std::vector<int64_t> every_other = none;
  for (size_t i = 0; i < rows; i += 2) every_other[i] = nonzeros / static_cast<int64_t>(rows);
  return {{"even", even},
          {"no elements", none},
          {"all in the first", first},
          {"middle", middle},
          {"last", last},
          {"sorted", sorted},
          {"rising", ascending},
          {"every other row is empty", every_other}};
}

CpuTarget WithThreads(int threads) {
  return TestTarget(
      fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads={}", threads));
}

TEST(SparseDenseTemplate, SharesByNonzerosNeedConstantRowsAndThreads) {
  const auto options = [](const std::string& kernel, int threads) {
    const ops::KernelDefinition def = MustLower(kernel);
    const CpuTarget target = WithThreads(threads);
    const Template& schedule = TemplateFor(def);
    const Task task{&def, schedule.Signatures(def, machine::Machine::For(target))[0], target};
    Config config = DefaultOfTask(task);
    EXPECT_TRUE(SpaceOfTask(task).Contains(config));
    const bool chosen = config.String("share") == "nonzeros";
    config.Set("share", std::string("nonzeros"));
    EXPECT_EQ(SpaceOfTask(task).Contains(config), chosen);
    return chosen;
  };
  EXPECT_TRUE(options(SparseText(60, 11, 13, 16, true, kPlain), 2));
  EXPECT_FALSE(options(SparseText(60, 11, 13, 16, true, kPlain), 1));
  EXPECT_FALSE(options(SparseText(60, 11, 13, 16, false, kPlain), 2));
  EXPECT_FALSE(options(SparseText(60, 1, 13, 16, true, kPlain), 2));
}

TEST(SparseDenseTemplate, AConfigOfBeforeSharesMeansRows) {
  const ops::KernelDefinition def = MustLower(SparseText(60, 11, 13, 16, true, kPlain));
  const CpuTarget target = WithThreads(2);
  const Template& schedule = TemplateFor(def);
  const Task task{&def, schedule.Signatures(def, machine::Machine::For(target))[0], target};
  Config old;
  for (const char* knob : {"lanes", "vectors", "steps"}) {
    old.Set(knob, DefaultOfTask(task).Int(knob));
  }
  old.Set("order", std::string("rows_first"));
  const std::optional<Config> now = SpaceOfTask(task).Migrate(old);
  ASSERT_TRUE(now.has_value());
  EXPECT_EQ(now->String("share"), "rows");
}

TEST(SparseDenseTemplate, RowsOfAllLengthsGiveTheSameBits) {
  Random random(5);
  int shared = 0;
  for (const int64_t rows : {1, 2, 11, 30}) {
    for (const int columns : {7, 33}) {
      const int64_t nonzeros = 61;
      const ops::KernelDefinition def =
          MustLower(SparseText(nonzeros, static_cast<int>(rows), 13, columns, true, kPlain));
      auto cases = SkewedLengths(nonzeros, static_cast<size_t>(rows));
      std::vector<std::pair<std::string, std::vector<double>>> offsets;
      for (const auto& [name, lengths] : cases) offsets.emplace_back(name, Offsets(lengths));
      std::vector<double> wild;  // neither ascending nor inside
      for (int64_t i = 0; i <= rows; ++i) wild.push_back(double(random.Below(200)) - 70);
      offsets.emplace_back("wild", wild);
      for (const int threads : {1, 2, 3}) {
        const CpuTarget target = WithThreads(threads);
        const Template& schedule = TemplateFor(def);
        const Task task{&def, schedule.Signatures(def, machine::Machine::For(target))[0], target};
        for (int i = 0; i < 3; ++i) {
          const Config config = i == 0 ? DefaultOfTask(task) : SpaceOfTask(task).Sample(random);
          const auto nest = NestOfConfig(task, config);
          ASSERT_TRUE(nest.ok()) << nest.status();
          shared += config.String("share") == "nonzeros" ? 1 : 0;
          for (const auto& [name, begins] : offsets) {
            const GivenElements given = {{"p2", begins}};
            EXPECT_EQ(RunNest(def.naive, 3, false, given), RunNest(*nest, 3, true, given))
                << name << " " << rows << " rows " << config.ToText();
          }
        }
      }
    }
  }
  EXPECT_GE(shared, 12);
}

// Where the shares of a nest begin, for these offsets.
std::vector<int64_t> StartsOf(const loop::Nest& nest, const std::vector<double>& offsets) {
  std::vector<std::vector<int64_t>> memory;
  std::vector<void*> pointers;
  std::vector<int64_t>* starts = nullptr;
  memory.reserve(nest.buffers.size());
  for (const loop::Buffer& buffer : nest.buffers) {
    memory.emplace_back(static_cast<size_t>(buffer->SizeBytes() / 8 + 1));
    pointers.push_back(memory.back().data());
    if (buffer->name == "sparse_starts.shares") starts = &memory.back();
    if (buffer->name != "p2") continue;
    for (size_t i = 0; i < offsets.size(); ++i) {
      static_cast<int32_t*>(pointers.back())[i] = static_cast<int32_t>(offsets[i]);
    }
  }
  EXPECT_TRUE(loop::Interpret(nest, pointers).ok());
  if (starts == nullptr) return {};
  starts->pop_back();
  return *starts;
}

// Elements of the largest and of all parts, one a thread of a team.
std::pair<double, double> LargestPart(const std::vector<int64_t>& starts,
                                      const std::vector<double>& offsets, int threads) {
  const auto shares = static_cast<int64_t>(starts.size()) - 1;
  double largest = 0;
  for (int t = 0; t < threads; ++t) {
    const auto offset = [&](int64_t share) {
      return offsets[static_cast<size_t>(starts[static_cast<size_t>(share)])];
    };
    largest = std::max(largest, offset(shares * (t + 1) / threads) - offset(shares * t / threads));
  }
  return {largest, offsets.back()};
}

TEST(SparseDenseTemplate, ThreadsGetEvenSharesOfASkewedGraph) {
  std::vector<int64_t> lengths;  // by degree: a power law
  for (int64_t i = 0; i < 400; ++i) lengths.push_back(1 + 3000 / (i + 3));
  for (const bool rising : {false, true}) {
    if (rising) std::reverse(lengths.begin(), lengths.end());
    const std::vector<double> offsets = Offsets(lengths);
    const auto nonzeros = static_cast<int>(offsets.back());
    const ops::KernelDefinition def = MustLower(SparseText(nonzeros, 400, 20, 16, true, kPlain));
    for (const int threads : {2, 3, 8}) {
      const CpuTarget target = WithThreads(threads);
      const Template& schedule = TemplateFor(def);
      const Task task{&def, schedule.Signatures(def, machine::Machine::For(target))[0], target};
      const auto nest = NestOfConfig(task, DefaultOfTask(task));
      ASSERT_TRUE(nest.ok()) << nest.status();
      const std::vector<int64_t> starts = StartsOf(*nest, offsets);
      ASSERT_GT(starts.size(), static_cast<size_t>(threads));
      EXPECT_EQ(starts.front(), 0);
      EXPECT_EQ(starts.back(), 400);
      EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end()));
      const auto [largest, all] = LargestPart(starts, offsets, threads);
      EXPECT_LE(largest, 1.2 * all / threads) << threads;  // rows count too
      // In equal counts of rows, the thread with the long ones has most of the elements.
      std::vector<int64_t> even(static_cast<size_t>(threads) + 1);
      for (size_t t = 0; t < even.size(); ++t) even[t] = 400 * static_cast<int64_t>(t) / threads;
      EXPECT_GE(LargestPart(even, offsets, threads).first, 1.5 * all / threads);
    }
  }
}

// Steps of the loops of a statement, all of constant extents.
int64_t StepsOf(const loop::Stmt& s) {
  if (s->kind == loop::StmtKind::kStore) return 1;
  int64_t steps = 0;
  for (const loop::Stmt& inner : s->body) steps += StepsOf(inner);
  int64_t extent = 1;
  if (s->kind == loop::StmtKind::kFor) {
    EXPECT_TRUE(loop::IsConstInt(s->extent, &extent));
  }
  return extent * steps;
}

// As many rows come before each share as have their middles before it, and that takes a few steps
// a share, however many rows there are.
TEST(SparseDenseTemplate, SharesAreCountedInStepsOfTheLogarithmOfRows) {
  Random random(9);
  for (const int64_t rows : {2, 3, 7, 8, 9, 63, 64, 65, 1000}) {
    std::vector<int64_t> lengths;
    for (int64_t i = 0; i < rows; ++i) {
      lengths.push_back(random.Below(3) == 0 ? static_cast<int64_t>(random.Below(60)) : 0);
    }
    const std::vector<double> offsets = Offsets(lengths);
    const auto nonzeros = static_cast<int64_t>(offsets.back());
    if (nonzeros == 0) continue;
    const ops::KernelDefinition def = MustLower(
        SparseText(static_cast<int>(nonzeros), static_cast<int>(rows), 20, 16, true, kPlain));
    const CpuTarget target = WithThreads(3);
    const Template& schedule = TemplateFor(def);
    const Task task{&def, schedule.Signatures(def, machine::Machine::For(target))[0], target};
    const auto nest = NestOfConfig(task, DefaultOfTask(task));
    ASSERT_TRUE(nest.ok()) << nest.status();
    const std::vector<int64_t> starts = StartsOf(*nest, offsets);
    const auto shares = static_cast<int64_t>(starts.size()) - 1;
    ASSERT_GT(shares, 1);
    for (int64_t s = 0; s <= shares; ++s) {
      int64_t before = 0;
      for (int64_t row = 0; row < rows; ++row) {
        const double middle =
            (offsets[static_cast<size_t>(row)] + offsets[static_cast<size_t>(row) + 1]) / 2 +
            2 * static_cast<double>(row) + 1;  // a row counts as two more
        before +=
            middle * static_cast<double>(shares) <= static_cast<double>(s * (nonzeros + 2 * rows))
                ? 1
                : 0;
      }
      EXPECT_EQ(starts[static_cast<size_t>(s)], before) << rows << " rows, share " << s;
    }
    for (const loop::Launch& launch : nest->launches) {
      if (launch.name != "sparse_starts.shares") continue;
      const int64_t bits = std::bit_width(static_cast<uint64_t>(rows));
      EXPECT_LE(StepsOf(launch.body), (shares + 1) * (bits + 1)) << rows;
    }
  }
}

TEST(PrepareStage, RefusesWhatChangesFromRunToRun) {
  const ops::KernelDefinition constant = MustLower(SparseText(9, 4, 5, 7, true, kPlain));
  loop::Nest nest = constant.naive;
  EXPECT_TRUE(PrepareStage(&nest, Stage("sparse_columns")).ok());
  EXPECT_EQ(nest.launches[0].phase, loop::Phase::kPrepare);
  ExpectSameResults(constant.naive, nest, 1, "prepared");
  EXPECT_FALSE(PrepareStage(&nest, Stage("sparse_dense")).ok());
  loop::Nest variable = MustLower(SparseText(9, 4, 5, 7, false, kPlain)).naive;
  EXPECT_FALSE(PrepareStage(&variable, Stage("sparse_columns")).ok());
}

}  // namespace
}  // namespace hone::schedule
