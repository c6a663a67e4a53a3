// What convolutions are by default, what a search tries next, and what defaults prefetch.
#include <algorithm>
#include <set>

#include "compiler/schedule/templates.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/conv_texts.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

Config DefaultOf(const std::string& text, const CpuTarget& target) {
  const ops::KernelDefinition def = MustLower(text);
  const Template& conv = TemplateFor(def);
  const Task task{&def, conv.Signatures(def, machine::Machine::For(target))[0], target};
  const Config config = DefaultOfTask(task);
  EXPECT_TRUE(SpaceOfTask(task).Contains(config)) << text << config.ToText();
  return config;
}

std::string OfOneTap(int64_t in, int64_t out, int64_t extent) {
  return WindowsText({1, in, out, {extent, extent}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
                     "float32", "float32");
}

// Data that the second cache does not hold is read once, few weights for each row. Cores that have
// a panel each read the data once anyway.
TEST(Conv, TheDefaultOrderReadsTheLeastAgain) {
  const std::string cpu =
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=32768,1048576,33554432 -threads=";
  const CpuTarget target = TestTarget(cpu + "1");
  EXPECT_EQ(DefaultOf(OfOneTap(64, 128, 112), TestTarget(cpu + "8")).String("order"), "oc_oh");
  EXPECT_EQ(DefaultOf(OfOneTap(64, 128, 112), target).String("order"), "oh_oc");
  EXPECT_EQ(DefaultOf(OfOneTap(16, 512, 14), target).String("order"), "oc_oh");
  EXPECT_EQ(DefaultOf(OfOneTap(64, 128, 112), target).Int("unroll"), 4);
}

// Weights that a slow stream brings are prefetched in chunks, unless the sums would cost more.
TEST(Conv, ByDefaultChunksAreSummedWhereWeightsAreWaitedFor) {
  const std::string caches = " -caches=49152,2097152,503316480 -threads=1";
  const CpuTarget slow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids" + caches);
  const CpuTarget fast = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4" + caches);
  const Config chunks = DefaultOf(OfOneTap(512, 512, 14), slow);
  EXPECT_GT(chunks.Int("chunk"), 0);
  EXPECT_EQ(chunks.Int("prefetch"), 1);
  EXPECT_EQ(DefaultOf(OfOneTap(512, 512, 14), fast).Int("chunk"), 0);
  EXPECT_EQ(DefaultOf(OfOneTap(128, 128, 56), slow).Int("chunk"), 0);
}

// Phases without taps of their own sum zeros, which is less than to ask of every position whether a
// tap meets it.
TEST(Conv, TransposedOnesOfFewerTapsThanTheirStrideAreDirect) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  const Windows w{1, 64, 32, {32, 32}, {1, 2}, {2, 3}, {1, 1}, {0, 0}, {0, 0}};
  EXPECT_EQ(DefaultOf(TransposedText(w, {1, 0}), target).String("strategy"), "direct");
}

// The weights of all phases of a transposed convolution count: 2 MiB here, 512 KiB of each.
TEST(Conv, ByDefaultTransposedOnesPrefetchTheirWeightsByChunks) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=32768,1048576,33554432 -threads=1");
  const auto config_of = [&](int64_t in, int64_t out, int64_t extent) {
    const Windows w{1, in, out, {extent, extent}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}};
    return DefaultOf(TransposedText(w, {0, 0}), target);
  };
  for (const Config& config : {config_of(256, 128, 8), config_of(512, 256, 4)}) {
    EXPECT_GT(config.Int("chunk"), 0) << config.ToText();
    EXPECT_EQ(config.Int("prefetch"), 1) << config.ToText();
  }
  EXPECT_EQ(config_of(64, 32, 16).Int("chunk"), 0);
}

// Where channels are few, the taps of a row are unrolled at the border: 28 sums there spilled.
// Without padding there is no border.
TEST(Conv, ByDefaultTilesOfFewChannelsLeaveRegistersAtTheBorder) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  const auto tile = [&](int64_t pad) {
    const Config config =
        DefaultOf(ConvText({1, 3, 224, 224, 32, 3, 3, 2, pad, 1}, "none"), target);
    EXPECT_EQ(config.Int("tile_h"), 1);
    return config.Int("tile_v") * config.Int("tile_w");
  };
  EXPECT_EQ(tile(1), 24);
  EXPECT_EQ(tile(0), 28);
}

