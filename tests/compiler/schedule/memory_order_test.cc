// Kernels of images whose channels come last, on machines with a grid of threads.
#include <span>
#include <string>

#include "compiler/machine/machine.h"
#include "compiler/schedule/templates.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/random.h"
#include "tests/compiler/schedule/golden_nest.h"
#include "tests/compiler/schedule/grid_task.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

constexpr size_t kChannelsLast = 1;
constexpr char kHopper[] = "cuda -arch=sm_90a -multiprocessors=132";

constexpr const char* kOfTerms[] = {
    "fn (p0: Tensor[(1, 32, 4, 16), bfloat16], const p1: Tensor[(16, 32, 3, 3), bfloat16]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(2, 16, 8, 16), bfloat16], const p1: Tensor[(16, 16, 3, 3), bfloat16]) { "
    "nn.conv2d(p0, p1, strides=[2, 2], padding=[1, 1, 1, 1]) }",
    "fn (p0: Tensor[(1, 32, 7, 7), float16], const p1: Tensor[(32, 32, 1, 1), float16], p2: "
    "Tensor[(1, 32, 7, 7), float16]) { %0 = nn.conv2d(p0, p1); add(%0, p2) }",
    "fn (p0: Tensor[(1, 16, 14, 14), bfloat16], const p1: Tensor[(32, 16, 1, 1), bfloat16], const "
    "p2: Tensor[(32, 1, 1), bfloat16]) { %0 = nn.conv2d(p0, p1, strides=[2, 2]); %1 = add(%0, p2); "
    "nn.relu(%1) }",
};

constexpr const char* kOthers[] = {
    "fn (p0: Tensor[(1, 3, 10, 10), bfloat16], const p1: Tensor[(8, 3, 3, 3), bfloat16]) { "
    "nn.conv2d(p0, p1, strides=[2, 2], padding=[1, 1, 1, 1]) }",
    "fn (p0: Tensor[(1, 8, 6, 6), float16]) { nn.max_pool2d(p0, pool_size=[3, 3], strides=[2, 2], "
    "padding=[1, 1, 1, 1]) }",
    "fn (p0: Tensor[(2, 8, 5, 5), bfloat16]) { nn.global_avg_pool2d(p0) }",
    "fn (p0: Tensor[(2, 8, 4, 4), bfloat16], const p1: Tensor[(8, 1, 3, 3), bfloat16]) { "
    "nn.conv2d(p0, p1, groups=8, padding=[1, 1, 1, 1]) }",
    "fn (p0: Tensor[(1, 8, 4, 6), bfloat16], p1: Tensor[(1, 8, 4, 6), bfloat16], const p2: "
    "Tensor[(8, 1, 1), bfloat16]) { %0 = add(p0, p1); multiply(%0, p2) }",
    "fn (p0: Tensor[(2, 3, 4, 6), bfloat16]) { reshape(p0, newshape=[2, 72]) }",
    "fn (p0: Tensor[(2, 6, 4, 5), float16]) { nn.softmax(p0, axis=1) }",
};

TEST(MemoryOrder, WarpsComputeWhatTheNaiveNestDoes) {
  uint64_t seed = 1;
  for (const char* const kernel : kOfTerms) {
    if (!CheckStrategyOnGrid(kernel, "warp_tile", /*configs=*/12, seed += 100, 0, kChannelsLast)) {
      return;
    }
  }
}

TEST(MemoryOrder, EveryStrategyComputesWhatTheNaiveNestDoes) {
  uint64_t seed = 1;
  for (const auto& kernels :
       {std::span<const char* const>(kOfTerms), std::span<const char* const>(kOthers)}) {
    for (const char* const kernel : kernels) {
      const GridTask one(kernel, kSmallGpu, kChannelsLast);
      EXPECT_EQ(one.task().signature.ToString().find("NHWC") != std::string::npos, true);
      Random random(seed);
      for (int i = 0; i < 12; ++i) {
        const Config config = SpaceOfTask(one.task()).Sample(random);
        const auto nest = NestOfConfig(one.task(), config);
        ASSERT_TRUE(nest.ok()) << nest.status() << kernel << config.ToText();
        ExpectSameResults(one.naive(), *nest, seed++, kernel + config.ToText(), 1e-3);
        if (HasFailure()) return;
      }
    }
  }
}

