// Converts what a worker reports of a measurement into records of the tuning database.
#ifndef HONE_TUNER_MEASURE_RECORD_H_
#define HONE_TUNER_MEASURE_RECORD_H_

#include <string>

#include "hone/v1/farm.pb.h"
#include "tuning_db/types.h"

namespace hone::tuner {

// A candidate that was not measured because there was no reference to check it against is
// kCancelled: the candidate is not to blame.
tuning_db::Outcome ToOutcome(hone::v1::MeasureOutcome outcome);

// The record of `trial`, filled with what the result of its candidate says. The caller fills in
// worker, device, wall time and the anchor's time.
tuning_db::Record ToRecord(int64_t trial, const hone::v1::CandidateResult& result);
// The whole record of the first candidate of `result`, which `worker` measured and which is settled
// at `wall_time_ns`.
tuning_db::Record ToRecord(const hone::v1::MeasureResult& result, const std::string& worker,
                           int64_t wall_time_ns);
// The whole record of a calibration, whose second candidate, if there is one, is its anchor.
tuning_db::Record ToCalibration(const hone::v1::MeasureResult& result, const std::string& worker,
                                int64_t wall_time_ns);

}  // namespace hone::tuner

#endif  // HONE_TUNER_MEASURE_RECORD_H_
