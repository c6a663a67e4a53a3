// Schedules whose tiles four warps compute together.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compiler/lower/lower.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/random.h"
#include "tests/compiler/schedule/grid_task.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

constexpr char kGroupStrategy[] = "warpgroup_tile";
constexpr char kFourUnitsOfHopper[] = "cuda -arch=sm_90a -multiprocessors=4";

constexpr const char* kOfWarpgroups[] = {
    "fn (p0: Tensor[(128, 128), bfloat16], const p1: Tensor[(192, 128), bfloat16], const p2: "
    "Tensor[(192,), bfloat16]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(2, 64, 64), float16], p1: Tensor[(2, 96, 64), float16]) { "
    "nn.batch_matmul(p0, p1) }",
    "fn (p0: Tensor[(50, 128), bfloat16], const p1: Tensor[(100, 128), bfloat16], const p2: "
    "Tensor[(100,), bfloat16]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(2, 100, 72), float16], p1: Tensor[(2, 90, 72), float16]) { "
    "nn.batch_matmul(p0, p1) }",
};

// Configs of the strategy, drawn with the seed, compute what the naive nest does, by products of
// warpgroups.
void ExpectProductsOfWarpgroups(const GridTask& one, const std::string& kernel, int configs,
                                uint64_t* seed) {
  ASSERT_TRUE(one.Has(kGroupStrategy)) << kernel;
  const Space space = one.SpaceOf(kGroupStrategy);
  Random random(*seed);
  for (int i = 0; i < configs; ++i) {
    const Config config = space.Sample(random);
    const auto nest = NestOfConfig(one.task(), config);
    ASSERT_TRUE(nest.ok()) << nest.status() << kernel << config.ToText();
    ExpectSameResults(one.naive(), *nest, ++*seed, kernel + config.ToText(), /*tolerance=*/0);
    const auto launches = lower::LowerLaunches(*nest, one.task().target);
    ASSERT_TRUE(launches.ok()) << launches.status() << kernel << config.ToText();
    const bool has_products = std::ranges::any_of(
        *launches, [](const auto& launch) { return launch.warpgroups.products.size() == 1; });
    ASSERT_TRUE(has_products) << lower::ToText(launches->back());
  }
}

