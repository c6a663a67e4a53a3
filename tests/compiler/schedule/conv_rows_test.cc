// Convolutions of few output channels, with neighbours along the width as lanes.
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/templates.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/conv_texts.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

const char* const kRowTargets[] = {kWideTarget,
                                   "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=2",
                                   "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -threads=1"};

// A bias and something of the result's shape are added. `before`: what is done to the data first.
std::string RowsText(const Windows& w, const std::string& before, const char* numerics) {
  std::vector<int64_t> padding = w.before;
  padding.insert(padding.end(), w.after.begin(), w.after.end());
  std::vector<int64_t> result;
  for (size_t i = 0; i < w.data.size(); ++i) {
    const int64_t reach = (w.taps[i] - 1) * w.dilation[i];
    result.push_back((w.data[i] + w.before[i] + w.after[i] - reach - 1) / w.strides[i] + 1);
  }
  return fmt::format(
      "fn (p0: Tensor[({}, {}, {}), float32], const p1: Tensor[({}, {}, {}), float32], const p2: "
      "Tensor[({},), float32], p3: Tensor[({}, {}, {}), float32]) {{ %0 = {}; %1 = nn.conv{}d(%0, "
      "p1, dilation={}, padding={}, strides={}); %2 = nn.bias_add(%1, p2); %3 = add(%2, p3); "
      "nn.relu(%3) }} accumulate=float32 numerics={}",
      w.n, w.ic, fmt::join(w.data, ", "), w.oc, w.ic, fmt::join(w.taps, ", "), w.oc, w.n, w.oc,
      fmt::join(result, ", "), before, w.taps.size(), List(w.dilation), List(padding),
      List(w.strides), numerics);
}

// Rows a few vectors wide, shorter than one, one pixel more or less; any taps and padding, strides
// along all axes but the width.
Windows RandomRows(Random& random, int64_t lanes) {
  const int64_t widths[] = {2, 3, lanes - 1, lanes, lanes + 1, 2 * lanes, 3 * lanes + 2, 37};
  const int64_t channels[] = {1, 3, 5, lanes, lanes + 1, 2 * lanes};
  const auto from = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random.Below(static_cast<uint64_t>(high - low + 1)));
  };
  Windows w{from(1, 2),
            channels[random.Below(std::size(channels))],
            from(1, lanes - 1),
            {},
            {},
            {},
            {},
            {},
            {}};
  const int64_t spatial = from(1, 3);
  for (int64_t axis = 0; axis < spatial; ++axis) {
    const bool is_width = axis == spatial - 1;
    const int64_t taps = from(1, 4), dilation = from(1, 2);
    const int64_t reach = (taps - 1) * dilation;
    w.before.push_back(from(0, reach));
    w.after.push_back(from(0, reach));
    const int64_t result = is_width ? widths[random.Below(std::size(widths))] : from(1, 5);
    w.data.push_back(std::max<int64_t>(result + reach - w.before.back() - w.after.back(), 1));
    w.taps.push_back(taps);
    w.dilation.push_back(dilation);
    w.strides.push_back(is_width ? 1 : from(1, 2));
  }
  return w;
}

// So many configs of the strategy, from all signatures.
int CheckRows(const std::string& text, const CpuTarget& target, int samples, uint64_t seed) {
  const ops::KernelDefinition def = MustLower(text);
  const Template& conv = TemplateFor(def);
  Random random(seed);
  int checked = 0;
  for (const ir::LayoutSignature& signature : conv.Signatures(def, machine::Machine::For(target))) {
    const Task task{&def, signature, target};
    const Space space = SpaceOfTask(task);
    EXPECT_TRUE(space.Contains(DefaultOfTask(task))) << text;
    for (int tries = 0, found = 0; tries < 60 && found < samples; ++tries) {
      const Config config = space.Sample(random);
      if (config.String("strategy") != "rows") continue;
      const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
      EXPECT_TRUE(nest.ok()) << nest.status() << text << config.ToText();
      if (!nest.ok()) return checked;
      ExpectSameResults(def.naive, *nest, seed, text + config.ToText());
      ++found;
      ++checked;
    }
  }
  return checked;
}

TEST(ConvRows, EveryConfigComputesWhatTheNaiveNestDoes) {
  int checked = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const CpuTarget target = TestTarget(kRowTargets[seed % 3]);
    Random random(seed);
    const Windows w = RandomRows(random, target.VectorLanes());
    const char* const before = seed % 5 == 4 ? "tanh(p0)" : "p0";
    const std::string text = RowsText(w, before, seed % 2 == 0 ? "default" : "strict");
    checked += CheckRows(text, target, 3, seed);
    if (HasFailure()) FAIL() << seed << text;
  }
  EXPECT_GE(checked, 360);
}

