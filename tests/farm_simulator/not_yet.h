// What docs/protocol.md promises and the daemon does not keep yet. To be emptied.
#ifndef HONE_TESTS_FARM_SIMULATOR_NOT_YET_H_
#define HONE_TESTS_FARM_SIMULATOR_NOT_YET_H_

#include <string_view>
#include <vector>

#include "tests/farm_simulator/scenario.h"

namespace hone::sim {

// The invariant may be violated in scenarios with this fault.
struct NotYet {
  std::string_view invariant;
  Fault fault;
  std::string_view why;
};

inline const std::vector<NotYet> kNotYet = {
    {"echo-checked", Fault::kLies,
     "seeds 5, 43, 50: of a lease from before a restart the store keeps neither the artifact nor "
     "the "
     "toolchain, the regime and the time that were assigned, so that a lie about them is taken"},
    {"budget-exact", Fault::kCancels,
     "seed 43: DirectJobs forgets over a restart that it was cancelling a job"},
};

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_NOT_YET_H_
