#include "tests/farm_simulator/judge.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::sim {
namespace {

constexpr size_t kShown = 3;  // violations
constexpr int kShownSeeds = 3;
constexpr size_t kLines = 40;  // of the history, each
// How long a scenario is made smaller: its violation is to be shown before a test's time is over.
constexpr std::chrono::seconds kShrinkFor(60);

std::vector<Violation> Violations(const RunOutcome& outcome) {
  return CheckAll({outcome.history, outcome.end});
}

bool Shows(const Scenario& scenario, std::string_view invariant) {
  const std::vector<Violation> found = Violations(Simulate(scenario));
  return std::any_of(found.begin(), found.end(),
                     [&](const Violation& violation) { return violation.invariant == invariant; });
}

// Fewer faults, workers, jobs and trials, as long as the invariant is violated.
Scenario Shrink(Scenario scenario, std::string_view invariant) {
  const auto end = std::chrono::steady_clock::now() + kShrinkFor;
  const auto try_one = [&](const Scenario& smaller) {
    if (std::chrono::steady_clock::now() < end && Shows(smaller, invariant)) scenario = smaller;
  };
  for (const Fault fault : std::set<Fault>(scenario.faults)) {
    Scenario smaller = scenario;
    smaller.faults.erase(fault);
    try_one(smaller);
  }
  for (int Scenario::* const size : {&Scenario::jobs, &Scenario::workers, &Scenario::trials}) {
    for (int divisor : {4, 2}) {
      Scenario smaller = scenario;
      smaller.*size = std::max(1, scenario.*size / divisor);
      if (smaller.*size != scenario.*size) try_one(smaller);
    }
  }
  return scenario;
}

}  // namespace

std::string Judge(const Scenario& scenario, const RunOutcome& outcome) {
  const std::vector<Violation> found = Violations(outcome);
  std::string text;
  std::string_view shown;
  size_t count = 0;
  for (const Violation& violation : found) {
    // One of each kind is enough to begin with.
    if (violation.invariant == shown || ++count > kShown) continue;
    shown = violation.invariant;
    text += fmt::format("{}: {}\n", violation.invariant, violation.text);
    if (violation.event < outcome.history.size()) {
      text += Excerpt(outcome.history, violation.event, kLines);
    }
  }
  if (text.empty()) return text;
  return fmt::format("{} violations with {}\n{}", found.size(), ToText(scenario), text);
}

std::string JudgeSeed(uint64_t seed) { return JudgeScenario(ScenarioOf(seed)); }

std::string JudgeScenario(const Scenario& scenario) {
  spdlog::set_level(spdlog::level::off);
  const RunOutcome outcome = Simulate(scenario);
  const std::vector<Violation> found = Violations(outcome);
  if (found.empty()) return "";
  const Scenario smaller = Shrink(scenario, found[0].invariant);
  return fmt::format(
      "{}\nmade smaller:\n{}\nHONE_SIM='{}' "
      "build/release/tests/farm_simulator_test --gtest_filter=Simulator.OneScenario",
      Judge(scenario, outcome), Judge(smaller, Simulate(smaller)), ToText(smaller));
}

std::string JudgeSeeds(int first, int count) {
  const char* const moved = std::getenv("HONE_SIM_FIRST");
  const uint64_t begin = static_cast<uint64_t>(first) + (moved == nullptr ? 0 : std::stoull(moved));
  std::string text;
  int failed = 0;
  for (uint64_t seed = begin; seed < begin + static_cast<uint64_t>(count); ++seed) {
    if (failed < kShownSeeds) {
      const std::string wrong = JudgeSeed(seed);
      if (wrong.empty()) continue;
      text += fmt::format("seed {}: {}\n", seed, wrong);
    } else if (Violations(Simulate(ScenarioOf(seed))).empty()) {
      continue;
    } else {
      text += fmt::format("seed {} fails, too\n", seed);
    }
    ++failed;
  }
  if (failed > 0) text += fmt::format("{} of {} seeds failed\n", failed, count);
  return text;
}

}  // namespace hone::sim
