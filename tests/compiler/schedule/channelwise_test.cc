#include "absl/strings/str_replace.h"
#include "compiler/schedule/error_bound.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

int CheckKernels(const std::vector<std::string>& kernels, const std::string& expected) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  int checked = 0;
  uint64_t seed = 1;
  for (const std::string& kernel : kernels) {
    for (const CpuTarget& target : {wide, narrow}) {
      checked += CheckTemplate(kernel + kDefaultEnd, expected, target, 4, seed++);
      const std::string half = absl::StrReplaceAll(kernel, {{"float32", "bfloat16"}});
      checked += CheckTemplate(half + kDefaultEnd, expected, target, 4, seed++);
      if (testing::Test::HasFailure()) return checked;
    }
  }
  return checked;
}

TEST(DepthwiseConv2d, EveryConfigComputesWhatTheNaiveNestDoes) {
  std::vector<std::string> kernels;
  const int64_t shapes[][6] = {// channels, height, width, taps, stride, pad
                               {32, 7, 7, 3, 1, 1}, {20, 9, 6, 3, 2, 1}, {16, 1, 1, 1, 1, 0},
                               {17, 5, 8, 5, 1, 2}, {48, 4, 4, 3, 1, 0}, {3, 5, 37, 3, 1, 1},
                               {2, 9, 45, 3, 2, 1}, {2, 6, 33, 5, 3, 2}, {24, 12, 11, 7, 1, 3},
                               {16, 7, 7, 9, 2, 4}};
  for (const auto& [c, h, w, k, stride, pad] : shapes) {
    kernels.push_back(fmt::format(
        "fn (p0: Tensor[(1, {0}, {1}, {2}), float32], const p1: Tensor[({0}, 1, {3}, {3}), "
        "float32], const p2: Tensor[({0},), float32]) {{ %0 = nn.conv2d(p0, p1, groups={0}, "
        "padding=[{5}, {5}, {5}, {5}], strides=[{4}, {4}]); %1 = nn.bias_add(%0, p2); nn.relu(%1) "
        "}}",
        c, h, w, k, stride, pad));
  }
  EXPECT_GE(CheckKernels(kernels, "depthwise_conv2d"), 30);
}

// Tiles at the border tested all taps that are not unrolled, and of many taps most tiles are there:
// three times as long.
TEST(DepthwiseConv2d, ByDefaultTilesOfManyTapsTestNone) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const auto block = [&](int64_t taps) {
    const std::string kernel = fmt::format(
        "fn (p0: Tensor[(1, 64, 56, 56), float32], const p1: Tensor[(64, 1, {0}, {0}), float32]) "
        "{{ nn.conv2d(p0, p1, groups=64, padding=[{1}, {1}, {1}, {1}]) }}{2}",
        taps, taps / 2, kDefaultEnd);
    const ops::KernelDefinition def = MustLower(kernel);
    const Template& depthwise = TemplateFor(def);
    const Task task{&def, depthwise.Signatures(def, machine::Machine::For(target))[0], target};
    const Config config = DefaultOfTask(task);
    EXPECT_TRUE(SpaceOfTask(task).Contains(config)) << kernel << config.ToText();
    return fmt::format("{}x{} {} {}", config.Int("tile_h"), config.Int("tile_w"),
                       config.String("taps"), config.String("pad"));
  };
  EXPECT_EQ(block(3), "1x7 unroll border");
  EXPECT_EQ(block(5), "1x7 unroll border");
  EXPECT_EQ(block(7), "2x4 row copy");
  EXPECT_EQ(block(11), "2x4 row copy");
}

std::string FilteredText(int64_t channels, int64_t height, int64_t width, int64_t taps_h,
                         int64_t taps_w, int64_t pad, int64_t stride = 1,
                         const char* numerics = "default") {
  return fmt::format(
      "fn (p0: Tensor[(1, {0}, {1}, {2}), float32], const p1: Tensor[({0}, 1, {3}, {4}), float32], "
      "const p2: Tensor[({0},), float32]) {{ %0 = nn.conv2d(p0, p1, groups={0}, padding=[{5}, {5}, "
      "{5}, {5}], strides=[{6}, {6}]); %1 = nn.bias_add(%0, p2); %2 = sigmoid(%1); multiply(%1, "
      "%2) "
      "}} accumulate=float32 numerics={7}",
      channels, height, width, taps_h, taps_w, pad, stride, numerics);
}

