// Remembers which workers said that a workload's reference does not run. That ends a job, so one
// worker's word is not enough.
#ifndef HONE_TUNER_FARM_REFERENCE_DOUBTS_H_
#define HONE_TUNER_FARM_REFERENCE_DOUBTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hone/v1/farm.pb.h"
#include "support/clock.h"

namespace hone::tuner {

// Two workers confirm each other only if both say so within an hour. Further apart, each may have
// had a reason of its own (no memory, a full disk). An hour is enough for the next worker that is
// asked, since a measurement takes minutes. Not thread-safe; the clock outlives it.
class ReferenceDoubts {
 public:
  static constexpr int64_t kLongestNs = kHourNs;

  explicit ReferenceDoubts(const Clock* clock) : clock_(clock) {}

  // Notes that the worker says that the workload's reference does not run. Returns whether this is
  // believed now: a second worker says the same, or this one has said it three times, as it can
  // only where there is no other worker to ask. What was said of the workload is then forgotten.
  bool IsBelieved(const std::string& workload_digest, const std::string& worker);
  // Called when the workload's reference ran.
  void Forget(const std::string& workload_digest) { claims_.erase(workload_digest); }

 private:
  struct Claim {
    std::string worker;
    int64_t said_ns = 0;
  };

  const Clock* const clock_;
  std::map<std::string, std::vector<Claim>> claims_;  // by workload, the oldest first
};

// Whether the result proves that the assignment's reference ran: some candidate's outputs were
// compared with it. A candidate that crashed or timed out proves nothing, since it may have done so
// before the comparison.
bool ProvesReference(const hone::v1::Assignment& assignment, const hone::v1::MeasureResult& result);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_REFERENCE_DOUBTS_H_
