// How a trial of a search is timed.
#ifndef HONE_TUNER_TRIAL_TIMING_H_
#define HONE_TUNER_TRIAL_TIMING_H_

#include <cstdint>
#include <string>

#include "hone/v1/farm.pb.h"

namespace hone::tuner {

// The timing plan of a trial in this regime (tuner/jobs/regime.h). Copies of the kernel's constants
// fill `rotation_bytes`.
inline hone::v1::TimingPlan TrialTiming(const std::string& regime, int64_t rotation_bytes) {
  hone::v1::TimingPlan timing;
  timing.set_chunk_ns(1'000'000);
  timing.set_regime(regime);
  timing.set_rotation_bytes(static_cast<uint64_t>(rotation_bytes));
  timing.set_min_chunks(10);
  timing.set_max_chunks(40);
  timing.set_warmup_ns(1'000'000);
  return timing;
}

}  // namespace hone::tuner

#endif  // HONE_TUNER_TRIAL_TIMING_H_
