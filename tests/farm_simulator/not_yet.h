// What docs/protocol.md promises and today's daemon does not keep. To be emptied.
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
    {"echo-checked", Fault::kLies, "what a worker says of itself is stored as it is"},
    {"no-blame-waiting", Fault::kResets, "strikes hit the lease that was offered first"},
    {"no-blame-waiting", Fault::kBlackHoles, "likewise"},
    {"no-blame-waiting", Fault::kWorkerKills, "likewise"},
    {"no-blame-waiting", Fault::kStragglers, "likewise"},
    {"no-blame-waiting", Fault::kDrains, "likewise"},
    {"no-blame-waiting", Fault::kHangs, "likewise"},
    {"no-blame-waiting", Fault::kTwins,
     "likewise; a second worker of a name ends the first's leases"},
    {"no-blame-waiting", Fault::kDevices, "a trial is blamed for a device that is not there"},
    {"no-blame-waiting", Fault::kLies, "seed 2567: a trial that ran twice is given up"},
    {"lease-ends", Fault::kLies, "a lease gets its time anew when another of its device ends"},
    {"lease-ends", Fault::kBlackHoles, "likewise"},
    {"job-ends", Fault::kCancels, "trials of a cancelled job settle after its terminal event"},
};

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_NOT_YET_H_
