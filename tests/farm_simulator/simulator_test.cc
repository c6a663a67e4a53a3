#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "tests/farm_simulator/judge.h"

namespace hone::sim {
namespace {

TEST(Simulator, TwoRunsOfAScenarioAreTheSame) {
  const Scenario scenario = ScenarioOf(3);
  const RunOutcome first = Simulate(scenario);
  const RunOutcome second = Simulate(scenario);
  ASSERT_EQ(first.history.size(), second.history.size());
  for (size_t i = 0; i < first.history.size(); ++i) {
    ASSERT_EQ(ToText(first.history[i]), ToText(second.history[i]));
  }
}

TEST(Simulator, ASoundFarmKeepsEveryInvariant) {
  for (const bool runs_loop : {false, true}) {
    Scenario scenario{.seed = 1};
    scenario.runs_loop = runs_loop;
    const RunOutcome outcome = Simulate(scenario);
    EXPECT_EQ(Judge(scenario, outcome), "");
    EXPECT_GT(outcome.end.records.size(), 40u);
  }
}

TEST(Simulator, ScenariosAreTextAndBack) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::string text = ToText(ScenarioOf(seed));
    const std::optional<Scenario> parsed = ParseScenario(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(ToText(*parsed), text);
  }
  EXPECT_FALSE(ParseScenario("faults=no_such_fault"));
  EXPECT_FALSE(ParseScenario("seed"));
}

// HONE_SIM holds a scenario, as a failed one printed it. HONE_SIM_HISTORY names a file for all that
// happened in it.
TEST(Simulator, OneScenario) {
  const char* const text = std::getenv("HONE_SIM");
  if (text == nullptr) GTEST_SKIP() << "HONE_SIM is not set";
  const std::optional<Scenario> scenario = ParseScenario(text);
  ASSERT_TRUE(scenario) << text;
  const RunOutcome outcome = Simulate(*scenario);
  if (const char* const path = std::getenv("HONE_SIM_HISTORY")) {
    std::ofstream file(path);
    for (const Event& event : outcome.history) file << ToText(event) << '\n';
  }
  EXPECT_EQ(Judge(*scenario, outcome), "");
}

TEST(Simulator, TenSeeds) {
  for (uint64_t seed = 0; seed < 10; ++seed) EXPECT_EQ(JudgeSeed(seed), "");
}

}  // namespace
}  // namespace hone::sim
