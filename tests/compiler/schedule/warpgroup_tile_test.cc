// Schedules whose tiles four warps compute together.
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

TEST(WarpgroupTile, IsForHopperAndForWholeTiles) {
  const auto has = [](const std::string& kernel, const std::string& target) {
    return GridTask(kernel, target).Has(kGroupStrategy);
  };
  EXPECT_FALSE(has(kOfWarpgroups[0], "cuda -arch=sm_90 -multiprocessors=4"));
  EXPECT_FALSE(has(kOfWarpgroups[0], "cuda -arch=sm_80 -multiprocessors=4"));
  EXPECT_FALSE(
      has("fn (p0: Tensor[(64, 96), bfloat16], const p1: Tensor[(64, 96), bfloat16]) { "
          "nn.dense(p0, p1) }",
          kFourUnitsOfHopper))
      << "64 does not divide its terms";
  EXPECT_FALSE(
      has("fn (p0: Tensor[(32, 64), bfloat16], const p1: Tensor[(64, 64), bfloat16]) { "
          "nn.dense(p0, p1) }",
          kFourUnitsOfHopper))
      << "64 does not divide its rows";
}

TEST(WarpgroupTile, OnlyASearchChoosesIt) {
  for (const char* const kernel : kOfWarpgroups) {
    EXPECT_THAT(GridTask(kernel, kFourUnitsOfHopper).Default(),
                testing::Not(testing::HasSubstr(kGroupStrategy)));
  }
}

}  // namespace
}  // namespace hone::schedule
