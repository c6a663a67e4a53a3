// What reference kernels computed, kept for the next candidates of their workloads.
#ifndef HONE_MEASURE_SERVER_REFERENCE_CACHE_H_
#define HONE_MEASURE_SERVER_REFERENCE_CACHE_H_

#include <cstdint>
#include <list>
#include <string>

#include "absl/status/statusor.h"
#include "measure_server/artifact_cache.h"
#include "measure_server/zygote.h"

namespace hone::measure {

// By workload digest, reference artifact and seed; the last used ones up to a number of bytes. Not
// thread-safe.
class ReferenceCache {
 public:
  ReferenceCache(CandidateRunner* runner, uint64_t limit_bytes)
      : runner_(runner), limit_bytes_(limit_bytes) {}
  ~ReferenceCache();
  ReferenceCache(const ReferenceCache&) = delete;
  ReferenceCache& operator=(const ReferenceCache&) = delete;

  // A descriptor of the outputs for both input sets, valid until the next call; runs the artifact
  // where they are not here. kInvalidArgument: it does not compute what it should; kUnavailable: of
  // the runner.
  absl::StatusOr<int> Get(const std::string& workload_digest, const Artifact& reference,
                          uint64_t seed);

 private:
  struct Entry {
    std::string key;
    int fd;
    uint64_t size_bytes;
  };

  absl::StatusOr<int> Compute(const Artifact& reference, uint64_t seed);
  void Trim();

  CandidateRunner* const runner_;
  const uint64_t limit_bytes_;
  std::list<Entry> entries_;  // last used first
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_REFERENCE_CACHE_H_
