#include "measure_server/requirements_measurer.h"

#include <fmt/format.h>

namespace hone::measure {

namespace v1 = hone::v1;

v1::MeasureResult RequirementsMeasurer::Measure(const Job& job) {
  const absl::Status meets = Meets(job.assignment);
  return meets.ok() ? inner().Measure(job) : FailedResult(job.assignment, meets);
}

void RequirementsMeasurer::LoadAhead(const Job& job) {
  if (Meets(job.assignment).ok()) inner().LoadAhead(job);
}

absl::Status RequirementsMeasurer::Meets(const v1::Assignment& assignment) const {
  if (assignment.threads() > device_.threads()) {
    return absl::FailedPreconditionError(
        fmt::format("expected an assignment of at most {} threads, found {}", device_.threads(),
                    assignment.threads()));
  }
  const v1::Requirements& wanted = assignment.requirements();
  if (wanted.sandbox() > device_.sandbox()) {
    return absl::FailedPreconditionError(
        fmt::format("expected a device in {} or stricter, found {} in {}",
                    v1::SandboxLevel_Name(wanted.sandbox()), device_.id(),
                    v1::SandboxLevel_Name(device_.sandbox())));
  }
  if (wanted.kind() != v1::DEVICE_KIND_UNSPECIFIED && wanted.kind() != device_.kind()) {
    return absl::FailedPreconditionError(
        fmt::format("expected a device of {}, found {} of {}", v1::DeviceKind_Name(wanted.kind()),
                    device_.id(), v1::DeviceKind_Name(device_.kind())));
  }
  return absl::OkStatus();
}

}  // namespace hone::measure
