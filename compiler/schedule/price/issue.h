// What operations on vectors cost one core, and how much an uneven division over threads adds:
// rules that the cost models of all strategies share.
#ifndef HONE_COMPILER_SCHEDULE_PRICE_ISSUE_H_
#define HONE_COMPILER_SCHEDULE_PRICE_ISSUE_H_

#include <algorithm>
#include <cstdint>

#include "compiler/machine/units.h"
#include "compiler/schedule/ceil_div.h"

namespace hone::schedule {

// The cycles that a core takes to issue this many multiply-adds and loads of vectors.
inline double IssueCycles(const machine::IssueRates& issue, double multiply_adds, double loads) {
  return std::max(multiply_adds / issue.multiply_adds_a_cycle, loads / issue.loads_a_cycle);
}

// Cycles that a loop's own instructions, which count and branch, add to each of its steps.
inline constexpr double kLoopCycles = 0.25;

// The cycles of a step whose sums wait for those of the step before it.
inline double StepCycles(const machine::IssueRates& issue, double multiply_adds, double loads) {
  return std::max(IssueCycles(issue, multiply_adds, loads), issue.multiply_add_latency_cycles);
}

// The work of the busiest thread when `shares` equal shares are divided over `threads`, relative to
// an even division; 1: all threads have the same.
inline double LargestPart(int64_t shares, int64_t threads) {
  return static_cast<double>(CeilDiv(shares, threads) * threads) / static_cast<double>(shares);
}

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_ISSUE_H_
