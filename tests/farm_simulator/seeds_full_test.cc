// HONE_SIM_FIRST: the first seed, 0 where it is not set.
#include <gtest/gtest.h>

#include "tests/farm_simulator/judge.h"

namespace hone::sim {
namespace {

TEST(Simulator, TenThousandSeeds) { EXPECT_EQ(JudgeSeeds(10'000), ""); }

TEST(Simulator, TwoThousandWorkers) {
  Scenario scenario = ScenarioOf(41);
  scenario.workers = 2000;
  scenario.jobs = 2;
  scenario.trials = 2000;
  scenario.runs_loop = false;
  scenario.faults = {Fault::kWorkerKills, Fault::kResets, Fault::kDaemonKills};
  scenario.daemon_kills = 3;
  scenario.reset_share = 0.001;
  scenario.chaos_ns = 20 * kSecond;
  EXPECT_EQ(JudgeScenario(scenario), "");
}

}  // namespace
}  // namespace hone::sim
