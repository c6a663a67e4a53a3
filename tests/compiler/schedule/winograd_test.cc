// Winograd's algorithm for other filters than 3x3 of stride one, which conv_test.cc has.
#include "compiler/schedule/primitives/winograd.h"

#include <algorithm>
#include <functional>
#include <set>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

struct Kernel {
  int64_t n, ic, h, w, oc, kh, kw, stride_h, stride_w;
  int64_t top, left, bottom, right;  // padding
  int64_t dilation_h = 1, dilation_w = 1;
};

std::string WinogradText(const Kernel& k, bool residual, const std::string& numerics = "default") {
  const int64_t reach_h = (k.kh - 1) * k.dilation_h, reach_w = (k.kw - 1) * k.dilation_w;
  const int64_t oh = (k.h + k.top + k.bottom - reach_h - 1) / k.stride_h + 1;
  const int64_t ow = (k.w + k.left + k.right - reach_w - 1) / k.stride_w + 1;
  const std::string operands = fmt::format(
      "p0: Tensor[({}, {}, {}, {}), float32], const p1: Tensor[({}, {}, {}, {}), float32]", k.n,
      k.ic, k.h, k.w, k.oc, k.ic, k.kh, k.kw);
  const std::string conv = fmt::format(
      "nn.conv2d(p0, p1, dilation=[{}, {}], padding=[{}, {}, {}, {}], strides=[{}, {}])",
      k.dilation_h, k.dilation_w, k.top, k.left, k.bottom, k.right, k.stride_h, k.stride_w);
  const std::string end = " accumulate=float32 numerics=" + numerics;
  if (!residual) return fmt::format("fn ({}) {{ {} }}", operands, conv) + end;
  return fmt::format(
             "fn ({}, p2: Tensor[({}, {}, {}, {}), float32]) {{ %0 = {}; %1 = add(%0, p2); "
             "nn.relu(%1) }}",
             operands, k.n, k.oc, oh, ow, conv) +
         end;
}

std::vector<std::string> StrategiesOf(const Task& task) {
  std::vector<std::string> names;
  const std::optional<Knob> knob = SpaceOfTask(task).Next(Config());
  for (const KnobValue& option : knob->options) {
    names.push_back(std::get<std::string>(option));
  }
  return names;
}

std::vector<std::string> StrategiesOf(const std::string& text, const CpuTarget& target) {
  const ops::KernelDefinition def = MustLower(text);
  return StrategiesOf(
      Task{&def, TemplateFor(def).Signatures(def, machine::Machine::For(target))[0], target});
}

// This checks `samples` configs of each strategy but the direct one, and the default.
int CheckStrategies(const Task& task, int samples, uint64_t seed) {
  const OpenTask open = OpenTask::Open(task).value();
  const Space space = open.space();
  Random random(seed);
  std::vector<Config> configs = {DefaultOfTask(task)};
  EXPECT_TRUE(space.Contains(configs[0])) << configs[0].ToText();
  for (const std::string& strategy : StrategiesOf(task)) {
    if (strategy == "direct") continue;
    Config start;
    start.Set("strategy", strategy);
    for (int i = 0; i < samples; ++i) {
      Config config = start;
      while (const auto knob = space.Next(config)) {
        config.Set(knob->name, knob->options[random.Below(knob->options.size())]);
      }
      configs.push_back(config);
    }
  }
  for (const Config& config : configs) {
    const std::string what = task.signature.ToString() + " " + config.ToText();
    const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
    if (!nest.ok()) {
      ADD_FAILURE() << what << nest.status();
      return 0;
    }
    ExpectSameResults(task.def->naive, *nest, seed, what, ToleranceOf(open, config));
    if (testing::Test::HasFailure()) return 0;
  }
  return static_cast<int>(configs.size());
}

int CheckAll(const std::vector<Kernel>& kernels, int samples) {
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=2");
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=4");
  int checked = 0;
  uint64_t seed = 1;
  for (const Kernel& kernel : kernels) {
    const bool few = kernel.oc < 16;
    const ops::KernelDefinition def = MustLower(WinogradText(kernel, seed % 2 == 0));
    const CpuTarget& target = few || seed % 3 == 0 ? narrow : wide;
    for (const ir::LayoutSignature& signature :
         TemplateFor(def).Signatures(def, machine::Machine::For(target))) {
      checked += CheckStrategies(Task{&def, signature, target}, samples, seed++);
      if (testing::Test::HasFailure()) return checked;
    }
  }
  return checked;
}

