#include "measure_server/contained_device.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "measure_server/run_protocol.h"
#include "measure_server/sandbox.h"
#include "support/status.h"

namespace hone::measure {

absl::StatusOr<ContainedDevice> ContainedDevice::Start(const std::string& name) {
  HONE_ASSIGN_OR_RETURN(DriverFiles files, DriverFiles::Make());
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<Zygote> zygote,
      Zygote::Start(
          {.level = SandboxLevel::kContained, .device = name, .driver_files = files.path()}));
  return ContainedDevice(name, std::move(files), std::move(zygote));
}

absl::Status ContainedDevice::CheckOpens(int64_t limit_ns) const {
  RunRequest request;
  request.kind = RunRequest::kOpening;
  request.candidate_count = 1;
  request.run_limit_ns = limit_ns;
  const int no_artifact = memfd_create("hone-opening", MFD_CLOEXEC);
  if (no_artifact < 0) {
    return absl::InternalError(fmt::format("memfd_create: {}", std::strerror(errno)));
  }
  const absl::StatusOr<std::vector<RunReport>> reports = zygote_->Run(request, -1, {no_artifact});
  close(no_artifact);
  HONE_RETURN_IF_ERROR(reports.status());
  const RunReport& report = reports->front();
  if (report.outcome == RunOutcome::kOk) return absl::OkStatus();
  return absl::UnavailableError(
      fmt::format("expected a device {} that candidates can open, found: {}", name_,
                  static_cast<const char*>(report.message)));
}

}  // namespace hone::measure
