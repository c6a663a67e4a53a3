#include <map>

#include "compiler/loop/parser.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/primitives/winograd.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/conv_texts.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

TEST(Conv2d, EveryConfigComputesWhatTheNaiveNestDoes) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  const Conv2dShape shapes[] = {
      {1, 16, 6, 6, 32, 3, 3, 1, 1, 1}, {1, 3, 9, 9, 20, 3, 3, 2, 1, 1},
      {2, 17, 5, 7, 15, 1, 1, 1, 0, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 0, 1},
      {1, 20, 7, 5, 33, 3, 2, 2, 2, 2}, {1, 32, 4, 4, 17, 1, 1, 2, 0, 1},
      {1, 5, 7, 11, 48, 5, 5, 1, 2, 1},
  };
  int checked = 0;
  uint64_t seed = 1;
  for (const Conv2dShape& shape : shapes) {
    for (const char* epilogue : {"none", "bias_relu", "residual"}) {
      const CpuTarget& target = seed % 2 == 0 ? wide : narrow;
      checked += CheckTemplate(ConvText(shape, epilogue), "conv", target, 3, seed++);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 60);
}

TEST(Conv, OfAnyNumberOfAxesComputesWhatTheNaiveNestDoes) {
  const char* const targets[] = {"llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2",
                                 "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=2",
                                 "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1"};
  int checked = 0;
  for (uint64_t seed = 0; seed < 90; ++seed) {
    Random random(seed);
    const Windows w = RandomWindows(random);
    const bool bytes = seed % 5 == 4;
    std::string text = WindowsText(w, bytes ? "uint8" : "float32", bytes ? "int8" : "float32");
    checked += CheckTemplate(text, "conv", TestTarget(targets[seed % 3]), 2, seed);
    if (HasFailure()) FAIL() << seed << text;
  }
  EXPECT_GE(checked, 400);
}

// A 1x1 convolution, to which something of shape `other` is added.
std::string OneTapText(const std::vector<int64_t>& pixels, int64_t batch, int64_t out,
                       const std::string& other) {
  const std::vector<int64_t> ones(pixels.size(), 1);
  return fmt::format(
      "fn (p0: Tensor[({0}, 7, {1}), float32], const p1: Tensor[({2}, 7, {3}), float32], p2: "
      "Tensor[{4}, float32]) {{ %0 = nn.conv{5}d(p0, p1); %1 = add(%0, p2); nn.relu(%1) }} "
      "accumulate=float32 numerics=default",
      batch, fmt::join(pixels, ", "), out, fmt::join(ones, ", "), other, pixels.size());
}

// Between row-major tensors, of as many pixels as fill whole vectors; axes of one index too.
TEST(Conv, OfPixelsComputesWhatTheNaiveNestDoes) {
  const CpuTarget targets[] = {
      TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2"),
      TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1"),
      TestTarget("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -threads=1"),
  };
  const std::vector<std::vector<int64_t>> sizes = {{16},    {4, 4},    {2, 24},   {1, 16},
                                                   {32, 1}, {2, 2, 4}, {1, 4, 8}, {4, 1, 4}};
  uint64_t seed = 1;
  for (const std::vector<int64_t>& pixels : sizes) {
    for (const int64_t out : {1, 5, 19}) {
      const int64_t batch = 1 + out % 2;
      const std::vector<int64_t> ones(pixels.size(), 1);
      const bool adds_whole = out == 5;
      const std::string other =
          fmt::format("({}, {}, {})", batch, out, fmt::join(adds_whole ? pixels : ones, ", "));
      const ops::KernelDefinition def = MustLower(OneTapText(pixels, batch, out, other));
      const Task task{&def, RowMajorSignature(def), targets[seed % std::size(targets)]};
      Random random(seed++);
      Config config = DefaultOfTask(task);
      ASSERT_EQ(config.String("strategy"), "pixels");
      for (int checked = 0; checked < 6; config = SpaceOfTask(task).Sample(random)) {
        if (config.String("strategy") != "pixels") continue;
        const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
        ASSERT_TRUE(nest.ok()) << nest.status() << config.ToText();
        ExpectSameResults(def.naive, *nest, seed, config.ToText());
        if (HasFailure()) return;
        ++checked;
      }
    }
  }
}