// Rows are the only strategy but the generic one for groups that no vectors of output channels fit:
// by default, between row-major tensors.
TEST(ConvRows, GroupsComputeWhatTheNaiveNestDoes) {
  const std::pair<int64_t, int64_t> widths[] = {{3, 5}, {6, 6}, {17, 17}, {2, 7}, {25, 25}, {4, 9}};
  int checked = 0;
  for (uint64_t seed = 0; seed < 36; ++seed) {
    const CpuTarget target = TestTarget(kRowTargets[seed % 3]);
    Random random(seed);
    Windows w = RandomRows(random, target.VectorLanes());
    const auto& [in, out] = widths[seed % std::size(widths)];
    const int64_t groups = 2 + static_cast<int64_t>(random.Below(3));
    w.ic = in;
    w.oc = out * groups;
    const std::string text = WindowsText(w, "float32", "float32", groups);
    const ops::KernelDefinition def = MustLower(text);
    const std::vector<ir::LayoutSignature> signatures =
        TemplateFor(def).Signatures(def, machine::Machine::For(target));
    ASSERT_EQ(signatures.size(), 1U) << text;
    EXPECT_EQ(signatures[0], RowMajorSignature(def)) << text;
    const Task task{&def, signatures[0], target};
    EXPECT_EQ(DefaultOfTask(task).String("strategy"), "rows") << text;
    checked += CheckRows(text, target, 3, seed);
    if (HasFailure()) FAIL() << seed << text;
  }
  EXPECT_GE(checked, 100);
}

// Transposed ones: vectors along one phase of the width, rows of all phases together.
TEST(ConvRows, TransposedComputeWhatTheNaiveNestDoes) {
  int checked = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const CpuTarget target = TestTarget(kRowTargets[seed % 3]);
    Random random(seed);
    Windows w = RandomRows(random, target.VectorLanes());
    const std::vector<int64_t> extra = Transpose(random, &w);
    const std::string text = TransposedText(w, extra);
    checked += CheckRows(text, target, 3, seed);
    if (HasFailure()) FAIL() << seed << text;
  }
  EXPECT_GE(checked, 180);
}

std::string StrategyOf(const Conv2dShape& shape, const CpuTarget& target, size_t signature) {
  const ops::KernelDefinition def = MustLower(ConvText(shape, "bias_relu"));
  const Template& conv = TemplateFor(def);
  return DefaultOfTask(
             {&def, conv.Signatures(def, machine::Machine::For(target))[signature], target})
      .String("strategy");
}

// This holds for row-major data and for blocks; not where vectors of channels have no pads, or the
// width has a stride.
TEST(ConvRows, AreTheDefaultOfFewOutputChannels) {
  const CpuTarget target = TestTarget(kWideTarget);
  for (const int64_t out : {1, 3, 9}) {
    EXPECT_EQ(StrategyOf({1, 12, 128, 128, out, 3, 3, 1, 1, 1}, target, 0), "rows") << out;
    EXPECT_EQ(StrategyOf({1, 64, 64, 64, out, 3, 3, 1, 1, 1}, target, 0), "rows") << out;
    EXPECT_EQ(StrategyOf({1, 64, 64, 64, out, 3, 3, 1, 1, 1}, target, 1), "rows") << out;
    EXPECT_NE(StrategyOf({1, 12, 128, 128, out, 3, 3, 2, 1, 1}, target, 0), "rows") << out;
  }
  EXPECT_EQ(StrategyOf({1, 16, 128, 128, 3, 9, 9, 1, 4, 1}, target, 0), "rows");
  for (const int64_t out : {16, 64}) {
    EXPECT_NE(StrategyOf({1, 64, 64, 64, out, 3, 3, 1, 1, 1}, target, 0), "rows") << out;
    EXPECT_NE(StrategyOf({1, 64, 64, 64, out, 3, 3, 1, 1, 1}, target, 3), "rows") << out;
  }
}

// The last layers of generators and of super resolution. A tile has a row of each phase.
TEST(ConvRows, AreTheDefaultOfTransposedOnesWithFewOutputChannels) {
  const auto config_of = [](const Windows& w, const std::vector<int64_t>& extra) {
    const ops::KernelDefinition def = MustLower(TransposedText(w, extra));
    return DefaultOfTask({&def, RowMajorSignature(def), TestTarget(kWideTarget)});
  };
  const Config of_colours =
      config_of({1, 64, 3, {32, 32}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, {0, 0});
  EXPECT_EQ(of_colours.String("strategy"), "rows");
  EXPECT_EQ(of_colours.Int("tile_h") % 2, 0) << of_colours.ToText();
  const Config of_one =
      config_of({1, 56, 1, {85, 85}, {9, 9}, {3, 3}, {1, 1}, {4, 4}, {4, 4}}, {2, 2});
  EXPECT_EQ(of_one.String("strategy"), "rows");
  EXPECT_EQ(of_one.Int("tile_h") % 3, 0) << of_one.ToText();
  EXPECT_NE(config_of({1, 64, 32, {32, 32}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, {0, 0})
                .String("strategy"),
            "rows");
}

// Tiles at a border of several are no code of their own; threads share rows of tiles.
TEST(ConvRows, DefaultsSuitWideBordersAndThreads) {
  const Conv2dShape wide_border{1, 4, 200, 200, 3, 9, 9, 1, 32, 8};
  const ops::KernelDefinition def = MustLower(ConvText(wide_border, "none"));
  const CpuTarget target = TestTarget(kWideTarget);
  const Config config = DefaultOfTask({&def, RowMajorSignature(def), target});
  EXPECT_EQ(config.String("strategy"), "rows");
  EXPECT_EQ(config.String("pad"), "copy") << config.ToText();

  const ops::KernelDefinition few_rows =
      MustLower(ConvText({1, 16, 8, 128, 3, 3, 3, 1, 1, 1}, "none"));
  const CpuTarget cores = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=8");
  const Config shared = DefaultOfTask({&few_rows, RowMajorSignature(few_rows), cores});
  EXPECT_EQ(shared.String("strategy"), "rows");
  EXPECT_EQ(shared.Int("tile_h"), 1) << shared.ToText();
}

}  // namespace
}  // namespace hone::schedule
