// Who said of which workload that its reference does not run. A job ends by that, so one worker's
// word is not enough.
#ifndef HONE_TUNER_FARM_REFERENCE_DOUBTS_H_
#define HONE_TUNER_FARM_REFERENCE_DOUBTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hone/v1/farm.pb.h"
#include "support/clock.h"

namespace hone::tuner {

// What one worker says now and another said long ago, each may have had a reason of its own to say
// (no memory, a full disk): they are witnesses of one fact only where both say it within an hour.
// Whoever is asked next says it within that, for a measurement takes minutes. Not thread-safe; the
// clock outlives it.
class ReferenceDoubts {
 public:
  static constexpr int64_t kLongestNs = kHourNs;

  explicit ReferenceDoubts(const Clock* clock) : clock_(clock) {}

  // The worker says so once more. True: it is believed, since a second worker says the same, or it
  // was said three times where nobody else is asked; and the workload is forgotten.
  bool IsBelieved(const std::string& workload_digest, const std::string& worker);
  // A reference that ran.
  void Forget(const std::string& workload_digest) { claims_.erase(workload_digest); }

 private:
  struct Claim {
    std::string worker;
    int64_t said_ns = 0;
  };

  const Clock* const clock_;
  std::map<std::string, std::vector<Claim>> claims_;  // by workload, the oldest first
};

// Whether the reference of the assignment ran, by what its result says: a candidate's outputs were
// compared with it. A candidate that crashed or timed out may have done so before.
bool ProvesReference(const hone::v1::Assignment& assignment, const hone::v1::MeasureResult& result);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_REFERENCE_DOUBTS_H_