bool IsFiltered(const Config& config) { return config.String("strategy") == "winograd2"; }

// Each that is filtered there, against the naive nest. Returns how many.
int CheckFiltered(const std::string& kernel, const CpuTarget& target) {
  const ops::KernelDefinition def = MustLower(kernel);
  const Template& depthwise = TemplateFor(def);
  int checked = 0;
  for (const ir::LayoutSignature& signature :
       depthwise.Signatures(def, machine::Machine::For(target))) {
    const Task task{&def, signature, target};
    for (const Config& config : SpaceOfTask(task).Enumerate(2000)) {
      if (!config.Has("strategy") || !IsFiltered(config)) continue;
      const auto lowered = LowerConfig(task, config);
      EXPECT_TRUE(lowered.ok()) << kernel << config.ToText() << lowered.status();
      if (!lowered.ok()) return 0;
      ExpectSameResults(def.naive, lowered->nest, 3, kernel + config.ToText(), 1e-6);
      EXPECT_GE(lowered->error_bound, ErrorBound(def));
      EXPECT_TRUE(lowered->spreads_rounding);
      ++checked;
    }
  }
  return checked;
}

// Even and odd widths, one tile, one row, one tap along the height, channels that fill no vectors;
// several images, uneven padding, a stage before the convolution, nothing behind it.
TEST(DepthwiseConv2d, FilteredRowsComputeWhatTheNaiveNestDoes) {
  const std::string kernels[] = {
      FilteredText(32, 7, 7, 3, 3, 1),
      FilteredText(16, 8, 10, 3, 3, 0),
      FilteredText(16, 6, 9, 3, 3, 0),
      FilteredText(20, 5, 6, 5, 5, 2),
      FilteredText(17, 1, 9, 1, 4, 0),
      FilteredText(48, 6, 11, 2, 3, 1),
      FilteredText(16, 4, 2, 3, 3, 1),
      std::string("fn (p0: Tensor[(2, 16, 4, 5), float32], const p1: Tensor[(16, 1, 3, 3), "
                  "float32]) { nn.conv2d(p0, p1, groups=16, padding=[2, 0, 1, 3]) }") +
          kDefaultEnd,
      std::string("fn (p0: Tensor[(1, 16, 5, 7), float32], const p1: Tensor[(16, 1, 3, 3), "
                  "float32]) { %0 = nn.relu(p0); %1 = nn.conv2d(%0, p1, groups=16, padding=[1, 1, "
                  "1, 1]); nn.relu(%1) }") +
          kDefaultEnd};
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  for (const std::string& kernel : kernels) {
    for (const CpuTarget& target : {wide, narrow}) {
      EXPECT_GT(CheckFiltered(kernel, target), 0) << kernel;
      if (HasFailure()) return;
    }
  }
}

