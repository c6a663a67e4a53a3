#include "measure_server/anchor_times.h"

#include <algorithm>

namespace hone::measure {

bool AnchorTimes::IsDue(const std::string& key, int64_t now_ns) const {
  const auto entry = entries_.find(key);
  return entry == entries_.end() || now_ns >= entry->second.due_ns;
}

void AnchorTimes::Note(const std::string& key, double time_ns, int64_t now_ns, int64_t spent_ns) {
  constexpr int64_t kIntervalNs = 10'000'000'000;
  constexpr int64_t kOneIn = 20;
  entries_[key] = {time_ns, now_ns + std::max(kIntervalNs, kOneIn * spent_ns)};
  if (entries_.size() <= kMost) return;
  entries_.erase(std::min_element(
      entries_.begin(), entries_.end(),
      [](const auto& a, const auto& b) { return a.second.due_ns < b.second.due_ns; }));
}

double AnchorTimes::Newest(const std::string& key) const {
  const auto entry = entries_.find(key);
  return entry == entries_.end() ? 0 : entry->second.time_ns;
}

}  // namespace hone::measure
