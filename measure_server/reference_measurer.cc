#include "measure_server/reference_measurer.h"

namespace hone::measure {

hone::v1::MeasureResult ReferenceMeasurer::Measure(const Job& job) {
  if (job.reference == nullptr) return inner().Measure(job);
  const hone::v1::Assignment& assignment = job.assignment;
  const absl::StatusOr<int> fd =
      references_.Get(assignment.workload_digest(), *job.reference, assignment.seed(),
                      assignment.memory_limit_bytes(), assignment.fence());
  if (absl::IsUnavailable(fd.status())) is_lost_ = true;
  if (!fd.ok()) return FailedResult(assignment, fd.status());
  Job checked = job;
  checked.reference_fd = *fd;
  return inner().Measure(checked);
}

void ReferenceMeasurer::Cancel(int64_t fence) {
  runner_->Cancel(fence);
  MeasurerDecorator::Cancel(fence);
}

}  // namespace hone::measure