// By default where additions have units of their own; elsewhere the search tries them.
TEST(DepthwiseConv2d, RowsAreFilteredWhereThatMayBeFaster) {
  const auto strategies = [](const std::string& kernel, const char* cpu) {
    const CpuTarget target =
        TestTarget(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={} -threads=1", cpu));
    const ops::KernelDefinition def = MustLower(kernel);
    const Template& depthwise = TemplateFor(def);
    const Task task{&def, depthwise.Signatures(def, machine::Machine::For(target))[0], target};
    std::string all = DefaultOfTask(task).String("strategy");
    for (const Config& config : AlternativesOfTask(task)) {
      EXPECT_TRUE(SpaceOfTask(task).Contains(config)) << kernel << config.ToText();
      all += " " + config.String("strategy");
    }
    return all;
  };
  const std::string threes = FilteredText(64, 28, 28, 3, 3, 1);
  EXPECT_EQ(strategies(threes, "znver4"), "winograd2 direct");
  EXPECT_EQ(strategies(threes, "sapphirerapids"), "direct winograd2");
  EXPECT_EQ(strategies(FilteredText(64, 6, 6, 3, 3, 1), "znver4"), "direct winograd2");
  EXPECT_EQ(strategies(FilteredText(64, 28, 28, 5, 5, 2), "znver4"), "direct");
  EXPECT_EQ(strategies(FilteredText(64, 28, 28, 3, 3, 1, 2), "znver4"), "direct");
  EXPECT_EQ(strategies(FilteredText(64, 28, 28, 3, 3, 1, 1, "strict"), "znver4"), "direct");
}

TEST(Pool2d, EveryConfigComputesWhatTheNaiveNestDoes) {
  std::vector<std::string> kernels = {
      "fn (p0: Tensor[(1, 32, 7, 7), float32]) { nn.global_avg_pool2d(p0) }",
      "fn (p0: Tensor[(2, 33, 3, 4), float32]) { nn.global_max_pool2d(p0) }",
  };
  const int64_t shapes[][6] = {{32, 9, 9, 3, 2, 1},
                               {17, 8, 5, 2, 2, 0},
                               {16, 5, 7, 3, 1, 1},
                               {2, 7, 67, 3, 2, 1},
                               {3, 4, 35, 3, 1, 1}};
  for (const auto& [c, h, w, k, stride, pad] : shapes) {
    for (const char* op : {"nn.max_pool2d", "nn.avg_pool2d"}) {
      kernels.push_back(fmt::format(
          "fn (p0: Tensor[(1, {0}, {1}, {2}), float32]) {{ {3}(p0, padding=[{4}, {4}, {4}, {4}], "
          "pool_size=[{5}, {5}], strides=[{6}, {6}]) }}",
          c, h, w, op, pad, k, stride));
    }
  }
  EXPECT_GE(CheckKernels(kernels, "pool"), 30);
}

std::string PoolText(const char* op, const std::string& shape, const char* attributes) {
  return fmt::format("fn (p0: Tensor[{}, float32]) {{ {}(p0, {}) }}{}", shape, op, attributes,
                     kDefaultEnd);
}

// Padding on no side, on some and wider than the data; tails of blocks and tiles; a step of two;
// channels that fill no vectors; a stage before the pool and one behind it; bytes.
TEST(Pool2d, SeparateAxesComputeWhatTheNaiveNestDoes) {
  const std::string kernels[] = {
      PoolText("nn.max_pool2d", "(1, 32, 9, 11)", "padding=[2, 2, 2, 2], pool_size=[5, 5]"),
      PoolText("nn.avg_pool2d", "(2, 17, 7, 13)", "padding=[3, 1, 2, 4], pool_size=[6, 5]"),
      PoolText("nn.avg_pool2d", "(1, 32, 9, 10)", "pool_size=[7, 7]"),
      PoolText("nn.max_pool2d", "(1, 32, 5, 5)", "padding=[6, 6, 6, 6], pool_size=[13, 13]"),
      PoolText("nn.max_pool2d", "(1, 32, 23, 23)",
               "padding=[4, 4, 4, 4], pool_size=[9, 9], strides=[2, 2]"),
      std::string(
          "fn (p0: Tensor[(1, 20, 9, 9), float32]) { %0 = nn.relu(p0); %1 = "
          "nn.avg_pool2d(%0, count_include_pad=true, padding=[2, 2, 2, 2], pool_size=[5, 5]); "
          "sigmoid(%1) }") +
          kDefaultEnd,
      "fn (p0: Tensor[(1, 32, 9, 9), uint8]) { nn.max_pool2d(p0, padding=[2, 2, 2, 2], "
      "pool_size=[5, 5]) } accumulate=int32 numerics=default"};
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  for (const std::string& kernel : kernels) {
    for (const CpuTarget& target : {wide, narrow}) {
      EXPECT_GT(CheckStrategy(kernel, "axes", target), 0) << kernel;
      if (HasFailure()) return;
    }
  }
}

// Small windows share too little of their rows, and those that are far apart none of them.
TEST(Pool2d, AxesAreSeparateWhereWindowsShareTheirRows) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4 -threads=2");
  const auto strategy = [&](const char* attributes) {
    const ops::KernelDefinition def =
        MustLower(PoolText("nn.max_pool2d", "(1, 64, 26, 26)", attributes));
    const Template& pool = TemplateFor(def);
    const Task task{&def, pool.Signatures(def, machine::Machine::For(target))[0], target};
    const Config config = DefaultOfTask(task);
    EXPECT_TRUE(SpaceOfTask(task).Contains(config)) << attributes << config.ToText();
    return config.String("strategy");
  };
  EXPECT_EQ(strategy("padding=[2, 2, 2, 2], pool_size=[5, 5]"), "axes");
  EXPECT_EQ(strategy("padding=[6, 6, 6, 6], pool_size=[13, 13]"), "axes");
  EXPECT_EQ(strategy("padding=[1, 1, 1, 1], pool_size=[3, 3]"), "direct");
  EXPECT_EQ(strategy("pool_size=[3, 3], strides=[2, 2]"), "direct");
  EXPECT_EQ(strategy("pool_size=[5, 5], strides=[5, 5]"), "direct");
}