// Without Winograd.
std::string Strict(std::string text) {
  return text.replace(text.find("numerics=default"), std::string::npos, "numerics=strict");
}

// The default with weights that fit no cache, and no Winograd.
Config DefaultOf512Channels(int64_t height, int64_t width, const char* cpu) {
  const std::string text =
      Strict(ConvText({1, 512, height, width, 512, 3, 3, 1, 1, 1}, "bias_relu"));
  return DefaultOf(text, TestTarget(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={} "
                                                "-caches=49152,1048576,33554432 -threads=1",
                                                cpu)));
}

// Tiles of one row and of several.
TEST(Conv, ByDefaultChunksLeaveOutPadding) {
  for (const char* cpu : {"x86-64-v3", "x86-64-v4"}) {
    for (const int64_t extent : {7, 14}) {
      const Config config = DefaultOf512Channels(extent, extent, cpu);
      EXPECT_EQ(config.String("pad"), "border") << config.ToText();
      EXPECT_GT(config.Int("chunk"), 0) << config.ToText();
    }
  }
}

// Most of the windows of DeepLab's heads leave the data; tiles of one row leave out what lies
// outside at the ends of the row and above and below it. Code of their own for all tiles would be
// too long where there are many.
TEST(Conv, ByDefaultDilatedWindowsLeaveOutPadding) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=32768,1048576,33554432 -threads=1");
  const auto config_of = [&](int64_t extent, int64_t taps, int64_t dilation) {
    const int64_t pad = (taps - 1) * dilation / 2;
    const std::vector<int64_t> both = {dilation, dilation}, pads = {dilation, pad};
    const Windows w{1, 256, 64, {33, extent}, {3, taps}, {1, 1}, both, pads, pads};
    return DefaultOf(Strict(WindowsText(w, "float32", "float32")), target);
  };
  for (const int64_t dilation : {6, 12, 18}) {
    const Config config = config_of(33, 3, dilation);
    EXPECT_EQ(config.String("pad"), "border") << config.ToText();
    EXPECT_EQ(config.Int("tile_h"), 1) << config.ToText();
  }
  EXPECT_EQ(config_of(600, 9, 18).String("pad"), "copy");
}

// The phases of a smaller dilation have more rows and columns, and fewer of their windows leave the
// data.
TEST(Conv, ByDefaultPhasesOfADilationAreConvolvedByWinograd) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=32768,1048576,33554432 -threads=1");
  for (const int64_t dilation : {2, 4, 6}) {
    const Config config =
        DefaultOf(ConvText({1, 256, 33, 33, 64, 3, 3, 1, dilation, dilation}, "none"), target);
    EXPECT_EQ(config.String("strategy").substr(0, 8), "winograd") << config.ToText();
  }
}

// Border tiles of several rows would have all rows in one block.
TEST(Conv, ByDefaultManyRowsAreCopiedForTheirChunks) {
  const Config config = DefaultOf512Channels(200, 4, "x86-64-v4");
  EXPECT_GT(config.Int("tile_h"), 1) << config.ToText();
  EXPECT_EQ(config.String("pad"), "copy") << config.ToText();
  EXPECT_GT(config.Int("chunk"), 0) << config.ToText();
  EXPECT_EQ(DefaultOf512Channels(40, 4, "x86-64-v4").String("pad"), "border");
}

// Three groups, so that blocks of the result may end with pad lanes.
std::string OfGroups(int64_t in, int64_t out, size_t spatial, const char* dtype = "float32") {
  const std::vector<int64_t> ones(spatial, 1), fives(spatial, 5), threes(spatial, 3);
  return WindowsText({1, in, 3 * out, fives, threes, ones, ones, ones, ones}, dtype, dtype, 3);
}

