// What reference kernels computed, kept for the next candidates of their workloads.
#ifndef HONE_MEASURE_SERVER_REFERENCE_CACHE_H_
#define HONE_MEASURE_SERVER_REFERENCE_CACHE_H_

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "measure_server/artifact_cache.h"
#include "measure_server/zygote.h"

namespace hone::measure {

// Outputs of references, by workload digest, reference artifact and seed: those that were used
// last, up to a number of bytes. What failed is remembered too, up to a number of failures: the
// next candidate would pay for the same one. Not thread-safe.
class ReferenceCache {
 public:
  static constexpr size_t kMostFailures = 1024;

  ReferenceCache(CandidateRunner* runner, uint64_t limit_bytes)
      : runner_(runner), limit_bytes_(limit_bytes) {}
  ~ReferenceCache();
  ReferenceCache(const ReferenceCache&) = delete;
  ReferenceCache& operator=(const ReferenceCache&) = delete;

  // A descriptor of the outputs for both input sets, for reading, valid until the next call; runs
  // the artifact where they are not here. kInvalidArgument: the reference does not run, or does not
  // compute what it should; kAborted, kInternal: of the device, so another try may fare better;
  // kUnavailable: the runner is gone. A run can be cancelled by `lease`.
  absl::StatusOr<int> Get(const std::string& workload_digest, const Artifact& reference,
                          uint64_t seed, uint64_t memory_limit_bytes, int64_t lease = 0);

 private:
  struct Entry {
    std::string key;
    int fd;
    uint64_t size_bytes;
  };

  absl::StatusOr<int> Compute(const Artifact& reference, const RunRequest& request);
  absl::Status RunInto(int fd, const Artifact& reference, const RunRequest& request);
  void Trim();
  void RememberFailure(const std::string& key, const absl::Status& status);

  CandidateRunner* const runner_;
  const uint64_t limit_bytes_;
  std::list<Entry> entries_;  // last used first
  std::map<std::string, absl::Status> failed_;
  std::deque<std::string> failed_order_;  // its keys, oldest first
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_REFERENCE_CACHE_H_
