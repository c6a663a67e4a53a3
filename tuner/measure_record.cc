#include "tuner/measure_record.h"

#include <algorithm>

namespace hone::tuner {

using tuning_db::Outcome;

Outcome ToOutcome(hone::v1::MeasureOutcome outcome) {
  switch (outcome) {
    case hone::v1::MEASURE_OUTCOME_OK:
      return Outcome::kOk;
    case hone::v1::MEASURE_OUTCOME_LOAD_ERROR:
      return Outcome::kLoadError;
    case hone::v1::MEASURE_OUTCOME_CRASH:
      return Outcome::kCrash;
    case hone::v1::MEASURE_OUTCOME_RUN_TIMEOUT:
      return Outcome::kRunTimeout;
    case hone::v1::MEASURE_OUTCOME_WRONG_OUTPUT:
      return Outcome::kWrongOutput;
    case hone::v1::MEASURE_OUTCOME_OUT_OF_MEMORY:
      return Outcome::kOutOfMemory;
    default:
      return Outcome::kDeviceLost;
  }
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (upper +
          *std::max_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(middle))) /
         2;
}

tuning_db::Record ToRecord(int64_t trial, const hone::v1::CandidateResult& result) {
  tuning_db::Record record;
  record.trial = trial;
  record.outcome = ToOutcome(result.outcome());
  record.message = result.message();
  record.samples_ns.assign(result.samples_ns().begin(), result.samples_ns().end());
  if (record.outcome == Outcome::kOk) record.median_ns = Median(record.samples_ns);
  if (record.outcome == Outcome::kOk && !(record.median_ns > 0)) {
    record.outcome = Outcome::kRunTimeout;
    record.median_ns = 0;
    record.message = "the worker reported no clean sample of a run that succeeded";
  }
  record.calibrator_ns = Median({result.calibrator_ns().begin(), result.calibrator_ns().end()});
  record.error_ratio = result.error_ratio();
  record.regime = result.regime();
  return record;
}

}  // namespace hone::tuner