TEST(Pool, OfOneAndThreeAxesComputesWhatTheNaiveNestDoes) {
  const std::vector<std::string> kernels = {
      "fn (p0: Tensor[(2, 19, 7), float32]) { nn.global_avg_pool1d(p0) }",
      "fn (p0: Tensor[(1, 33, 2, 3, 2), float32]) { nn.global_avg_pool3d(p0) }",
      "fn (p0: Tensor[(2, 17, 2, 5, 3), float32]) { nn.global_max_pool3d(p0) }",
      "fn (p0: Tensor[(1, 16, 11), float32]) { nn.max_pool1d(p0, padding=[1, 1], pool_size=[3], "
      "strides=[2]) }",
      "fn (p0: Tensor[(1, 21, 1), float32]) { nn.avg_pool1d(p0, padding=[1, 0], pool_size=[2]) }",
      "fn (p0: Tensor[(1, 32, 5, 7, 6), float32]) { %0 = nn.max_pool3d(p0, padding=[1, 1, 1, 1, 1, "
      "1], pool_size=[3, 3, 3], strides=[2, 2, 2]); nn.relu(%0) }",
      "fn (p0: Tensor[(1, 18, 4, 4, 9), float32]) { nn.avg_pool3d(p0, padding=[1, 0, 1, 0, 1, 1], "
      "pool_size=[2, 3, 2], strides=[1, 1, 2]) }",
      "fn (p0: Tensor[(1, 17, 4, 3, 5), float32]) { %0 = nn.relu(p0); nn.max_pool3d(%0, "
      "dilation=[2, 1, 2], pool_size=[2, 2, 2]) }"};
  EXPECT_GE(CheckKernels(kernels, "pool"), 100);
}

// Every tile starts in the padding, more of them than are apart, and the last one is shorter: its
// loops had no constant extent, and even defaults did not schedule.
TEST(Windows, AsWideAsTheMapLeaveTheLastTileApart) {
  const std::vector<std::string> pools = {
      "fn (p0: Tensor[(1, 32, 5, 5), float32]) { nn.max_pool2d(p0, padding=[6, 6, 6, 6], "
      "pool_size=[13, 13]) }",
      "fn (p0: Tensor[(1, 3, 3, 3), float32]) { nn.avg_pool2d(p0, padding=[8, 6, 8, 6], "
      "pool_size=[13, 9]) }"};
  EXPECT_GE(CheckKernels(pools, "pool"), 30);
  const std::vector<std::string> convs = {
      "fn (p0: Tensor[(1, 3, 9, 9), float32], const p1: Tensor[(3, 1, 19, 19), float32]) { "
      "nn.conv2d(p0, p1, groups=3, padding=[9, 9, 9, 9]) }",
      "fn (p0: Tensor[(1, 32, 2, 16), float32], const p1: Tensor[(32, 1, 1, 31), float32]) { "
      "nn.conv2d(p0, p1, groups=32, padding=[0, 15, 0, 15]) }",
      "fn (p0: Tensor[(1, 23, 1, 17), float32], const p1: Tensor[(23, 1, 9, 4), float32]) { "
      "nn.conv2d(p0, p1, dilation=[2, 1], groups=23, padding=[17, 1, 7, 1]) }"};
  EXPECT_GE(CheckKernels(convs, "depthwise_conv2d"), 50);
}

// The pixels of a row-major map are one row: vectors of as many lanes as the target has.
TEST(Pool, WindowsAsLargeAsARowMajorMapAreRows) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4");
  for (const char* op : {"nn.global_avg_pool2d", "nn.global_max_pool2d"}) {
    const ops::KernelDefinition def = MustLower(
        fmt::format("fn (p0: Tensor[(1, 32, 7, 7), float32]) {{ {}(p0) }}{}", op, kDefaultEnd));
    const Config config = DefaultOfTask({&def, RowMajorSignature(def), target});
    EXPECT_EQ(config.String("strategy"), "rows") << op;
    EXPECT_EQ(config.Int("lanes"), 16) << op;
  }
}

}  // namespace
}  // namespace hone::schedule
