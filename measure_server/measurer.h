// Measures what the daemon assigned.
#ifndef HONE_MEASURE_SERVER_MEASURER_H_
#define HONE_MEASURE_SERVER_MEASURER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "hone/v1/farm.pb.h"
#include "measure_server/artifact_cache.h"

namespace hone::measure {

// An assignment with all it needs.
struct Job {
  hone::v1::Assignment assignment;
  std::vector<std::shared_ptr<const Artifact>> candidates;
  std::shared_ptr<const Artifact> reference;  // null: no output check
  std::shared_ptr<const Artifact> anchor;     // null: none
  int64_t transfer_ns = 0;                    // how long its artifacts were on their way
  int reference_fd = -1;                      // what the reference computed; -1: it has not run
};

// One device's way to measure: at the end of a chain the measurer of its kind, before it decorators
// (deadline_measurer.h and others), each of which adds one thing.
class Measurer {
 public:
  virtual ~Measurer() = default;
  // Blocks. The result has an entry for each candidate, whatever happens. It is given one job at a
  // time.
  virtual hone::v1::MeasureResult Measure(const Job& job) = 0;
  // Called from any thread. The measurement under this fence ends at once, as lost, or does not
  // begin. Nothing happens where it has ended.
  virtual void Cancel(int64_t fence) = 0;
  // The device cannot measure any more, whatever comes.
  virtual bool is_lost() const = 0;
};

// Adds something to the measurer behind it.
class MeasurerDecorator : public Measurer {
 public:
  explicit MeasurerDecorator(std::unique_ptr<Measurer> inner) : inner_(std::move(inner)) {}
  void Cancel(int64_t fence) override { inner_->Cancel(fence); }
  bool is_lost() const override { return inner_->is_lost(); }

 protected:
  Measurer& inner() { return *inner_; }

 private:
  const std::unique_ptr<Measurer> inner_;
};

// Says which assignment the result is for, whatever came of measuring it.
void Identify(const hone::v1::Assignment& assignment, hone::v1::MeasureResult* result);

// The result of a job that could not be measured at all.
hone::v1::MeasureResult FailedResult(const hone::v1::Assignment& assignment,
                                     hone::v1::MeasureOutcome outcome, const std::string& message);
// The result of a job that ended with this error. kInvalidArgument says that the workload's
// reference does not run, and another worker would fare no better; any other error is this
// worker's.
hone::v1::MeasureResult FailedResult(const hone::v1::Assignment& assignment,
                                     const absl::Status& status);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_MEASURER_H_