TEST(Winograd, FiltersOfOneAxisComputeWhatTheNaiveNestDoes) {
  EXPECT_GE(CheckAll({{1, 8, 5, 13, 12, 1, 7, 1, 1, 0, 3, 0, 3},
                      {2, 17, 9, 6, 19, 7, 1, 1, 1, 3, 0, 3, 0},
                      {1, 5, 6, 7, 9, 1, 3, 1, 1, 0, 1, 0, 0},
                      {1, 16, 7, 5, 16, 3, 1, 1, 1, 0, 0, 2, 1},
                      {1, 16, 1, 12, 16, 1, 5, 1, 1, 0, 0, 0, 0}},
                     2),
            80);
}

TEST(Winograd, LargerFiltersComputeWhatTheNaiveNestDoes) {
  EXPECT_GE(CheckAll({{1, 8, 9, 11, 12, 5, 5, 1, 1, 2, 2, 2, 2},
                      {2, 18, 6, 7, 17, 5, 5, 1, 1, 2, 1, 0, 3},
                      {1, 4, 7, 8, 5, 4, 4, 1, 1, 1, 2, 1, 2},
                      {1, 6, 6, 9, 8, 5, 3, 1, 1, 2, 1, 2, 1}},
                     2),
            50);
}

// The dilations are equal and unequal, one along which there is but one tap among them; there are
// phases of unequal rows and columns, and windows without padding.
TEST(Winograd, DilatedConvolutionsComputeWhatTheNaiveNestDoes) {
  EXPECT_GE(CheckAll({{1, 16, 13, 14, 16, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2},
                      {2, 8, 10, 9, 12, 3, 3, 1, 1, 3, 0, 3, 6, 3, 3},
                      {1, 20, 9, 12, 19, 5, 3, 1, 1, 2, 2, 2, 2, 1, 2},
                      {1, 16, 12, 11, 16, 3, 3, 1, 1, 0, 0, 0, 0, 2, 1},
                      {1, 32, 12, 11, 16, 5, 3, 1, 1, 4, 1, 4, 1, 2, 1},
                      {1, 8, 6, 14, 9, 1, 7, 1, 1, 0, 6, 0, 6, 3, 2},
                      {1, 32, 9, 15, 20, 1, 3, 1, 1, 0, 1, 0, 1, 3, 1},
                      {1, 32, 11, 9, 33, 3, 3, 1, 1, 4, 4, 4, 4, 4, 4}},
                     2),
            80);
}

TEST(Winograd, StridedConvolutionsOfFewChannelsComputeWhatTheNaiveNestDoes) {
  EXPECT_GE(CheckAll({{1, 3, 19, 22, 16, 7, 7, 2, 2, 3, 3, 3, 3},
                      {2, 3, 15, 17, 20, 7, 7, 2, 2, 3, 2, 2, 3},
                      {1, 1, 20, 20, 17, 8, 8, 4, 4, 0, 0, 0, 0},
                      {1, 2, 13, 14, 16, 5, 4, 2, 2, 1, 1, 0, 2},
                      {1, 3, 14, 11, 9, 4, 3, 2, 1, 1, 1, 2, 0},
                      {1, 2, 21, 11, 8, 7, 3, 3, 1, 1, 1, 2, 0},
                      // nine and fifteen channels of the sum
                      {1, 5, 40, 40, 16, 7, 7, 3, 1, 3, 3, 3, 3},
                      {1, 3, 30, 31, 16, 7, 7, 1, 3, 3, 3, 3, 3},
                      {1, 1, 29, 30, 16, 7, 7, 3, 3, 3, 3, 3, 3}},
                     2),
            40);
}

TEST(Winograd, StridedConvolutionsOfBlockedChannelsComputeWhatTheNaiveNestDoes) {
  EXPECT_GE(CheckAll({{1, 16, 11, 12, 16, 4, 4, 2, 2, 1, 1, 1, 1},
                      {2, 8, 10, 9, 12, 5, 5, 2, 2, 2, 1, 2, 2},
                      {1, 32, 9, 13, 18, 5, 4, 2, 2, 2, 0, 1, 3},
                      {1, 32, 14, 15, 33, 3, 3, 2, 2, 1, 1, 1, 1},
                      {1, 16, 13, 14, 16, 3, 5, 2, 2, 1, 2, 1, 2},
                      {1, 16, 13, 17, 16, 7, 7, 3, 2, 3, 3, 3, 3}},
                     2),
            40);
}