// What puts squares of pixels together reads an image of few channels where it lies, and may write
// one whose channels come last.
TEST(MemoryOrder, GatheredChannelsComeLast) {
  constexpr const char* kSquares[] = {
      "fn (p0: Tensor[(2, 3, 8, 12), bfloat16]) { %0 = nn.pad(p0, pad_width=[0, 0, 0, 1, 0, 0, 0, "
      "0]); %1 = reshape(%0, newshape=[2, 4, 4, 2, 6, 2]); %2 = transpose(%1, axes=[0, 3, 5, 1, 2, "
      "4]); reshape(%2, newshape=[2, 16, 4, 6]) }",
      // The image is normalised first.
      "fn (p0: Tensor[(2, 3, 8, 12), float32], const p1: Tensor[(3, 1, 1), float32], const p2: "
      "Tensor[(), float32]) { %0 = subtract(p0, p1); %1 = multiply(%0, p2); %2 = cast(%1, "
      "dtype=\"bfloat16\"); %3 = nn.pad(%2, pad_width=[0, 0, 0, 1, 0, 0, 0, 0]); %4 = reshape(%3, "
      "newshape=[2, 4, 4, 2, 6, 2]); %5 = transpose(%4, axes=[0, 3, 5, 1, 2, 4]); reshape(%5, "
      "newshape=[2, 16, 4, 6]) }"};
  constexpr size_t kGathered = 2;
  for (const char* const squares : kSquares) {
    const GridTask one(squares, kSmallGpu, kGathered);
    EXPECT_EQ(one.task().signature.ToString(), "NCHW->NHWC");
    Random random(1);
    for (int i = 0; i < 12; ++i) {
      const Config config = SpaceOfTask(one.task()).Sample(random);
      const auto nest = NestOfConfig(one.task(), config);
      ASSERT_TRUE(nest.ok()) << nest.status() << config.ToText();
      ExpectSameResults(one.naive(), *nest, /*seed=*/1, config.ToText(), /*tolerance=*/0);
    }
  }
  const Target target = *Target::Parse(kSmallGpu);
  const auto machine = machine::Machine::For(target);
  const GridTask conv(kOfTerms[3], kSmallGpu);
  const ops::KernelDefinition& def = *conv.task().def;
  EXPECT_EQ(TemplateFor(def, machine).Signatures(def, machine).size(), 2)
      << "a convolution to more channels has no such signature";
}

// Threads copy eight channels at once, and ahead; lanes are columns, as in rows of channels.
TEST(MemoryOrder, WarpsCopyNeighbouringChannelsAhead) {
  const GridTask one(kOfTerms[0], kSmallGpu, kChannelsLast);
  ExpectGoldenOf(
      one, "warp_tile_channels_last",
      R"({"slots":2,"steps":16,"strategy":"warp_tile","tile_columns":16,"tile_rows":16,"warps_columns":1,"warps_lines":2,"warps_rows":1})");
}

// As in a ResNet.
TEST(MemoryOrder, TensorCoresTakeImagesThatTilesDoNotDivide) {
  for (const int64_t size : {56, 28, 14, 7}) {
    const GridTask one(fmt::format("fn (p0: Tensor[(1, 128, {0}, {0}), bfloat16], const p1: "
                                   "Tensor[(128, 128, 3, 3), bfloat16]) {{ nn.conv2d(p0, p1, "
                                   "padding=[1, 1, 1, 1]) }}",
                                   size),
                       kHopper, kChannelsLast);
    EXPECT_THAT(one.Default(), testing::AnyOf(testing::HasSubstr("warp_tile"),
                                              testing::HasSubstr("warpgroup_tile")))
        << size;
  }
}

TEST(MemoryOrder, OtherTypesAndRanksHaveNoSuchLayouts) {
  const auto signatures = [](const std::string& kernel) {
    const GridTask one(kernel);
    const Task task = one.task();
    const auto machine = machine::Machine::For(task.target);
    return TemplateFor(*task.def, machine).Signatures(*task.def, machine).size();
  };
  EXPECT_EQ(signatures(kOfTerms[0]), 2u);
  EXPECT_EQ(signatures("fn (p0: Tensor[(1, 8, 4, 6), float32]) { nn.relu(p0) }"), 1u);
  EXPECT_EQ(signatures("fn (p0: Tensor[(8, 4, 6), bfloat16]) { nn.relu(p0) }"), 1u);
}

}  // namespace
}  // namespace hone::schedule
