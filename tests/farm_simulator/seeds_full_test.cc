// HONE_SIM_FIRST: the first seed, 0 where it is not set.
#include <gtest/gtest.h>

#include "tests/farm_simulator/judge.h"

namespace hone::sim {
namespace {

TEST(Simulator, TenThousandSeeds) { EXPECT_EQ(JudgeSeeds(10'000), ""); }

}  // namespace
}  // namespace hone::sim