// What is added along one axis of pixels keeps them apart; so do axes that fill no vectors.
TEST(Conv, OtherStrategiesTakeWhatIsNoProductOfPixels) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  const std::pair<std::vector<int64_t>, const char*> kernels[] = {{{16, 16}, "(1, 8, 1, 16)"},
                                                                  {{16, 16}, "(1, 8, 16, 1)"},
                                                                  {{16, 16}, "(16, 16)"},
                                                                  {{16, 1, 1}, "(1, 8, 1, 1, 1)"},
                                                                  {{7, 7}, "(1, 8, 1, 1)"}};
  for (const auto& [pixels, other] : kernels) {
    const ops::KernelDefinition def = MustLower(OneTapText(pixels, 1, 8, other));
    const Task task{&def, RowMajorSignature(def), target};
    const Config config = DefaultOfTask(task);
    EXPECT_NE(config.String("strategy"), "pixels") << other;
    const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
    ASSERT_TRUE(nest.ok()) << nest.status() << other;
    ExpectSameResults(def.naive, *nest, 7, other);
  }
}

// The default and sampled configs that round differently than the sum does, six of them. How many
// there were.
int CheckWinograd(const Task& task, uint64_t seed) {
  const OpenTask open = OpenTask::Open(task).value();
  const Space space = open.space();
  Random random(seed);
  int found = 0;
  for (int i = 0; i < 400 && found < 6; ++i) {
    const Config config = i == 0 ? DefaultOfTask(task) : space.Sample(random);
    if (ToleranceOf(open, config) == 0) continue;
    const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
    if (!nest.ok()) {
      ADD_FAILURE() << nest.status() << config.ToText();
      return found;
    }
    ExpectSameResults(task.def->naive, *nest, 3, config.ToText(), ToleranceOf(open, config));
    if (testing::Test::HasFailure()) return found;
    ++found;
  }
  return found;
}

