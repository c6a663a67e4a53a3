// Runs a scenario and says what is wrong with it, so that a person can repeat it.
#ifndef HONE_TESTS_FARM_SIMULATOR_JUDGE_H_
#define HONE_TESTS_FARM_SIMULATOR_JUDGE_H_

#include <cstdint>
#include <map>
#include <string>

#include "tests/farm_simulator/checker.h"
#include "tests/farm_simulator/farm.h"

namespace hone::sim {

// Empty: every invariant holds. Otherwise the violations, each with what led to it.
std::string Judge(const Scenario& scenario, const RunOutcome& outcome);

// The same of a fresh run. Where it is not empty, the scenario is made smaller while it still shows
// the first violation, and the text ends with the command that repeats it.
std::string JudgeSeed(uint64_t seed);
std::string JudgeScenario(const Scenario& scenario);
// `count` seeds from `first` on, moved by HONE_SIM_FIRST where that is set: what is wrong with the
// first few of those that are not empty, and which others there are.
std::string JudgeSeeds(int first, int count);

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_JUDGE_H_
