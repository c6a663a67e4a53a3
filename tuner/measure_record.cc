#include "tuner/measure_record.h"

#include <algorithm>
#include <iterator>

#include "support/median.h"

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
    case hone::v1::MEASURE_OUTCOME_NO_REFERENCE:
      return Outcome::kCancelled;
    default:
      return Outcome::kDeviceLost;
  }
}

namespace {

// A worker may say what it likes; a list of records shows a line each. Whole characters of UTF-8.
std::string Shortened(const std::string& message) {
  constexpr size_t kMostBytes = 4096;
  if (message.size() <= kMostBytes) return message;
  size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;
  return message.substr(0, end) + "...";
}

}  // namespace

tuning_db::Record ToRecord(int64_t trial, const hone::v1::CandidateResult& result) {
  tuning_db::Record record;
  record.trial = trial;
  record.outcome = ToOutcome(result.outcome());
  record.message = Shortened(result.message());
  // A final has no number where a round has no time.
  std::copy_if(result.samples_ns().begin(), result.samples_ns().end(),
               std::back_inserter(record.samples_ns), [](double sample) { return sample > 0; });
  if (record.outcome == Outcome::kOk) record.median_ns = Median(record.samples_ns);
  if (record.outcome == Outcome::kOk && !(record.median_ns > 0)) {
    record.outcome = Outcome::kRunTimeout;
    record.median_ns = 0;
    record.message = "the worker reported no clean sample of a run that succeeded";
  }
  record.calibrator_ns = Median({result.calibrator_ns().begin(), result.calibrator_ns().end()});
  record.error_ratio = result.error_ratio();
  record.regime = result.regime();
  record.artifact_digest = result.artifact_digest();
  record.toolchain = result.toolchain();
  return record;
}

tuning_db::Record ToRecord(const hone::v1::MeasureResult& result, const std::string& worker,
                           int64_t wall_time_ns) {
  tuning_db::Record record = ToRecord(result.trial(), result.candidates(0));
  record.anchor_ns = result.anchor_ns();
  record.device = result.device_fingerprint();
  record.worker = worker;
  record.wall_time_ns = wall_time_ns;
  return record;
}

namespace {

// The median over the rounds that both have, 0 if there is none.
double RatioInRounds(const hone::v1::CandidateResult& candidate,
                     const hone::v1::CandidateResult& anchor) {
  std::vector<double> ratios;
  const int rounds = std::min(candidate.samples_ns_size(), anchor.samples_ns_size());
  for (int round = 0; round < rounds; ++round) {
    const double ratio = candidate.samples_ns(round) / anchor.samples_ns(round);
    if (ratio > 0) ratios.push_back(ratio);  // no NaN
  }
  return Median(std::move(ratios));
}

}  // namespace

tuning_db::Record ToCalibration(const hone::v1::MeasureResult& result, const std::string& worker,
                                int64_t wall_time_ns) {
  tuning_db::Record record = ToRecord(result, worker, wall_time_ns);
  if (record.outcome != Outcome::kOk || result.candidates_size() < 2) return record;
  const double ratio = RatioInRounds(result.candidates(0), result.candidates(1));
  if (ratio > 0) record.anchor_ns = record.median_ns / ratio;
  return record;
}

}  // namespace hone::tuner
