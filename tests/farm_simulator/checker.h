// What docs/protocol.md promises, checked on the history of a run: pure functions, one an
// invariant.
#ifndef HONE_TESTS_FARM_SIMULATOR_CHECKER_H_
#define HONE_TESTS_FARM_SIMULATOR_CHECKER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/farm_simulator/event_queue.h"
#include "tests/farm_simulator/history.h"

namespace hone::sim {

// The figures of docs/protocol.md.
struct Bars {
  int64_t grace_ns = 30 * kSecond;
  int64_t overdue_ns = 2 * kSecond;
  int poison_limit = 3;
};

struct Violation {
  std::string_view invariant;  // its name in docs/protocol.md
  size_t event = 0;            // where it shows; the history's size: in the end state
  std::string text;
};

struct Evidence {
  const History& history;
  const EndState& end;
  Bars bars = {};
};

struct Invariant {
  std::string_view name;
  std::vector<Violation> (*check)(const Evidence& evidence);
};

// All of docs/protocol.md's, in its order.
const std::vector<Invariant>& Invariants();

std::vector<Violation> CheckAll(const Evidence& evidence);

// ---- trials and jobs (check_trials.cc) ----
std::vector<Violation> CheckSettleOnce(const Evidence& evidence);
std::vector<Violation> CheckNewestFence(const Evidence& evidence);
std::vector<Violation> CheckAcknowledgedKept(const Evidence& evidence);
std::vector<Violation> CheckEchoes(const Evidence& evidence);
std::vector<Violation> CheckNoBlameWaiting(const Evidence& evidence);
std::vector<Violation> CheckBudgets(const Evidence& evidence);
std::vector<Violation> CheckJobsEnd(const Evidence& evidence);

// ---- leases (check_leases.cc, check_lease_ends.cc) ----
std::vector<Violation> CheckFencesGrow(const Evidence& evidence);
std::vector<Violation> CheckCommitFirst(const Evidence& evidence);
std::vector<Violation> CheckWindows(const Evidence& evidence);
std::vector<Violation> CheckResources(const Evidence& evidence);
std::vector<Violation> CheckLeasesEnd(const Evidence& evidence);

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_CHECKER_H_
