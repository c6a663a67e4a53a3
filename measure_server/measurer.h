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

// An assignment with all that it needs.
struct Job {
  hone::v1::Assignment assignment;
  std::vector<std::shared_ptr<const Artifact>> candidates;
  std::shared_ptr<const Artifact> reference;  // null: no output check
  std::shared_ptr<const Artifact> anchor;     // null: none
  int64_t transfer_ns = 0;                    // how long its artifacts took to arrive
  int reference_fd = -1;                      // the reference's outputs; -1: it has not run
};

// Measures on one device. At the end of a chain is the measurer for the device's kind, and before
// it are decorators (deadline_measurer.h and others), each of which adds one thing.
class Measurer {
 public:
  virtual ~Measurer() = default;
  // Blocks. The result has an entry for each candidate, whatever happens. Only one call runs at a
  // time.
  virtual hone::v1::MeasureResult Measure(const Job& job) = 0;
  // Ends the measurement under this fence at once, as lost, or keeps it from beginning. Does
  // nothing if it has ended. May be called from any thread.
  virtual void Cancel(int64_t fence) = 0;
  // Has a job loaded that Measure may get later; nothing happens if it is loaded already. Returns
  // at once. Not during Measure.
  virtual void LoadAhead(const Job& job) = 0;
  // Ends what is left of a job that was loaded ahead, whether it was measured or not. Not during
  // Measure.
  virtual void Forget(int64_t fence) = 0;
  // Whether the device can measure nothing more.
  virtual bool is_lost() const = 0;
};

// Adds something to the measurer behind it.
class MeasurerDecorator : public Measurer {
 public:
  explicit MeasurerDecorator(std::unique_ptr<Measurer> inner) : inner_(std::move(inner)) {}
  void Cancel(int64_t fence) override { inner_->Cancel(fence); }
  void LoadAhead(const Job& job) override { inner_->LoadAhead(job); }
  void Forget(int64_t fence) override { inner_->Forget(fence); }
  bool is_lost() const override { return inner_->is_lost(); }

 protected:
  Measurer& inner() { return *inner_; }

 private:
  const std::unique_ptr<Measurer> inner_;
};

// Puts into the result which assignment it is for.
void Identify(const hone::v1::Assignment& assignment, hone::v1::MeasureResult* result);

// The result of a job that could not be measured at all.
hone::v1::MeasureResult FailedResult(const hone::v1::Assignment& assignment,
                                     hone::v1::MeasureOutcome outcome, const std::string& message);
// The result of a job that ended with this error. kInvalidArgument means that the workload's
// reference does not run, on any worker; any other error is this worker's fault.
hone::v1::MeasureResult FailedResult(const hone::v1::Assignment& assignment,
                                     const absl::Status& status);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_MEASURER_H_