TEST(Conv2d, WinogradComputesWhatTheNaiveNestDoes) {
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=2");
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=4");
  const Conv2dShape shapes[] = {
      {1, 8, 12, 12, 16, 3, 3, 1, 1, 1}, {1, 4, 7, 7, 12, 3, 3, 1, 1, 1},
      {2, 6, 5, 9, 10, 3, 3, 1, 0, 1},   {1, 9, 13, 4, 8, 3, 3, 1, 1, 1},
      {1, 17, 6, 11, 33, 3, 3, 1, 2, 1}, {1, 16, 4, 4, 16, 3, 3, 1, 1, 1},
  };
  int checked = 0;
  uint64_t seed = 1;
  for (const Conv2dShape& shape : shapes) {
    for (const char* epilogue : {"none", "bias_relu", "residual"}) {
      const CpuTarget& target = shape.ic >= 16 ? wide : narrow;
      const ops::KernelDefinition def = MustLower(ConvText(shape, epilogue));
      const Template& conv = TemplateFor(def);
      const Task task{&def, conv.Signatures(def, machine::Machine::For(target))[seed % 2], target};
      checked += CheckWinograd(task, seed++);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 90);
}

// The depth of any taps, stride and dilation.
TEST(Conv3d, WinogradComputesWhatTheNaiveNestDoes) {
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=2");
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=4");
  const Windows kernels[] = {
      {1, 4, 8, {4, 8, 8}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {2, 6, 10, {5, 7, 5}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 5, 7, {7, 6, 9}, {2, 3, 3}, {1, 1, 1}, {2, 1, 1}, {1, 0, 1}, {1, 2, 1}},
      {1, 9, 4, {3, 9, 4}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
      {1, 17, 33, {2, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
  };
  int checked = 0;
  uint64_t seed = 1;
  for (const Windows& kernel : kernels) {
    const CpuTarget& target = kernel.ic >= 16 ? wide : narrow;
    const ops::KernelDefinition def = MustLower(WindowsText(kernel, "float32", "float32"));
    const Template& conv = TemplateFor(def);
    for (const ir::LayoutSignature& signature :
         conv.Signatures(def, machine::Machine::For(target))) {
      const Task task{&def, signature, target};
      checked += CheckWinograd(task, seed++);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 90);
}

// Nineteen tiles of three rows in blocks of any size: none is known to read beyond the last row.
TEST(Conv3d, WinogradTilesOfClippedBlocksAreScheduled) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  const Windows kernel{1,         48,        20,        {5, 57, 35}, {1, 1, 7},
                       {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
  const ops::KernelDefinition def = MustLower(WindowsText(kernel, "float32", "float32"));
  const Template& conv = TemplateFor(def);
  const Task task{&def, conv.Signatures(def, machine::Machine::For(target))[0], target};
  const OpenTask open = OpenTask::Open(task).value();
  const Space space = open.space();
  Random random(1);
  int checked = 0;
  for (int i = 0; i < 20000 && checked < 40; ++i) {
    const Config config = space.Sample(random);
    if (ToleranceOf(open, config) == 0 || config.Int("tile_h") != 3) continue;
    const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
    ASSERT_TRUE(nest.ok()) << nest.status() << config.ToText();
    ++checked;
  }
  EXPECT_EQ(checked, 40);
}

// Some taps meet none of the slices of the last block: their loops have no iteration, and what
// these would read is not made, being behind the data. Such configs were refused, defaults among
// them.
TEST(Conv3d, WinogradMakesNoSlicesBehindTheData) {
  const std::pair<const char*, Windows> kernels[] = {
      {"x86-64-v3", {1, 16, 16, {7, 4, 2}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {2, 1, 1}, {2, 1, 1}}},
      {"sapphirerapids",
       {1, 32, 16, {7, 8, 8}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}}};
  for (const auto& [cpu, kernel] : kernels) {
    const CpuTarget target =
        TestTarget(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={} -threads=2", cpu));
    const ops::KernelDefinition def = MustLower(WindowsText(kernel, "float32", "float32"));
    const Task task{&def, RowMajorSignature(def), target};
    const OpenTask open = OpenTask::Open(task).value();
    const Space space = open.space();
    Random random(1);
    int checked = 0;
    for (int i = 0; i < 20000 && checked < 6; ++i) {
      const Config config = space.Sample(random);
      if (ToleranceOf(open, config) == 0 || config.Int("chunk") == 0) continue;
      const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
      ASSERT_TRUE(nest.ok()) << nest.status() << config.ToText();
      ExpectSameResults(def.naive, *nest, 1, config.ToText(), ToleranceOf(open, config));
      ++checked;
    }
    EXPECT_EQ(checked, 6) << cpu;
  }
}

// Padding so wide, and strides so long, that some taps meet no element.
TEST(Conv, TapsThatMissTheDataAreScheduled) {
  const Windows kernels[] = {
      {1, 1, 1, {1, 1, 1}, {2, 1, 3}, {2, 1, 2}, {2, 1, 2}, {1, 0, 2}, {1, 0, 2}},
      {1, 33, 33, {3, 3}, {1, 7}, {1, 1}, {1, 1}, {0, 4}, {0, 6}},
      {2, 17, 24, {3, 3, 3}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 2, 2}, {1, 2, 1}}};
  for (const Windows& kernel : kernels) {
    const CpuTarget target =
        TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1");
    const ops::KernelDefinition def = MustLower(WindowsText(kernel, "float32", "float32"));
    const Template& conv = TemplateFor(def);
    for (const ir::LayoutSignature& signature :
         conv.Signatures(def, machine::Machine::For(target))) {
      const Task task{&def, signature, target};
      const OpenTask open = OpenTask::Open(task).value();
      const Space space = open.space();
      Random random(2);
      for (int i = 0; i < 150; ++i) {
        const Config config = space.Sample(random);
        const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
        ASSERT_TRUE(nest.ok()) << nest.status() << config.ToText();
        if (i >= 3) continue;  // five results of seven taps at once: rounding is larger
        ExpectSameResults(def.naive, *nest, 3, config.ToText(), 4 * ToleranceOf(open, config));
      }
    }
  }
}

TEST(Conv3d, TapsOfSlicesOutsideAreLeftOut) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=2");
  const Windows kernels[] = {
      {1, 8, 8, {1, 4, 4}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {2, 6, 10, {5, 7, 5}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {1, 3, 7, {7, 6, 9}, {2, 3, 3}, {1, 2, 2}, {2, 1, 1}, {2, 0, 1}, {1, 2, 1}},
  };
  for (const Windows& kernel : kernels) {
    const ops::KernelDefinition def = MustLower(WindowsText(kernel, "float32", "float32"));
    const Template& conv = TemplateFor(def);
    const Task task{&def, conv.Signatures(def, machine::Machine::For(target))[0], target};
    Random random(3);
    int checked = 0;
    for (int i = 0; i < 1000 && checked < 8; ++i) {
      const Config config = SpaceOfTask(task).Sample(random);
      if (!config.Has("pad") || config.String("strategy") != "direct") continue;
      if (config.String("pad") != "slices") continue;
      const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
      ASSERT_TRUE(nest.ok()) << nest.status() << config.ToText();
      ExpectSameResults(def.naive, *nest, 3, config.ToText());
      ++checked;
    }
    EXPECT_EQ(checked, 8) << WindowsText(kernel, "float32", "float32");
  }
}

// Sums taken a chunk of the channels after the other, of blocks of rows that end anywhere.
TEST(Conv, SumsInChunksComputeWhatTheNaiveNestDoes) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -caches=2048,65536,1048576 "
      "-threads=2");
  const Windows kernels[] = {
      {1, 32, 20, {5, 7}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {1, 32, 9, {7, 7}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
      {1, 16, 12, {6, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 24, 7, {9, 5}, {3, 2}, {2, 1}, {1, 2}, {1, 0}, {1, 1}},
      {1, 16, 8, {3, 5, 4}, {3, 1, 3}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}, {1, 0, 1}},
  };
  // Transposed convolutions of four phases, and of six with a row that ends within the last.
  std::vector<std::string> texts = {
      TransposedText({1, 16, 12, {5, 6}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, {0, 0}),
      TransposedText({1, 24, 9, {3, 5}, {4, 4}, {3, 2}, {1, 1}, {1, 1}, {1, 1}}, {0, 1})};
  for (const Windows& kernel : kernels) {
    texts.push_back(WindowsText(kernel, "float32", "float32"));
  }
  for (const std::string& text : texts) {
    const ops::KernelDefinition def = MustLower(text);
    const Template& conv = TemplateFor(def);
    const Task task{&def, conv.Signatures(def, machine::Machine::For(target))[0], target};
    Random random(7);
    int checked = 0;
    for (int i = 0; i < 4000 && checked < 12; ++i) {
      const Config config = SpaceOfTask(task).Sample(random);
      if (config.String("strategy") != "direct" || config.Int("chunk") == 0) continue;
      const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
      ASSERT_TRUE(nest.ok()) << nest.status() << config.ToText();
      ExpectSameResults(def.naive, *nest, 3, text + config.ToText());
      if (HasFailure()) return;
      ++checked;
    }
    EXPECT_EQ(checked, 12) << text;
  }
}

// The next channels of a tile's columns, of whole sums and of chunks; strides, tiles at the end of
// a row, channels that do not fill a block.
TEST(Conv, PrefetchedColumnsComputeWhatTheNaiveNestDoes) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=4096,65536,1048576 -threads=2");
  const Windows kernels[] = {
      {1, 64, 32, {5, 7}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {2, 40, 33, {9, 13}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {1, 64, 20, {9, 7}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
      {1, 32, 16, {45}, {1}, {1}, {1}, {0}, {0}},
      {1, 32, 24, {3, 5, 4}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
  };
  for (const Windows& kernel : kernels) {
    const std::string text = WindowsText(kernel, "float32", "float32");
    const ops::KernelDefinition def = MustLower(text);
    const Template& conv = TemplateFor(def);
    int checked = 0;
    for (const ir::LayoutSignature& signature :
         conv.Signatures(def, machine::Machine::For(target))) {
      const Task task{&def, signature, target};
      Random random(7);
      for (int i = 0; i < 200; ++i) {
        const Config config = SpaceOfTask(task).Sample(random);
        if (!config.Has("columns") || config.Int("columns") == 0 || checked == 12) continue;
        const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
        ASSERT_TRUE(nest.ok()) << nest.status() << config.ToText();
        ExpectSameResults(def.naive, *nest, 3, text + config.ToText());
        if (HasFailure()) return;
        ++checked;
      }
    }
    EXPECT_EQ(checked, 12) << text;
  }
}

// Each is one condition short of such a convolution; none may be rewritten.
TEST(Winograd, RefusesWhatIsNoConvolutionOfDilationOne) {
  const Conv2dShape shapes[] = {{1, 8, 9, 9, 8, 1, 1, 1, 0, 1},
                                {1, 8, 9, 9, 8, 3, 3, 1, 1, 2},
                                {1, 8, 9, 9, 8, 2, 2, 2, 0, 1}};
  for (const Conv2dShape& shape : shapes) {
    loop::Nest nest = MustLower(ConvText(shape, "none")).naive;
    EXPECT_FALSE(Winograd(&nest, Stage(nest.buffers.back()->name), 4).ok());
  }
  loop::Nest nest = MustLower(ConvText({1, 8, 9, 9, 8, 3, 3, 1, 1, 1}, "none")).naive;
  const Stage result(nest.buffers.back()->name);
  EXPECT_FALSE(Winograd(&nest, result, 1).ok());
  std::string text = loop::ToText(nest);
  text.replace(text.find("= 0.0"), 5, "= 1.0");
  absl::StatusOr<loop::Nest> biased = loop::ParseNest(text);
  ASSERT_TRUE(biased.ok()) << biased.status() << text;
  EXPECT_FALSE(Winograd(&*biased, result, 4).ok());
  EXPECT_TRUE(Winograd(&nest, result, 4).ok());
}

TEST(Conv2d, StrictNumericsAllowSumsOfTheProductsOnly) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  std::string text = ConvText({1, 8, 12, 12, 16, 3, 3, 1, 1, 1}, "none");
  const auto strategies = [&] {
    const ops::KernelDefinition def = MustLower(text);
    const Template& conv = TemplateFor(def);
    const Task task{&def, conv.Signatures(def, machine::Machine::For(target))[0], target};
    return SpaceOfTask(task).Next(Config())->options.size();
  };
  EXPECT_EQ(strategies(), 3);
  text.replace(text.find("numerics=default"), std::string::npos, "numerics=strict");
  EXPECT_EQ(strategies(), 1);
}

// What is not zero cannot be left out.
TEST(Conv2d, PadsWithTheValueGiven) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  for (const int64_t groups : {1, 32}) {
    const std::string text = fmt::format(
        "fn (p0: Tensor[(1, 32, 8, 8), float32], const p1: Tensor[(32, {}, 3, 3), float32]) {{ "
        "nn.conv2d(p0, p1, groups={}, pad_value=3, padding=[1, 1, 1, 1]) }} accumulate=float32 "
        "numerics=default",
        32 / groups, groups);
    CheckTemplate(text, groups == 1 ? "conv" : "depthwise_conv2d", target, 6, 11);
  }
}

// Kinds of tiles that leave out padding: of one row or of several, whose sums are taken at once or
// in chunks.
std::string KindOfBorder(const Config& config) {
  return fmt::format("{} {}", config.Int("tile_h") > 1 ? "rows" : "row",
                     config.Int("chunk") > 0 ? "in chunks" : "at once");
}

// Whether something else is read in the place of the first input's data.
bool ChoosesData(const std::string& nest) {
  for (size_t at = nest.find("select("); at != std::string::npos;
       at = nest.find("select(", at + 1)) {
    if (nest.compare(nest.find('%', at), 4, "%p0[") == 0) return true;
  }
  return false;
}

// No product of zeros that surround data is left, neither in memory nor chosen, by tiles of these
// kinds.
void CheckBorderTiles(const std::string& text, const std::vector<std::string>& kinds) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -caches=2048,65536,1048576 -threads=1");
  constexpr int kEach = 5;
  const ops::KernelDefinition def = MustLower(text);
  const Template& conv = TemplateFor(def);
  const Task task{&def, conv.Signatures(def, machine::Machine::For(target))[0], target};
  const OpenTask open = OpenTask::Open(task).value();
  const Space space = open.space();
  Random random(5);
  std::map<std::string, int> found;
  for (const std::string& kind : kinds) found[kind] = 0;
  for (int i = 0; i < 8000; ++i) {
    const Config config = space.Sample(random);
    if (config.String("strategy") != "direct" || config.String("pad") != "border") continue;
    const auto kind = found.find(KindOfBorder(config));
    if (kind == found.end() || kind->second == kEach) continue;
    ++kind->second;
    const absl::StatusOr<loop::Nest> nest = NestOfConfig(task, config);
    ASSERT_TRUE(nest.ok()) << nest.status() << text << config.ToText();
    const std::string scheduled = loop::ToText(*nest);
    EXPECT_EQ(scheduled.find("%pad"), std::string::npos);
    EXPECT_FALSE(ChoosesData(scheduled)) << scheduled;
    ExpectSameResults(def.naive, *nest, 3, text + config.ToText(), ToleranceOf(open, config));
    if (testing::Test::HasFailure()) return;
  }
  for (const auto& [kind, times] : found) EXPECT_EQ(times, kEach) << kind << " " << text;
}

// The kernels have strides, dilations and unequal padding too, and there are transposed ones of one
// phase.
TEST(Conv2d, BorderTilesLeaveOutThePadding) {
  const Windows kernels[] = {
      {1, 8, 12, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 12, 9, {8, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {2, 8, 8, {7, 13}, {5, 3}, {1, 1}, {1, 1}, {2, 1}, {2, 1}},
      {1, 16, 8, {12, 12}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}},
      {1, 16, 20, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, 8, 8, {6, 5}, {3, 2}, {1, 1}, {1, 1}, {2, 0}, {1, 1}},
      {1, 8, 8, {4, 6, 5}, {3, 3, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}},
  };
  const Windows transposed[] = {
      {1, 16, 12, {7, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 8, 9, {9, 7}, {3, 2}, {1, 1}, {2, 1}, {3, 0}, {2, 1}},
  };
  std::vector<std::string> texts;
  for (const Windows& kernel : kernels) texts.push_back(WindowsText(kernel, "float32", "float32"));
  for (const Windows& kernel : transposed) texts.push_back(TransposedText(kernel, {0, 0}));
  for (const std::string& text : texts) {
    CheckBorderTiles(text, {"row at once", "row in chunks", "rows at once", "rows in chunks"});
  }
}

// Dilated windows leave the data in several tiles of a row, or in all of them; some taps lie
// outside everywhere.
TEST(Conv2d, BorderTilesLeaveOutPaddingThickerThanTiles) {
  const Windows kernels[] = {
      {1, 8, 8, {9, 11}, {3, 3}, {1, 1}, {4, 4}, {4, 4}, {4, 4}},
      {2, 12, 9, {7, 15}, {3, 3}, {1, 1}, {6, 6}, {6, 6}, {6, 6}},
      {1, 8, 12, {8, 13}, {3, 3}, {2, 1}, {1, 5}, {1, 5}, {1, 5}},
      {1, 8, 8, {5, 6}, {3, 3}, {1, 1}, {7, 7}, {7, 7}, {7, 7}},
      {1, 8, 8, {4, 5, 9}, {3, 1, 3}, {1, 1, 1}, {3, 1, 4}, {3, 0, 4}, {3, 0, 4}},
  };
  for (const Windows& kernel : kernels) {
    CheckBorderTiles(WindowsText(kernel, "float32", "float32"), {"row at once", "row in chunks"});
  }
}

}  // namespace
}  // namespace hone::schedule
