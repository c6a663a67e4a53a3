#include "tests/farm_simulator/judge.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tests/farm_simulator/not_yet.h"

namespace hone::sim {
namespace {

constexpr size_t kShown = 3;   // violations
constexpr size_t kLines = 40;  // of the history, each

bool IsExcused(const Scenario& scenario, std::string_view invariant) {
  return std::any_of(kNotYet.begin(), kNotYet.end(), [&](const NotYet& known) {
    return known.invariant == invariant && scenario.Has(known.fault);
  });
}

std::vector<Violation> Violations(const Scenario& scenario, const Outcome& outcome) {
  std::vector<Violation> found = CheckAll({outcome.history, outcome.end});
  std::erase_if(
      found, [&](const Violation& violation) { return IsExcused(scenario, violation.invariant); });
  return found;
}

bool Shows(const Scenario& scenario, std::string_view invariant) {
  const std::vector<Violation> found = Violations(scenario, Simulate(scenario));
  return std::any_of(found.begin(), found.end(),
                     [&](const Violation& violation) { return violation.invariant == invariant; });
}

// Fewer faults, workers, jobs and trials, as long as the invariant is violated.
Scenario Shrink(Scenario scenario, std::string_view invariant) {
  const auto try_one = [&](const Scenario& smaller) {
    if (Shows(smaller, invariant)) scenario = smaller;
  };
  for (const Fault fault : std::set<Fault>(scenario.faults)) {
    Scenario smaller = scenario;
    smaller.faults.erase(fault);
    try_one(smaller);
  }
  for (int* const size : {&scenario.jobs, &scenario.workers, &scenario.trials}) {
    for (int divisor : {4, 2}) {
      const int before = *size;
      *size = std::max(1, before / divisor);
      if (*size == before || !Shows(scenario, invariant)) *size = before;
    }
  }
  return scenario;
}

}  // namespace

std::string Judge(const Scenario& scenario, const Outcome& outcome) {
  const std::vector<Violation> found = Violations(scenario, outcome);
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
  const Outcome outcome = Simulate(scenario);
  const std::vector<Violation> found = Violations(scenario, outcome);
  if (found.empty()) return "";
  const Scenario smaller = Shrink(scenario, found[0].invariant);
  return fmt::format(
      "{}\nmade smaller:\n{}\nHONE_SIM='{}' "
      "build/release/tests/farm_simulator_test --gtest_filter=Simulator.OneScenario",
      Judge(scenario, outcome), Judge(smaller, Simulate(smaller)), ToText(smaller));
}

std::string JudgeSeeds(int count) {
  const char* const first = std::getenv("HONE_SIM_FIRST");
  const uint64_t begin = first == nullptr ? 0 : std::stoull(first);
  std::string text;
  int failed = 0;
  for (uint64_t seed = begin; seed < begin + static_cast<uint64_t>(count); ++seed) {
    const std::string wrong = JudgeSeed(seed);
    if (wrong.empty()) continue;
    if (++failed <= 3) text += fmt::format("seed {}: {}\n", seed, wrong);
  }
  if (failed > 0) text += fmt::format("{} of {} seeds failed\n", failed, count);
  return text;
}

}  // namespace hone::sim