// The groups are of whole vectors, halves and quarters, several groups to a vector, multiples of
// one channel. This holds in all layouts, and "stages" is what a search tries next.
TEST(Conv, GroupsThatVectorsFitHaveRegisterTiles) {
  const CpuTarget target = TestTarget(kWideTarget);
  const std::pair<int64_t, int64_t> widths[] = {{24, 24}, {40, 40}, {56, 56}, {12, 12}, {4, 8},
                                                {8, 4},   {1, 2},   {1, 8},   {1, 4},   {2, 2}};
  const auto is_direct = [](const Config& config) { return config.String("strategy") == "direct"; };
  for (const auto& [in, out] : widths) {
    for (const size_t spatial : {1, 2, 3}) {
      for (const char* dtype : {"float32", "bfloat16", "int8"}) {
        const std::string text = OfGroups(in, out, spatial, dtype);
        const ops::KernelDefinition def = MustLower(text);
        const Template& conv = TemplateFor(def);
        for (const ir::LayoutSignature& signature :
             conv.Signatures(def, machine::Machine::For(target))) {
          const Task task{&def, signature, target};
          std::vector<Config> all = AlternativesOfTask(task);
          EXPECT_FALSE(all.empty()) << text;
          EXPECT_EQ(all.back().String("strategy"), "stages") << text;
          all.push_back(DefaultOfTask(task));
          EXPECT_TRUE(std::ranges::any_of(all, is_direct)) << text;
          for (const Config& config : all) {
            EXPECT_TRUE(SpaceOfTask(task).Contains(config)) << text << config.ToText();
          }
        }
      }
    }
  }
}

// Rows, else the generic template, between row-major tensors: of blocks, which hold parts of
// groups, it read lane by lane, and took up to ten times as long.
TEST(Conv, GroupsThatVectorsDoNotFitAreRowMajor) {
  const CpuTarget target = TestTarget(kWideTarget);
  const std::pair<int64_t, int64_t> widths[] = {{3, 5}, {6, 6}, {10, 10}, {4, 17}};
  const auto strategies = [&](const std::string& text) {
    const ops::KernelDefinition def = MustLower(text);
    const Template& conv = TemplateFor(def);
    const std::vector<ir::LayoutSignature> signatures =
        conv.Signatures(def, machine::Machine::For(target));
    EXPECT_EQ(signatures.size(), 1U) << text;
    const Task task{&def, signatures[0], target};
    EXPECT_EQ(task.signature, RowMajorSignature(def)) << text;
    std::string names = DefaultOfTask(task).String("strategy");
    for (const Config& next : AlternativesOfTask(task)) names += " " + next.String("strategy");
    return names;
  };
  for (const auto& [in, out] : widths) {
    EXPECT_EQ(strategies(OfGroups(in, out, 2)), "rows stages") << in << " " << out;
    EXPECT_EQ(strategies(OfGroups(in, out, 2, "int8")), "stages") << in << " " << out;
  }
}

// Vectors of 8 of 16 lanes are slower than whole ones along the width, where that has some.
TEST(Conv, GroupsOfPartsOfVectorsMayBeRows) {
  const CpuTarget target = TestTarget(kWideTarget);
  const std::string text =
      "fn (p0: Tensor[(1, 72, 28, 64), float32], const p1: Tensor[(72, 24, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, groups=3, padding=[1, 1, 1, 1]) } accumulate=float32 numerics=default";
  const ops::KernelDefinition def = MustLower(text);
  const Template& conv = TemplateFor(def);
  for (const ir::LayoutSignature& signature : conv.Signatures(def, machine::Machine::For(target))) {
    const bool to_rows = signature.results[0].BlockOf(1) == 1;
    const Config config = DefaultOfTask({&def, signature, target});
    EXPECT_EQ(config.String("strategy"), to_rows ? "rows" : "direct") << signature.ToString();
  }
}

// They mean what they did when these kernels had no other.
TEST(Conv, ConfigsOfTheGenericTemplateAreStages) {
  const CpuTarget target = TestTarget(kWideTarget);
  for (const int64_t width : {24, 6}) {
    const ops::KernelDefinition def = MustLower(OfGroups(width, width, 2));
    const Task task{.def = &def,
                    .signature = RowMajorSignature(def),
                    .target = target,
                    .machine = machine::Machine::For(target)};
    const std::unique_ptr<const Plan> generic = GenericTemplate().Open(task);
    const Config old = generic->Ranked()[0].config;
    const std::optional<Config> migrated = SpaceOfTask(task).Migrate(old);
    ASSERT_TRUE(migrated.has_value());
    EXPECT_EQ(NestDigest(*NestOfConfig(task, *migrated)), NestDigest(*generic->Schedule(old)));
  }
}

