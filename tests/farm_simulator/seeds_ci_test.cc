// HONE_SIM_FIRST moves the seeds: others are tried.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include "tests/farm_simulator/judge.h"

namespace hone::sim {
namespace {

template <typename Predicate>
int64_t CountWhere(const History& history, const Predicate& predicate) {
  return std::count_if(history.begin(), history.end(), predicate);
}

TEST(Simulator, TwoHundredSeeds) {
  const std::string wrong = JudgeSeeds(0, 200);
  EXPECT_TRUE(wrong.empty()) << wrong;
}

// Half of a hundred workers killed, a hundred kills of the daemon, every tenth
// message breaks its stream, and whatever else can go wrong.

TEST(Simulator, EverythingAtOnce) {
  Scenario scenario = ScenarioOf(40);
  scenario.workers = 100;
  scenario.jobs = 30;
  scenario.trials = 200;
  scenario.chaos_ns = 300 * kSecond;
  scenario.runs_loop = false;
  for (int i = 0; i < kFaults; ++i) scenario.faults.insert(static_cast<Fault>(i));
  scenario.daemon_kills = 150;
  scenario.reset_share = 0.1;
  spdlog::set_level(spdlog::level::off);
  const RunOutcome outcome = Simulate(scenario);
  const std::string wrong = Judge(scenario, outcome);
  EXPECT_TRUE(wrong.empty()) << wrong;
  std::map<std::string, int> faults = CountFaults(outcome.history);
  for (int i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (fault == Fault::kPauses) continue;  // with the loop only
    const std::string name(Name(fault));
    std::cout << name << ": " << faults[name] << "\n";
    EXPECT_GT(faults[name], 0) << name;
  }
  EXPECT_GT(CountWhere(outcome.history,
                       [](const Event& event) {
                         return event.what == What::kFault && !event.worker.empty() &&
                                event.text == Name(Fault::kClocks);
                       }),
            0)
      << "a worker's clock is an hour off";
  EXPECT_GE(faults["worker_kills"], scenario.workers / 2);
  EXPECT_GE(faults["daemon_kills"], 100) << "while there was work";
  EXPECT_GT(CountWhere(outcome.history,
                       [](const Event& event) {
                         return event.what == What::kStoreFault && event.number == 1;
                       }),
            0)
      << "the disk is full";
  std::set<int64_t> fences;
  EXPECT_GT(CountWhere(outcome.history,
                       [&](const Event& event) {
                         return event.what == What::kResult && !fences.insert(event.fence).second;
                       }),
            0)
      << "results come twice";
}

TEST(Simulator, JobsArePausedAndComeToTheirEnd) {
  Scenario scenario = ScenarioOf(41);
  scenario.runs_loop = true;
  scenario.jobs = 8;
  scenario.trials = 60;
  for (int i = 0; i < kFaults; ++i) scenario.faults.insert(static_cast<Fault>(i));
  spdlog::set_level(spdlog::level::off);
  const RunOutcome outcome = Simulate(scenario);
  const std::string wrong = Judge(scenario, outcome);
  EXPECT_TRUE(wrong.empty()) << wrong;
  EXPECT_GT(CountFaults(outcome.history)["pauses"], 0);
}

}  // namespace
}  // namespace hone::sim
