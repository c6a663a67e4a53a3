#include "measure_server/reference_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "measure_server/reference_file.h"
#include "support/status.h"

namespace hone::measure {
namespace {

// A naive nest in float64 is a hundred times slower than a candidate; a lease waits no longer.
constexpr int64_t kLimitNs = 50'000'000'000;

}  // namespace

ReferenceCache::~ReferenceCache() {
  for (const Entry& entry : entries_) close(entry.fd);
}

absl::StatusOr<int> ReferenceCache::Get(const std::string& workload_digest,
                                        const Artifact& reference, uint64_t seed,
                                        uint64_t memory_limit_bytes, int64_t lease) {
  const std::string key = fmt::format("{} {} {}", workload_digest, reference.digest(), seed);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return found->fd;
  }
  // Other seeds would fail alike; a greater limit might help.
  const std::string failed_key =
      fmt::format("{} {} {}", workload_digest, reference.digest(), memory_limit_bytes);
  const auto failed = failed_.find(failed_key);
  if (failed != failed_.end()) return failed->second;
  RunRequest request;
  request.lease = lease;
  request.kind = RunRequest::kReference;
  request.candidate_count = 1;
  request.seed = seed;
  request.run_limit_ns = kLimitNs;
  request.memory_limit_bytes = memory_limit_bytes;
  const absl::StatusOr<int> fd = Compute(reference, request);
  if (absl::IsInvalidArgument(fd.status())) RememberFailure(failed_key, fd.status());
  if (!fd.ok()) return fd.status();
  entries_.push_front({key, *fd, ReferenceFileBytes(*fd)});
  Trim();
  return *fd;
}

absl::StatusOr<int> ReferenceCache::Compute(const Artifact& reference, const RunRequest& request) {
  const int fd = MakeReferenceFile();
  if (fd < 0) {
    return absl::InternalError(
        fmt::format("no memory for reference outputs: {}", std::strerror(errno)));
  }
  if (const absl::Status status = RunInto(fd, reference, request); !status.ok()) {
    close(fd);
    return status;
  }
  const int sealed = SealReferenceFile(fd);
  if (sealed >= 0) return sealed;
  return absl::InternalError(fmt::format("sealing reference outputs: {}", std::strerror(errno)));
}

absl::Status ReferenceCache::RunInto(int fd, const Artifact& reference, const RunRequest& request) {
  HONE_ASSIGN_OR_RETURN(const std::vector<RunReport> reports,
                        runner_->Run(request, fd, {reference.fd()}));
  const RunReport& report = reports.front();
  if (report.outcome == RunOutcome::kOk) return absl::OkStatus();
  const std::string message =
      fmt::format("the reference of the workload failed, so no candidate of it can be checked: {}",
                  report.message);
  const bool is_of_device =
      report.outcome == RunOutcome::kDeviceLost || report.outcome == RunOutcome::kNone;
  return is_of_device ? absl::AbortedError(message) : absl::InvalidArgumentError(message);
}

void ReferenceCache::RememberFailure(const std::string& key, const absl::Status& status) {
  failed_[key] = status;
  failed_order_.push_back(key);
  if (failed_order_.size() <= kMostFailures) return;
  failed_.erase(failed_order_.front());
  failed_order_.pop_front();
}

void ReferenceCache::Trim() {
  uint64_t size_bytes = 0;
  for (const Entry& entry : entries_) size_bytes += entry.size_bytes;
  while (size_bytes > limit_bytes_ && entries_.size() > 1) {
    size_bytes -= entries_.back().size_bytes;
    close(entries_.back().fd);
    entries_.pop_back();
  }
}

}  // namespace hone::measure