// This checks those random configs that are wanted.
void CheckThose(const std::string& kernel, const std::string& caches, uint64_t seed,
                const std::function<bool(const Config&)>& wanted) {
  const CpuTarget target =
      TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2" + caches);
  const ops::KernelDefinition def = MustLower(kernel + " accumulate=float32 numerics=default");
  const Template& conv = TemplateFor(def);
  const Task task{&def, conv.Signatures(def, machine::Machine::For(target))[0], target};
  const OpenTask open = OpenTask::Open(task).value();
  const Space space = open.space();
  Random random(seed);
  int checked = 0;
  for (int tries = 0; checked < 4; ++tries) {
    ASSERT_LT(tries, 1000) << kernel;
    const Config config = space.Sample(random);
    if (!wanted(config)) continue;
    const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
    ASSERT_TRUE(nest.ok()) << config.ToText() << nest.status();
    ExpectSameResults(def.naive, *nest, seed, kernel + config.ToText(), ToleranceOf(open, config));
    ASSERT_FALSE(testing::Test::HasFailure());
    ++checked;
  }
}

// With filters transformed when they are needed and put `where`.
void CheckFiltersAtEveryRun(const std::string& kernel, const std::string& where, uint64_t seed) {
  CheckThose(kernel, "", seed, [&](const Config& config) {
    return config.Has("filters") && config.String("filters") == where;
  });
}

// Whole and clipped blocks of tiles, groups of output channels that are no multiple of the tile's,
// slices outside the data.
TEST(Winograd, FiltersOfAChunkAtATimeComputeWhatTheNaiveNestDoes) {
  const char* const kernels[] = {
      "fn (p0: Tensor[(2, 32, 9, 13), float32], const p1: Tensor[(80, 32, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }",
      "fn (p0: Tensor[(1, 64, 3, 7, 7), float32], const p1: Tensor[(32, 64, 3, 3, 3), float32]) { "
      "nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1]) }",
      "fn (p0: Tensor[(1, 32, 1, 5, 4), float32], const p1: Tensor[(16, 32, 3, 3, 3), float32]) { "
      "nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1]) }"};
  uint64_t seed = 1;
  for (const char* kernel : kernels) CheckFiltersAtEveryRun(kernel, "cache", seed++);
}

// Blocks that are one register tile: all tiles, the last ones cut off, and some of them; larger
// taps too.
TEST(Winograd, FiltersInRegistersComputeWhatTheNaiveNestDoes) {
  const char* const kernels[] = {
      "fn (p0: Tensor[(1, 64, 7, 7), float32], const p1: Tensor[(48, 64, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }",
      "fn (p0: Tensor[(2, 32, 4, 6), float32], const p1: Tensor[(32, 32, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }",
      "fn (p0: Tensor[(1, 16, 5, 5), float32], const p1: Tensor[(80, 16, 5, 5), float32]) { "
      "nn.conv2d(p0, p1, padding=[2, 2, 2, 2]) }"};
  uint64_t seed = 1;
  for (const char* kernel : kernels) CheckFiltersAtEveryRun(kernel, "registers", seed++);
}

// The blocks fill a second cache, here a small one; there are channels that do not fill a vector,
// phases, and slices some of which lie outside the data.
TEST(Winograd, PrefetchedDataIsWhatTheNaiveNestComputes) {
  const std::string blocks =
      "fn (p0: Tensor[(2, 64, 9, 13), float32], const p1: Tensor[(80, 64, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }";
  const std::string slices =
      "fn (p0: Tensor[(1, 64, 3, 7, 7), float32], const p1: Tensor[(32, 64, 3, 3, 3), float32]) { "
      "nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1]) }";
  const std::string tail =
      "fn (p0: Tensor[(1, 40, 14, 10), float32], const p1: Tensor[(32, 40, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }";
  const std::string phases =
      "fn (p0: Tensor[(1, 32, 14, 15), float32], const p1: Tensor[(32, 32, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, padding=[1, 1, 1, 1], strides=[2, 2]) }";
  uint64_t seed = 1;
  for (const std::string& kernel : {blocks, slices, tail, phases}) {
    CheckThose(kernel, " -caches=32768,32768,33554432", seed++, [&](const Config& config) {
      return config.String("strategy") != "direct" && config.Int("prefetch") == 2;
    });
  }
}

// A convolution as it is compiled without records.
struct DefaultKernel {
  Config config;
  bool is_of_space = false;
  absl::StatusOr<loop::Nest> nest;
};

