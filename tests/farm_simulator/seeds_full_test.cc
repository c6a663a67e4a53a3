// HONE_SIM_FIRST moves the seeds: others are tried.
#include <gtest/gtest.h>

#include <string>

#include "tests/farm_simulator/judge.h"

namespace hone::sim {
namespace {

// Ten thousand in all; each thousand takes about a minute.
class ManySeeds : public testing::TestWithParam<int> {};

TEST_P(ManySeeds, KeepEveryInvariant) {
  const std::string wrong = JudgeSeeds(1000 * GetParam(), 1000);
  EXPECT_TRUE(wrong.empty()) << wrong;
}

INSTANTIATE_TEST_SUITE_P(Thousand, ManySeeds, testing::Range(0, 10));

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
  const std::string wrong = JudgeScenario(scenario);
  EXPECT_TRUE(wrong.empty()) << wrong;
}

}  // namespace
}  // namespace hone::sim
