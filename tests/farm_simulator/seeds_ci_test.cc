// HONE_SIM_FIRST: the first seed, 0 where it is not set.
#include <gtest/gtest.h>

#include "tests/farm_simulator/judge.h"

namespace hone::sim {
namespace {

TEST(Simulator, TwoHundredSeeds) { EXPECT_EQ(JudgeSeeds(200), ""); }

TEST(Simulator, EverythingAtOnce) {
  Scenario scenario = ScenarioOf(40);
  scenario.workers = 100;
  scenario.jobs = 3;
  scenario.trials = 300;
  scenario.runs_loop = false;
  for (int i = 0; i < kFaults; ++i) scenario.faults.insert(static_cast<Fault>(i));
  scenario.daemon_kills = 100;
  scenario.reset_share = 0.1;
  EXPECT_EQ(JudgeScenario(scenario), "");
}

}  // namespace
}  // namespace hone::sim