DefaultKernel DefaultStrategyOf(const CpuTarget& target, const Kernel& kernel) {
  const ops::KernelDefinition def = MustLower(WinogradText(kernel, false));
  const Template& conv = TemplateFor(def);
  const Task task{&def, conv.Signatures(def, machine::Machine::For(target))[0], target};
  const Config config = DefaultOfTask(task);
  return {config, SpaceOfTask(task).Contains(config), NestOfConfig(task, config)};
}

// Where transformed data fills a small part of the second cache nothing is gained. Into the first
// cache, at the beginning of the steps that are unrolled.
TEST(Winograd, DataIsPrefetchedWhereItFillsTheSecondCache) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=49152,2097152,33554432 -threads=1");
  const auto prefetches_data = [&](int64_t channels, int64_t size) {
    const auto [config, is_of_space, nest] =
        DefaultStrategyOf(target, {1, channels, size, size, channels, 3, 3, 1, 1, 1, 1, 1, 1});
    EXPECT_TRUE(nest.ok()) << nest.status();
    const std::string text = loop::ToText(*nest);
    const size_t prefetch = text.find("prefetch %conv2d.acc.data[");
    const bool is_there = prefetch != std::string::npos;
    EXPECT_EQ(config.Int("prefetch"), is_there ? 2 : 1) << config.ToText();
    if (is_there) {
      const std::string line = text.substr(prefetch, text.find('\n', prefetch) - prefetch);
      EXPECT_THAT(line, testing::EndsWith("locality 3"));
      EXPECT_THAT(line, testing::Not(testing::HasSubstr("floor"))) << "a division at every step";
    }
    return is_there;
  };
  EXPECT_TRUE(prefetches_data(256, 56));
  EXPECT_FALSE(prefetches_data(64, 56));
}

// Blocks of three tiles a row fit the registers as one tile of more rows than tiles have.
TEST(Winograd, DefaultsOfHighAndNarrowDataAreOfTheSpace) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  for (const int64_t height : {28, 32, 36, 40, 80}) {
    for (const int64_t width : {4, 8, 12}) {
      const DefaultKernel kernel =
          DefaultStrategyOf(target, {1, 512, height, width, 16, 3, 3, 1, 1, 1, 1, 1, 1});
      EXPECT_TRUE(kernel.is_of_space) << height << "x" << width << " " << kernel.config.ToText();
    }
  }
}

// A default is what a kernel without records is compiled with: nothing stands behind one that
// cannot be scheduled.
TEST(Winograd, DefaultsCanBeScheduled) {
  const char* const cpus[] = {
      "x86_64-linux-gnu -mcpu=x86-64-v4",
      "x86_64-linux-gnu -mcpu=x86-64-v4 -caches=49152,1048576,33554432",
      "x86_64-linux-gnu -mcpu=x86-64-v4 -caches=49152,2097152,503316480",
      "x86_64-linux-gnu -mcpu=x86-64-v3",
      "aarch64-linux-gnu -mcpu=neoverse-n1",
  };
  for (const std::string cpu : cpus) {
    const CpuTarget target = TestTarget("llvm -mtriple=" + cpu + " -threads=1");
    for (const int64_t channels : {64, 512, 1024}) {
      for (const int64_t size : {5, 7, 14, 28}) {
        const auto [config, is_of_space, nest] =
            DefaultStrategyOf(target, {1, channels, size, size, channels, 3, 3, 1, 1, 1, 1, 1, 1});
        EXPECT_TRUE(nest.ok()) << cpu << " " << channels << "@" << size << " " << config.ToText()
                               << ": " << nest.status();
      }
    }
  }
}

TEST(Winograd, StemsOfThreeDimensionsComputeWhatTheNaiveNestDoes) {
  const ops::KernelDefinition def = MustLower(
      "fn (p0: Tensor[(1, 3, 5, 13, 15), float32], const p1: Tensor[(17, 3, 3, 7, 7), float32]) { "
      "nn.conv3d(p0, p1, padding=[1, 3, 3, 1, 3, 3], strides=[1, 2, 2]) } accumulate=float32 "
      "numerics=default");
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  int checked = 0;
  for (const ir::LayoutSignature& signature :
       TemplateFor(def).Signatures(def, machine::Machine::For(target))) {
    checked += CheckStrategies(Task{&def, signature, target}, 3, 5);
  }
  EXPECT_GE(checked, 14);
}

