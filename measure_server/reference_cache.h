// Keeps what reference kernels computed for the next candidates of their workloads.
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

// Keeps the outputs of references by workload digest, reference artifact and seed: those that were
// used last, up to `limit_bytes`. Also remembers up to kMostFailures references that do not run, so
// that the next candidate does not wait for the same failure. Not thread-safe.
class ReferenceCache {
 public:
  static constexpr size_t kMostFailures = 1024;

  ReferenceCache(CandidateRunner* runner, uint64_t limit_bytes)
      : runner_(runner), limit_bytes_(limit_bytes) {}
  ~ReferenceCache();
  ReferenceCache(const ReferenceCache&) = delete;
  ReferenceCache& operator=(const ReferenceCache&) = delete;

  // Returns a descriptor for reading the outputs for both input sets, valid until the next call.
  // Runs the reference if they are not in the cache; that run can be cancelled by `lease`.
  // kInvalidArgument: the reference fails to run; kAborted, kInternal: the fault is the device's,
  // and another try may succeed; kUnavailable: the runner is gone.
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
