// Keeps artifacts of a task that may be wanted again: its default config's, and those of its best
// trials.
#ifndef HONE_TUNER_JOBS_KEPT_ARTIFACTS_H_
#define HONE_TUNER_JOBS_KEPT_ARTIFACTS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "tuner/measurer.h"

namespace hone::tuner {

// Artifacts are kept in memory only: a daemon that was killed builds them again. An artifact is a
// function of its nest, so keeping it changes nothing but time. Not thread-safe.
class KeptArtifacts {
 public:
  void Keep(const std::string& nest_digest, const Artifact& artifact) {
    if (!nest_digest.empty()) by_nest_[nest_digest] = artifact;
  }
  // nullptr: it has to be built.
  const Artifact* Find(const std::string& nest_digest) const {
    const auto it = by_nest_.find(nest_digest);
    return it == by_nest_.end() ? nullptr : &it->second;
  }
  size_t size() const { return by_nest_.size(); }
  void KeepOnly(const std::set<std::string>& nest_digests) {
    std::erase_if(by_nest_, [&](const auto& item) { return !nest_digests.contains(item.first); });
  }
  void Clear() { by_nest_.clear(); }

 private:
  std::map<std::string, Artifact> by_nest_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_KEPT_ARTIFACTS_H_