TEST(Winograd, IsAStrategyWhereItSavesProductsAndIsExactEnough) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  const auto of = [&](const Kernel& kernel) {
    return StrategiesOf(WinogradText(kernel, false), target);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(of({1, 64, 56, 56, 64, 3, 3, 1, 1, 1, 1, 1, 1}),
            (Names{"direct", "winograd2", "winograd4"}));
  // Where other tiles come out with fewer products than those of two or four results.
  EXPECT_EQ(of({1, 256, 14, 14, 256, 3, 3, 1, 1, 1, 1, 1, 1}),
            (Names{"direct", "winograd2", "winograd4", "winograd5"}));
  EXPECT_EQ(of({1, 64, 6, 6, 64, 3, 3, 1, 1, 1, 1, 1, 1}),
            (Names{"direct", "winograd2", "winograd3", "winograd4"}));
  EXPECT_EQ(of({1, 3, 224, 224, 64, 7, 7, 2, 2, 3, 3, 3, 3}),
            (Names{"direct", "winograd2", "winograd3", "winograd4"}));
  EXPECT_EQ(of({1, 192, 17, 17, 192, 1, 7, 1, 1, 0, 3, 0, 3}),
            (Names{"direct", "winograd2", "winograd3", "winograd4", "winograd5"}));
  EXPECT_EQ(of({1, 48, 35, 35, 64, 5, 5, 1, 1, 2, 2, 2, 2}),
            (Names{"direct", "winograd2", "winograd3", "winograd4"}));
  // The last product of phases that have one tap is not computed, where a phase has whole vectors.
  EXPECT_EQ(of({1, 64, 56, 56, 128, 3, 3, 2, 2, 1, 1, 1, 1}),
            (Names{"direct", "winograd4", "winograd5"}));
  EXPECT_EQ(of({1, 64, 56, 56, 128, 1, 1, 1, 1, 0, 0, 0, 0}), Names{"direct"});
  // Four phases of 28x28; phases of single results.
  EXPECT_EQ(of({1, 64, 56, 56, 64, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2}),
            (Names{"direct", "winograd2", "winograd4"}));
  EXPECT_EQ(of({1, 64, 14, 14, 64, 3, 3, 1, 1, 18, 18, 18, 18, 18, 18}), Names{"direct"});
  EXPECT_EQ(of({1, 3, 224, 224, 32, 3, 3, 2, 2, 1, 1, 1, 1}), Names{"direct"});
  EXPECT_EQ(
      StrategiesOf(WinogradText({1, 3, 224, 224, 64, 7, 7, 2, 2, 3, 3, 3, 3}, false, "strict"),
                   target),
      Names{"direct"});
}

// What has so large an error must say so, and no more.
TEST(Winograd, ErrorBoundsFollowTheAmplification) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  const ops::KernelDefinition def =
      MustLower(WinogradText({1, 48, 35, 35, 64, 5, 5, 1, 1, 2, 2, 2, 2}, false));
  const Task task{&def, TemplateFor(def).Signatures(def, machine::Machine::For(target))[0], target};
  std::vector<Config> configs = AlternativesOfTask(task);
  configs.push_back(DefaultOfTask(task));
  const auto bound = [&](const std::string& strategy) {
    const auto config = std::ranges::find(configs, strategy,
                                          [](const Config& any) { return any.String("strategy"); });
    const LoweredConfig lowered = LowerConfig(task, *config).value();
    EXPECT_EQ(lowered.spreads_rounding, strategy != "direct");
    return lowered.error_bound;
  };
  EXPECT_LT(bound("direct"), bound("winograd2"));
  EXPECT_LT(bound("winograd2"), bound("winograd4"));
  EXPECT_LT(bound("winograd4"), 16 * bound("direct"));
}

TEST(Winograd, RefusesTilesThereAreNoPointsFor) {
  const ops::KernelDefinition def =
      MustLower(WinogradText({1, 16, 20, 20, 16, 7, 7, 1, 1, 3, 3, 3, 3}, false));
  const std::string result = def.naive.buffers.back()->name;
  for (const int64_t tile : {0, 1, 6}) {
    loop::Nest nest = def.naive;
    EXPECT_FALSE(Winograd(&nest, Stage(result), tile).ok()) << tile;
  }
  loop::Nest nest = def.naive;
  EXPECT_TRUE(Winograd(&nest, Stage(result), 5).ok());
}

}  // namespace
}  // namespace hone::schedule
