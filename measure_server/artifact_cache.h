// The artifacts that the worker has, by digest.
#ifndef HONE_MEASURE_SERVER_ARTIFACT_CACHE_H_
#define HONE_MEASURE_SERVER_ARTIFACT_CACHE_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hone::measure {

// The bytes of an artifact in anonymous memory, which a child can load by descriptor and nobody can
// change.
class Artifact {
 public:
  // kInvalidArgument if the bytes have another digest.
  static absl::StatusOr<std::shared_ptr<const Artifact>> Make(const std::string& digest,
                                                              std::string_view bytes);
  ~Artifact();
  Artifact(const Artifact&) = delete;
  Artifact& operator=(const Artifact&) = delete;

  const std::string& digest() const { return digest_; }
  uint64_t size_bytes() const { return size_bytes_; }
  int fd() const { return fd_; }

 private:
  Artifact(std::string digest, uint64_t size_bytes, int fd)
      : digest_(std::move(digest)), size_bytes_(size_bytes), fd_(fd) {}

  const std::string digest_;
  const uint64_t size_bytes_;
  const int fd_;
};

// Keeps the artifacts that were used last, up to `limit_bytes`. One that is dropped lives on as
// long as somebody holds it. Not thread-safe.
class ArtifactCache {
 public:
  explicit ArtifactCache(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  void Put(std::shared_ptr<const Artifact> artifact);
  // Null if the artifact is not in the cache.
  std::shared_ptr<const Artifact> Find(const std::string& digest);
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  using Entries = std::list<std::shared_ptr<const Artifact>>;

  const uint64_t limit_bytes_;
  uint64_t size_bytes_ = 0;
  Entries entries_;  // last used first
  std::map<std::string, Entries::iterator> by_digest_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ARTIFACT_CACHE_H_