TEST(WarpgroupTile, ItsProductsAreThoseOfWarpgroups) {
  uint64_t seed = 1;
  for (const char* const kernel : kOfWarpgroups) {
    const GridTask one(kernel, kFourUnitsOfHopper);
    ExpectProductsOfWarpgroups(one, kernel, 8, &seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(WarpgroupTile, IsForHopperAndForTilesThatAreMostlyBusy) {
  const auto has = [](const std::string& kernel, const std::string& target) {
    return GridTask(kernel, target).Has(kGroupStrategy);
  };
  EXPECT_FALSE(has(kOfWarpgroups[0], "cuda -arch=sm_90 -multiprocessors=4"));
  EXPECT_FALSE(has(kOfWarpgroups[0], "cuda -arch=sm_80 -multiprocessors=4"));
  EXPECT_FALSE(
      has("fn (p0: Tensor[(64, 100), bfloat16], const p1: Tensor[(64, 100), bfloat16]) { "
          "nn.dense(p0, p1) }",
          kFourUnitsOfHopper))
      << "rows of its terms are no multiples of 16 bytes";
  EXPECT_FALSE(
      has("fn (p0: Tensor[(31, 64), bfloat16], const p1: Tensor[(64, 64), bfloat16]) { "
          "nn.dense(p0, p1) }",
          kFourUnitsOfHopper))
      << "more than half of 64 rows would be idle";
}

constexpr size_t kImagesChannelsLast = 1;

constexpr const char* kConvolutions[] = {
    "fn (p0: Tensor[(1, 64, 8, 8), bfloat16], const p1: Tensor[(64, 64, 1, 1), bfloat16], p2: "
    "Tensor[(1, 64, 8, 8), bfloat16]) { %0 = nn.conv2d(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(2, 48, 7, 7), float16], const p1: Tensor[(96, 48, 1, 1), float16], const p2: "
    "Tensor[(96, 1, 1), float16]) { %0 = nn.conv2d(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(1, 64, 16, 9), bfloat16], const p1: Tensor[(64, 64, 1, 1), bfloat16]) { "
    "nn.conv2d(p0, p1, strides=[2, 1]) }",
    "fn (p0: Tensor[(1, 16, 7, 7), bfloat16], const p1: Tensor[(64, 16, 3, 3), bfloat16], p2: "
    "Tensor[(1, 64, 7, 7), bfloat16]) { %0 = nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); %1 = add(%0, "
    "p2); nn.relu(%1) }",
    "fn (p0: Tensor[(2, 64, 12, 12), float16], const p1: Tensor[(64, 64, 3, 3), float16]) { "
    "nn.conv2d(p0, p1, strides=[2, 2], padding=[1, 0, 1, 2]) }",
    "fn (p0: Tensor[(1, 8, 10, 10), bfloat16], const p1: Tensor[(64, 8, 3, 2), bfloat16]) { "
    "nn.conv2d(p0, p1, dilation=[2, 2], padding=[2, 1, 2, 1]) }",
};

TEST(WarpgroupTile, ItsConvolutionsAreProductsOfPatches) {
  uint64_t seed = 1;
  for (const char* const kernel : kConvolutions) {
    const GridTask one(kernel, kFourUnitsOfHopper, kImagesChannelsLast);
    ExpectProductsOfWarpgroups(one, kernel, 6, &seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Filters that change, channels that are no multiples of 16 bytes, and channels that do not come
// last are left to others.
TEST(WarpgroupTile, ItsImagesHaveChannelsOfWholeCopiesLast) {
  const std::string last = kConvolutions[3];
  EXPECT_FALSE(GridTask(last, kFourUnitsOfHopper, /*signature=*/0).Has(kGroupStrategy));
  const auto has = [](const std::string& kernel) {
    return GridTask(kernel, kFourUnitsOfHopper, kImagesChannelsLast).Has(kGroupStrategy);
  };
  EXPECT_TRUE(has(last));
  EXPECT_FALSE(
      has("fn (p0: Tensor[(1, 16, 7, 7), bfloat16], p1: Tensor[(64, 16, 3, 3), bfloat16]) { "
          "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }"));
  EXPECT_FALSE(
      has("fn (p0: Tensor[(1, 20, 7, 7), bfloat16], const p1: Tensor[(64, 20, 4, 4), bfloat16]) { "
          "nn.conv2d(p0, p1) }"));
  EXPECT_FALSE(
      has("fn (p0: Tensor[(1, 64, 8, 8), bfloat16], const p1: Tensor[(64, 1, 3, 3), bfloat16]) { "
          "nn.conv2d(p0, p1, groups=64, padding=[1, 1, 1, 1]) }"));
}

// Threads copy eight channels of a pixel of the window at once, or zeros.
TEST(WarpgroupTile, BlocksCopyPatches) {
  const GridTask one(kConvolutions[4], kFourUnitsOfHopper, kImagesChannelsLast);
  ExpectGoldenOf(
      one, "warpgroup_tile_patches",
      R"({"parts":1,"slots":2,"strategy":"warpgroup_tile","tile_columns":64,"warpgroups":1})");
}

// On the 132 multiprocessors of an H100, where small tiles and blocks that share sums were the best
// of few results, large tiles of many, and widths with a factor of three where they leave fewer
// multiprocessors idle.
TEST(WarpgroupTile, DefaultsFillTheMachine) {
  struct Product {
    int64_t rows, units, terms;
    int64_t columns, groups, slots, parts;  // of the default; 0: it has no such knob
    int64_t wait_later = 1;
  };
  constexpr Product kProducts[] = {
      {512, 512, 512, 64, 1, 5, 0},     {1024, 1024, 1024, 96, 2, 4, 1},
      {2048, 2048, 2048, 256, 2, 4, 1}, {4096, 4096, 4096, 256, 2, 4, 0},
      {128, 768, 768, 64, 1, 4, 3, 0},  {128, 3072, 768, 64, 1, 5, 1},
      {128, 768, 3072, 64, 2, 5, 8},    {1024, 768, 768, 64, 2, 5, 1},
      {1024, 3072, 768, 192, 2, 4, 1},  {1024, 768, 3072, 128, 2, 4, 2},
      {1000, 1000, 1000, 96, 2, 4, 0},
  };
  for (const Product& of : kProducts) {
    const GridTask one(
        fmt::format("fn (p0: Tensor[({0}, {2}), bfloat16], const p1: Tensor[({1}, {2}), "
                    "bfloat16]) {{ nn.dense(p0, p1) }}",
                    of.rows, of.units, of.terms),
        "cuda -arch=sm_90a -multiprocessors=132");
    const std::string parts = of.parts == 0 ? "" : fmt::format(R"("parts":{},)", of.parts);
    EXPECT_EQ(one.Default(), fmt::format(R"({{{}"slots":{},"strategy":"warpgroup_tile",)"
                                         R"("tile_columns":{},"wait_later":{},"warpgroups":{}}})",
                                         parts, of.slots, of.columns, of.wait_later, of.groups))
        << of.rows << "x" << of.units << "x" << of.terms;
  }
}

// Those of a ResNet-50 for one image: blocks of small tiles, which share sums of many terms where
// there are few pixels.
TEST(WarpgroupTile, DefaultsOfConvolutionsFillTheMachine) {
  struct Images {
    int64_t channels, filters, window, stride, size;
    const char* config;  // without what all have
  };
  constexpr Images kImages[] = {
      {64, 64, 1, 1, 56, R"("slots":1,"strategy":"warpgroup_tile","tile_columns":64)"},
      {64, 64, 3, 1, 56,
       R"("slots":5,"strategy":"warpgroup_tile","tile_columns":64,"wait_later":1)"},
      {64, 256, 1, 1, 56, R"("slots":1,"strategy":"warpgroup_tile","tile_columns":64)"},
      {256, 64, 1, 1, 56,
       R"("slots":4,"strategy":"warpgroup_tile","tile_columns":64,"wait_later":0)"},
      {128, 128, 3, 2, 56,
       R"("parts":3,"slots":5,"strategy":"warpgroup_tile","tile_columns":64,"wait_later":1)"},
      {128, 512, 1, 1, 28, R"("parts":1,"slots":1,"strategy":"warpgroup_tile","tile_columns":64)"},
      {256, 512, 1, 2, 56,
       R"("slots":4,"strategy":"warpgroup_tile","tile_columns":64,"wait_later":0)"},
      {512, 128, 1, 1, 28,
       R"("slots":5,"strategy":"warpgroup_tile","tile_columns":64,"wait_later":1)"},
      {256, 256, 3, 2, 28,
       R"("parts":6,"slots":5,"strategy":"warpgroup_tile","tile_columns":64,"wait_later":1)"},
      {256, 1024, 1, 1, 14,
       R"("slots":4,"strategy":"warpgroup_tile","tile_columns":64,"wait_later":0)"},
      {1024, 256, 1, 1, 14, R"("parts":8,"slots":1,"strategy":"warpgroup_tile","tile_columns":64)"},
      {512, 512, 3, 2, 14,
       R"("parts":12,"slots":5,"strategy":"warpgroup_tile","tile_columns":64,"wait_later":1)"},
      {512, 2048, 1, 1, 7,
       R"("slots":5,"strategy":"warpgroup_tile","tile_columns":64,"wait_later":1)"},
      {2048, 512, 1, 1, 7,
       R"("parts":8,"slots":4,"strategy":"warpgroup_tile","tile_columns":64,"wait_later":0)"},
      {512, 512, 3, 1, 7,
       R"("parts":12,"slots":5,"strategy":"warpgroup_tile","tile_columns":64,"wait_later":1)"},
  };
  for (const Images& of : kImages) {
    const GridTask one(
        fmt::format(
            "fn (p0: Tensor[(1, {0}, {4}, {4}), bfloat16], const p1: Tensor[({1}, {0}, {2}, "
            "{2}), bfloat16], const p2: Tensor[({1}, 1, 1), bfloat16]) {{ %0 = "
            "nn.conv2d(p0, p1, strides=[{3}, {3}], padding=[{5}, {5}, {5}, {5}]); %1 = "
            "add(%0, p2); nn.relu(%1) }}",
            of.channels, of.filters, of.window, of.stride, of.size, of.window / 2),
        "cuda -arch=sm_90a -multiprocessors=132", kImagesChannelsLast);
    EXPECT_EQ(one.Default(), fmt::format(R"({{{},"warpgroups":1}})", of.config))
        << of.channels << " to " << of.filters << " of " << of.size;
  }
}

// Products are under way that read the slot before, which nothing is copied to meanwhile.
TEST(WarpgroupTile, ProductsAreWaitedForOneStepLater) {
  const GridTask one(
      "fn (p0: Tensor[(64, 320), bfloat16], const p1: Tensor[(64, 320), bfloat16]) { "
      "nn.dense(p0, p1) }",
      kFourUnitsOfHopper);
  for (const int64_t slots : {3, 4}) {
    for (const int64_t wait_later : {0, 1}) {
      Config config;
      config.Set("strategy", std::string(kGroupStrategy));
      config.Set("tile_columns", int64_t{64});
      config.Set("warpgroups", int64_t{1});
      config.Set("slots", slots);
      config.Set("wait_later", wait_later);
      const auto nest = NestOfConfig(one.task(), config);
      ASSERT_TRUE(nest.ok()) << nest.status();
      ExpectSameResults(one.naive(), *nest, /*seed=*/1, config.ToText(), /*tolerance=*/0);
      const auto launches = lower::LowerLaunches(*nest, one.task().target);
      ASSERT_TRUE(launches.ok()) << launches.status();
      EXPECT_EQ(launches->back().warpgroups.late.size(), wait_later)
          << lower::ToText(launches->back());
    }
  }
}

TEST(WarpgroupTile, BlocksShareSums) {
  const GridTask one(kOfWarpgroups[0], kFourUnitsOfHopper);
  Config config;
  config.Set("strategy", std::string(kGroupStrategy));
  config.Set("tile_columns", int64_t{96});
  config.Set("warpgroups", int64_t{2});
  config.Set("slots", int64_t{1});
  config.Set("parts", int64_t{2});
  const auto nest = NestOfConfig(one.task(), config);
  ASSERT_TRUE(nest.ok()) << nest.status();
  EXPECT_EQ(nest->launches.size(), 2) << loop::ToText(*nest);
  ExpectSameResults(one.naive(), *nest, /*seed=*/1, config.ToText(), /*tolerance=*/0);
}

}  // namespace
}  // namespace hone::schedule