// One of each strategy at least, whatever the model says of them.
TEST(Conv, AlternativesAreTheBestOfTheOtherStrategies) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=49152,2097152,33554432 -threads=1");
  const ops::KernelDefinition def =
      MustLower(ConvText({1, 64, 14, 14, 64, 3, 3, 1, 1, 1}, "bias_relu"));
  const Template& conv = TemplateFor(def);
  for (const ir::LayoutSignature& signature : conv.Signatures(def, machine::Machine::For(target))) {
    const Task task{&def, signature, target};
    std::vector<Config> all = AlternativesOfTask(task);
    all.push_back(DefaultOfTask(task));
    std::set<std::string> strategies;
    for (const Config& config : all) {
      EXPECT_TRUE(NestOfConfig(task, config).ok()) << config.ToText();
      strategies.insert(config.String("strategy"));
    }
    EXPECT_EQ(strategies.size(), SpaceOfTask(task).Next(Config())->options.size())
        << signature.ToString();
  }
}

TEST(Conv, DefaultsAndAlternativesAreInTheSpace) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1");
  Random random(11);
  for (int n = 0; n < 60; ++n) {
    const int64_t groups = n % 4 == 0 ? 2 : 1;
    Windows windows = RandomWindows(random);
    windows.oc *= groups;
    const std::string text = WindowsText(windows, "float32", "float32", groups);
    const ops::KernelDefinition def = MustLower(text);
    const Template& conv = TemplateFor(def);
    const CpuTarget& target = n % 2 == 0 ? wide : narrow;
    for (const ir::LayoutSignature& signature :
         conv.Signatures(def, machine::Machine::For(target))) {
      const Task task{&def, signature, target};
      std::vector<Config> configs = AlternativesOfTask(task);
      configs.push_back(DefaultOfTask(task));
      const Space space = SpaceOfTask(task);
      for (const Config& config : configs) {
        EXPECT_TRUE(space.Contains(config)) << text << signature.ToString() << config.ToText();
      }
    }
  }
}

// More transformed data of a block would drive out too much else.
TEST(Winograd, BlocksByDefaultLeaveTheSecondCacheToOthers) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=49152,2097152,503316480 -threads=1");
  const Config config =
      DefaultOf(ConvText({1, 64, 56, 56, 64, 3, 3, 1, 1, 1}, "bias_relu"), target);
  ASSERT_EQ(config.String("strategy"), "winograd4");
  const int64_t data_bytes = 36 * config.Int("block_w") * config.Int("block_h") * 64 * 4;
  EXPECT_LE(4 * data_bytes, target.facts.l2_bytes);
}

// The next row's lines are asked for of data that the second cache does not hold; of results the
// next tile's are, with what is added to them, by default where something is.
TEST(Conv, ByDefaultWhatIsColdIsPrefetched) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=49152,2097152,33554432 -threads=1");
  EXPECT_EQ(DefaultOf(OfOneTap(256, 64, 56), target).Int("prefetch"), 2);
  EXPECT_EQ(DefaultOf(OfOneTap(64, 256, 56), target).Int("prefetch"), 0);
  EXPECT_EQ(DefaultOf(OfOneTap(64, 256, 56), target).Int("columns"), 1);
  EXPECT_FALSE(DefaultOf(OfOneTap(64, 256, 7), target).Has("columns"));  // 12 KB
  const std::string residual = ConvText({1, 64, 56, 56, 256, 1, 1, 1, 0, 1}, "residual");
  const Config config = DefaultOf(residual, target);
  EXPECT_EQ(config.Int("prefetch"), 3);

  const ops::KernelDefinition def = MustLower(residual);
  const Template& conv = TemplateFor(def);
  const Task task{&def, conv.Signatures(def, machine::Machine::For(target))[0], target};
  const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
  ASSERT_TRUE(nest.ok()) << nest.status();
  const std::string text = loop::ToText(*nest);
  for (const std::string& buffer : {std::string("p3"), def.naive.buffers.back()->name}) {
    EXPECT_NE(text.find("prefetch %" + buffer + "["), std::string::npos) << buffer << text;
  }
}

