#include "tuner/farm/artifact_store.h"

namespace hone::tuner {
namespace {
// How many digests may outlive their bytes before the map is swept.
constexpr size_t kSweepAbove = 4096;
}  // namespace

void ArtifactStore::Put(const Artifact& artifact) {
  if (artifact.digest.empty() || artifact.bytes == nullptr) return;
  Entry& entry =
      entries_.try_emplace(artifact.digest, Entry{artifact.bytes, recent_.end()}).first->second;
  if (entry.recent != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, entry.recent);
    return;
  }
  entry.bytes = artifact.bytes;
  recent_.push_front(artifact);
  entry.recent = recent_.begin();
  kept_bytes_ += artifact.bytes->size();
  Trim();
}

std::shared_ptr<const std::string> ArtifactStore::Find(const std::string& digest) {
  const auto it = entries_.find(digest);
  return it == entries_.end() ? nullptr : it->second.bytes.lock();
}

void ArtifactStore::Trim() {
  while (kept_bytes_ > keep_bytes_ && recent_.size() > 1) {
    const auto oldest = std::prev(recent_.end());
    kept_bytes_ -= oldest->bytes->size();
    entries_[oldest->digest].recent = recent_.end();
    recent_.erase(oldest);
  }
  if (entries_.size() <= kSweepAbove + 2 * recent_.size()) return;
  std::erase_if(entries_, [](const auto& item) { return item.second.bytes.expired(); });
}

}  // namespace hone::tuner
