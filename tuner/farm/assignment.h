// Makes the assignment that tells a device what to measure, and checks a result against it.
#ifndef HONE_TUNER_FARM_ASSIGNMENT_H_
#define HONE_TUNER_FARM_ASSIGNMENT_H_

#include <cstdint>
#include <string>

#include "hone/v1/farm.pb.h"
#include "tuner/measurer.h"

namespace hone::tuner {

// How long a device may take for the request: the limits of the candidates' runs in all rounds, of
// the reference and of the anchor, plus `slack_ns` for everything else.
int64_t LeaseLimitNs(const MeasureRequest& request, int64_t slack_ns);

// `leased` is the trial with its lease.
hone::v1::Assignment ToAssignment(const MeasureRequest& request, const tuning_db::Trial& leased,
                                  const std::string& device, int64_t limit_ns);

// The parts of the assignment that a result repeats, which are stored with the lease.
tuning_db::Assigned ToAssigned(const MeasureRequest& request);
// The assignment as far as it was stored with the lease, to compare a result with.
hone::v1::Assignment FromLease(const tuning_db::Trial& leased);

// The first difference between the result and its assignment (what was expected and what was
// found), or "". `device` is the session's device, or nullptr if the session no longer has it.
// `held_ns` is the longest time for which the worker can have measured: the time since it was
// offered the lease, or, if an earlier life of the daemon offered it, the limit of the lease.
std::string FirstDifference(const hone::v1::Assignment& assignment, const hone::v1::Device* device,
                            uint32_t protocol, int64_t held_ns,
                            const hone::v1::MeasureResult& result);

// Why the result says nothing about its candidates, since the device failed; "" if it does.
std::string WhyLost(const hone::v1::MeasureResult& result);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_ASSIGNMENT_H_
