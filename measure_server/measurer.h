// Measures what the daemon assigned.
#ifndef HONE_MEASURE_SERVER_MEASURER_H_
#define HONE_MEASURE_SERVER_MEASURER_H_

#include <memory>
#include <string>
#include <vector>

#include "hone/v1/farm.pb.h"
#include "measure_server/anchor_times.h"
#include "measure_server/artifact_cache.h"
#include "measure_server/reference_cache.h"
#include "measure_server/zygote.h"
#include "support/clock.h"

namespace hone::measure {

// An assignment with all it needs.
struct Job {
  hone::v1::Assignment assignment;
  std::vector<std::shared_ptr<const Artifact>> candidates;
  std::shared_ptr<const Artifact> reference;  // null: no output check
  std::shared_ptr<const Artifact> anchor;     // null: none
  int64_t transfer_ns = 0;                    // how long its artifacts were on their way
};

class Measurer {
 public:
  virtual ~Measurer() = default;
  // Blocks. An entry for each candidate.
  virtual hone::v1::MeasureResult Measure(const Job& job) = 0;
};

// On this machine's cores. Not thread-safe.
class CpuMeasurer : public Measurer {
 public:
  CpuMeasurer(CandidateRunner* runner, hone::v1::Device device, uint64_t reference_cache_bytes,
              const Clock* clock)
      : runner_(runner),
        references_(runner, reference_cache_bytes),
        device_(std::move(device)),
        clock_(clock) {}

  hone::v1::MeasureResult Measure(const Job& job) override;
  // The runner is gone for good: the worker should leave.
  bool is_lost() const { return is_lost_; }

 private:
  // kInvalidArgument: the reference does not run; any other error is of this worker.
  absl::StatusOr<hone::v1::MeasureResult> Run(const Job& job);
  // -1: the job has none.
  absl::StatusOr<int> Reference(const Job& job);

  CandidateRunner* const runner_;
  ReferenceCache references_;
  AnchorTimes anchors_;
  const hone::v1::Device device_;
  const Clock* const clock_;
  bool is_lost_ = false;
};

// The result of a job that could not be measured at all.
hone::v1::MeasureResult FailedResult(const hone::v1::Assignment& assignment,
                                     hone::v1::MeasureOutcome outcome, const std::string& message);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_MEASURER_H_
