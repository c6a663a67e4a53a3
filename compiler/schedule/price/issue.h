// What operations on vectors cost one core, and what threads make of it: the rules of issue that
// prices of all strategies share.
#ifndef HONE_COMPILER_SCHEDULE_PRICE_ISSUE_H_
#define HONE_COMPILER_SCHEDULE_PRICE_ISSUE_H_

#include <algorithm>
#include <cstdint>

#include "compiler/machine/units.h"
#include "compiler/schedule/ceil_div.h"

namespace hone::schedule {

// The cycles in which a core begins so many multiply-adds and so many loads of vectors.
inline double IssueCycles(const machine::IssueRates& issue, double multiply_adds, double loads) {
  return std::max(multiply_adds / issue.multiply_adds_a_cycle, loads / issue.loads_a_cycle);
}

// Cycles that the instructions of a loop itself take of each of its steps.
inline constexpr double kLoopCycles = 0.25;

// The cycles of a step whose sums wait for those of the step before it.
inline double StepCycles(const machine::IssueRates& issue, double multiply_adds, double loads) {
  return std::max(IssueCycles(issue, multiply_adds, loads), issue.multiply_add_latency_cycles);
}

// What the threads that have most to do of so many equal shares have, over a fair part of them.
inline double LargestPart(int64_t shares, int64_t threads) {
  return static_cast<double>(CeilDiv(shares, threads) * threads) / static_cast<double>(shares);
}

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_ISSUE_H_