TEST(Conv, ByDefaultWhatIsColdIsPrefetchedByHalfLines) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -caches=32768,524288,33554432 -threads=1");
  const Config config = DefaultOf(OfOneTap(256, 64, 56), target);
  EXPECT_EQ(config.Int("unroll"), 4) << config.ToText();
  EXPECT_EQ(config.Int("prefetch"), 2) << config.ToText();
  EXPECT_EQ(config.Int("columns"), 1) << config.ToText();
  EXPECT_EQ(DefaultOf(OfOneTap(64, 256, 56), target).Int("unroll"), 4);
}

// In blocks that end with four channels, four at once would leave no loop to prefetch in.
TEST(Conv, ByDefaultALoopOfChannelsRemains) {
  const CpuTarget target =
      TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -caches=32768,524288,33554432");
  const Config config = DefaultOf(OfOneTap(1036, 1024, 14), target);
  EXPECT_EQ(config.Int("unroll"), 2) << config.ToText();
  EXPECT_EQ(config.Int("prefetch"), 1) << config.ToText();
}

// Whether the nest of the conv's default, with this `prefetch`, asks for lines of the buffer.
bool Prefetches(const std::string& text, const CpuTarget& target, int64_t prefetch,
                const std::string& buffer) {
  const ops::KernelDefinition def = MustLower(text);
  const Template& conv = TemplateFor(def);
  const Task task{&def, conv.Signatures(def, machine::Machine::For(target))[0], target};
  Config config = DefaultOfTask(task);
  config.Set("order", std::string("oh_oc"));
  config.Set("prefetch", prefetch);
  EXPECT_TRUE(SpaceOfTask(task).Contains(config)) << config.ToText();
  const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
  EXPECT_TRUE(nest.ok()) << nest.status();
  return nest.ok() && loop::ToText(*nest).find("prefetch %" + buffer + "[") != std::string::npos;
}

TEST(Conv, WhatIsAddedIsPrefetchedWhereNothingElseReadsIt) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  const std::string residual = ConvText({1, 64, 6, 6, 256, 1, 1, 1, 0, 1}, "residual");
  EXPECT_TRUE(Prefetches(residual, target, 3, "p3"));
  EXPECT_TRUE(Prefetches(residual, target, 3, "relu"));
  EXPECT_FALSE(Prefetches(residual, target, 2, "p3"));
  const std::string broadcast =
      "fn (p0: Tensor[(1, 64, 6, 6), float32], const p1: Tensor[(256, 64, 1, 1), float32], "
      "p2: Tensor[(1, 256, 1, 1), float32]) { %0 = nn.conv2d(p0, p1); add(%0, p2) } "
      "accumulate=float32 numerics=default";
  EXPECT_FALSE(Prefetches(broadcast, target, 3, "p2"));
}

// Lines of results that are not in such blocks are others.
TEST(Conv, OnlyResultsInBlocksArePrefetched) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  const ops::KernelDefinition def =
      MustLower(ConvText({1, 64, 6, 6, 256, 1, 1, 1, 0, 1}, "residual"));
  const Template& conv = TemplateFor(def);
  int blocked = 0;
  for (const ir::LayoutSignature& signature : conv.Signatures(def, machine::Machine::For(target))) {
    const Task task{&def, signature, target};
    Config config = DefaultOfTask(task);
    if (config.String("strategy") != "direct") continue;
    config.Set("order", std::string("oh_oc"));
    config.Set("prefetch", int64_t{3});
    const bool is_blocked =
        signature.operands[0].BlockOf(1) == 16 && signature.results[0].BlockOf(1) == 16;
    EXPECT_EQ(SpaceOfTask(task).Contains(config), is_blocked) << signature.ToString();
    blocked += is_blocked ? 1 : 0;
  }
  EXPECT_EQ(blocked, 1);
}

}  // namespace
}  // namespace hone::schedule
