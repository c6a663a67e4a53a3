#include "tests/farm_simulator/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

namespace hone::sim {
namespace {

constexpr std::array<std::string_view, kFaults> kNames = {
    "worker_kills", "daemon_kills", "resets",  "black_holes", "stragglers", "clocks",
    "hangs",        "lies",         "storage", "devices",     "drains",     "lethal",
    "twins",        "cancels",      "pauses",  "duplicates",  "busy_store"};

std::optional<Fault> ParseFault(std::string_view name) {
  const auto* const it = std::find(kNames.begin(), kNames.end(), name);
  if (it == kNames.end()) return std::nullopt;
  return static_cast<Fault>(it - kNames.begin());
}

}  // namespace

std::string_view Name(Fault fault) { return kNames.at(static_cast<size_t>(fault)); }

Scenario ScenarioOf(uint64_t seed) {
  Random random(seed ^ 0x5eedu);
  Scenario scenario;
  scenario.seed = seed;
  // Most are small, so that there are many; some are as large as a farm.
  scenario.workers = static_cast<int>(random.Below(8) == 0 ? 100 : 3 + random.Below(20));
  scenario.jobs = static_cast<int>(1 + random.Below(3));
  scenario.trials = static_cast<int>(20 + random.Below(100));
  scenario.runs_loop = random.Below(4) == 0;
  const auto draw = [&](Fault fault) {
    if (random.Below(10) < 4) scenario.faults.insert(fault);
  };
  for (int i = 0; i < static_cast<int>(Fault::kPauses); ++i) draw(static_cast<Fault>(i));
  scenario.daemon_kills = static_cast<int>(1 + random.Below(6));
  scenario.reset_share = 0.002 + 0.05 * random.Uniform();
  // Drawn last, so that each seed of before they were known is otherwise as it was.
  for (const Fault fault : {Fault::kPauses, Fault::kDuplicates, Fault::kBusyStore}) draw(fault);
  return scenario;
}

std::string ToText(const Scenario& scenario) {
  std::vector<std::string_view> names;
  for (const Fault fault : scenario.faults) names.push_back(Name(fault));
  return fmt::format("seed={} workers={} jobs={} trials={} loop={} kills={} resets={} faults={}",
                     scenario.seed, scenario.workers, scenario.jobs, scenario.trials,
                     scenario.runs_loop ? 1 : 0, scenario.daemon_kills, scenario.reset_share,
                     fmt::join(names, ","));
}

std::optional<Scenario> ParseScenario(const std::string& text) {
  Scenario scenario;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return std::nullopt;
    const std::string name = word.substr(0, equals);
    std::istringstream value(word.substr(equals + 1));
    if (name == "seed") {
      value >> scenario.seed;
      scenario = ScenarioOf(scenario.seed);
    } else if (name == "workers") {
      value >> scenario.workers;
    } else if (name == "jobs") {
      value >> scenario.jobs;
    } else if (name == "trials") {
      value >> scenario.trials;
    } else if (name == "loop") {
      value >> scenario.runs_loop;
    } else if (name == "kills") {
      value >> scenario.daemon_kills;
    } else if (name == "resets") {
      value >> scenario.reset_share;
    } else if (name == "faults") {
      scenario.faults.clear();
      for (std::string fault; std::getline(value, fault, ',');) {
        const std::optional<Fault> parsed = ParseFault(fault);
        if (!parsed) return std::nullopt;
        scenario.faults.insert(*parsed);
      }
    } else {
      return std::nullopt;
    }
  }
  return scenario;
}

}  // namespace hone::sim
