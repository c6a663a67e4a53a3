// What a device is told to measure, and whether a result is of that.
#ifndef HONE_TUNER_FARM_ASSIGNMENT_H_
#define HONE_TUNER_FARM_ASSIGNMENT_H_

#include <cstdint>
#include <string>

#include "hone/v1/farm.pb.h"
#include "tuner/measurer.h"

namespace hone::tuner {

// How long a device may run the request: each candidate for as long as its runs may (which counts
// its rounds), the reference and the anchor likewise, and `slack_ns` for what is around them.
int64_t LeaseLimitNs(const MeasureRequest& request, int64_t slack_ns);

// `leased` is the trial as its lease left it.
hone::v1::Assignment ToAssignment(const MeasureRequest& request, const tuning_db::Trial& leased,
                                  const std::string& device, int64_t limit_ns);

// What the lease of such an assignment keeps: the parts that a result repeats.
tuning_db::Assigned ToAssigned(const MeasureRequest& request);
// The assignment as far as its lease has kept it, which a result is compared with.
hone::v1::Assignment FromLease(const tuning_db::Trial& leased);

// Empty, or the first thing that the result says otherwise than it was assigned: expected and
// found. `device` is the session's; nullptr: it has none of that name any more. `held_ns`: for how
// long its worker can have measured: since it was offered the lease, or, where another life of the
// daemon offered it, for as long as the lease allows.
std::string FirstDifference(const hone::v1::Assignment& assignment, const hone::v1::Device* device,
                            uint32_t protocol, int64_t held_ns,
                            const hone::v1::MeasureResult& result);

// Empty, or why the result says nothing about its candidates: the device failed.
std::string WhyLost(const hone::v1::MeasureResult& result);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_ASSIGNMENT_H_
