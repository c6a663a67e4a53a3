// Keeps built code by digest for workers that ask for it. It is in memory only: what is lost is
// built again.
#ifndef HONE_TUNER_FARM_ARTIFACT_STORE_H_
#define HONE_TUNER_FARM_ARTIFACT_STORE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "tuner/measurer.h"

namespace hone::tuner {

// Keeps the newest artifacts up to `keep_bytes`, and also finds any other one that somebody still
// holds. Not thread-safe.
class ArtifactStore {
 public:
  explicit ArtifactStore(uint64_t keep_bytes) : keep_bytes_(keep_bytes) {}

  // An artifact that is already kept becomes the newest and is not copied.
  void Put(const Artifact& artifact);
  // nullptr if the artifact is not here (any more).
  std::shared_ptr<const std::string> Find(const std::string& digest);

 private:
  struct Entry {
    std::weak_ptr<const std::string> bytes;
    std::list<Artifact>::iterator recent;  // recent_.end(): not among them
  };

  void Trim();

  const uint64_t keep_bytes_;
  uint64_t kept_bytes_ = 0;
  std::list<Artifact> recent_;  // newest first
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_ARTIFACT_STORE_H_
