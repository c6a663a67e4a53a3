#include "compiler/codegen/launch_cache.h"

namespace hone::codegen {

const LaunchCache::Entry* LaunchCache::Find(const std::string& key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second;
}

void LaunchCache::Add(const std::string& key, Entry entry) {
  const size_t bytes = key.size() + entry.object.size();
  if (size_bytes_ + bytes > limit_bytes_) {
    entries_.clear();
    size_bytes_ = 0;
  }
  if (bytes > limit_bytes_) return;
  if (entries_.try_emplace(key, std::move(entry)).second) size_bytes_ += bytes;
}

}  // namespace hone::codegen
