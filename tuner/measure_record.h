// From what a worker reports to what the tuning database keeps.
#ifndef HONE_TUNER_MEASURE_RECORD_H_
#define HONE_TUNER_MEASURE_RECORD_H_

#include <vector>

#include "hone/v1/farm.pb.h"
#include "tuning_db/types.h"

namespace hone::tuner {

tuning_db::Outcome ToOutcome(hone::v1::MeasureOutcome outcome);

// 0 for no values.
double Median(std::vector<double> values);

// The record of `trial`. The artifact's digest and the wall time are the caller's to fill.
tuning_db::Record ToRecord(int64_t trial, const hone::v1::CandidateResult& result);

}  // namespace hone::tuner

#endif  // HONE_TUNER_MEASURE_RECORD_H_
