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

TEST(WarpgroupTile, ItsProductsAreThoseOfWarpgroups) {
  uint64_t seed = 1;
  for (const char* const kernel : kOfWarpgroups) {
    const GridTask one(kernel, kFourUnitsOfHopper);
    ASSERT_TRUE(one.Has(kGroupStrategy)) << kernel;
    const Space space = one.SpaceOf(kGroupStrategy);
    Random random(seed);
    for (int i = 0; i < 8; ++i) {
      const Config config = space.Sample(random);
      const auto nest = NestOfConfig(one.task(), config);
      ASSERT_TRUE(nest.ok()) << nest.status() << kernel << config.ToText();
      ExpectSameResults(one.naive(), *nest, ++seed, kernel + config.ToText(), /*tolerance=*/0);
      const auto launches = lower::LowerLaunches(*nest, one.task().target);
      ASSERT_TRUE(launches.ok()) << launches.status() << kernel << config.ToText();
      const bool has_products = std::ranges::any_of(
          *launches, [](const auto& launch) { return launch.warpgroups.products.size() == 1; });
      ASSERT_TRUE(has_products) << lower::ToText(launches->back());
    }
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

// On the 132 multiprocessors of an H100, where small tiles and blocks that share sums were the best
// of few results, large tiles of many, and widths with a factor of three where they leave fewer
// multiprocessors idle.
TEST(WarpgroupTile, DefaultsFillTheMachine) {
  struct Product {
    int64_t rows, units, terms;
    int64_t columns, groups, slots, parts;  // of the default; 0: it has no such knob
  };
  constexpr Product kProducts[] = {
      {512, 512, 512, 64, 1, 5, 0},     {1024, 1024, 1024, 96, 2, 4, 1},
      {2048, 2048, 2048, 256, 2, 4, 1}, {4096, 4096, 4096, 256, 2, 4, 0},
      {128, 768, 768, 64, 1, 3, 4},     {128, 3072, 768, 64, 1, 5, 1},
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
                                         R"("tile_columns":{},"wait_later":1,"warpgroups":{}}})",
                                         parts, of.slots, of.columns, of.groups))
        << of.rows << "x" << of.units << "x" << of.terms;
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
