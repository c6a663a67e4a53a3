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
                                        const Artifact& reference, uint64_t seed) {
  const std::string key = fmt::format("{} {} {}", workload_digest, reference.digest(), seed);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return found->fd;
  }
  HONE_ASSIGN_OR_RETURN(const int fd, Compute(reference, seed));
  entries_.push_front({key, fd, ReferenceFileBytes(fd)});
  Trim();
  return fd;
}

absl::StatusOr<int> ReferenceCache::Compute(const Artifact& reference, uint64_t seed) {
  const int fd = MakeReferenceFile();
  if (fd < 0) {
    return absl::InternalError(
        fmt::format("no memory for reference outputs: {}", std::strerror(errno)));
  }
  RunRequest request;
  request.kind = RunRequest::kReference;
  request.candidate_count = 1;
  request.seed = seed;
  request.run_limit_ns = kLimitNs;
  absl::StatusOr<std::vector<RunReport>> reports = runner_->Run(request, fd, {reference.fd()});
  if (reports.ok() && reports->front().outcome == RunOutcome::kOk) return fd;
  close(fd);
  if (!reports.ok()) return reports.status();
  return absl::InvalidArgumentError(
      fmt::format("the reference of the workload failed: {}", reports->front().message));
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
