#include "tests/farm_simulator/checker.h"

namespace hone::sim {

const std::vector<Invariant>& Invariants() {
  static const std::vector<Invariant> invariants = {
      {"settle-once", CheckSettleOnce},
      {"fence-grows", CheckFencesGrow},
      {"newest-fence", CheckNewestFence},
      {"acknowledged-kept", CheckAcknowledgedKept},
      {"commit-first", CheckCommitFirst},
      {"window-kept", CheckWindows},
      {"one-a-resource", CheckResources},
      {"lease-ends", CheckLeasesEnd},
      {"budget-exact", CheckBudgets},
      {"job-ends", CheckJobsEnd},
      {"no-blame-waiting", CheckNoBlameWaiting},
      {"echo-checked", CheckEchoes},
  };
  return invariants;
}

std::vector<Violation> CheckAll(const Evidence& evidence) {
  std::vector<Violation> all;
  for (const Invariant& invariant : Invariants()) {
    for (Violation& violation : invariant.check(evidence)) {
      violation.invariant = invariant.name;
      all.push_back(std::move(violation));
    }
  }
  return all;
}

}  // namespace hone::sim
