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

// For how long a worker has had what an earlier life of the daemon assigned: nobody knows.
inline constexpr int64_t kUnknownNs = int64_t{1} << 60;

// Empty, or the first thing that the result says otherwise than it was assigned: expected and
// found. `device` is the session's; nullptr: it has none of that name any more. `held_ns`: for how
// long its worker has had the assignment; an assignment from before a restart (without candidates)
// is compared as far as it is known.
std::string FirstDifference(const hone::v1::Assignment& assignment, const hone::v1::Device* device,
                            uint32_t protocol, int64_t held_ns,
                            const hone::v1::MeasureResult& result);

// Empty, or why the result says nothing about its candidates: the device failed.
std::string WhyLost(const hone::v1::MeasureResult& result);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_ASSIGNMENT_H_
