// Retention of the store in memory.
#include <algorithm>
#include <utility>

#include "tuning_db/memory/memory_store.h"

namespace hone::tuning_db {

absl::StatusOr<Pruned> MemoryStore::Prune(int64_t before_wall_ns, const PrunePlace& place,
                                          int64_t most_rows) {
  const std::lock_guard lock(mutex_);
  Pruned pruned;
  pruned.next = place;
  if (place.events_done) {
    PruneSamples(before_wall_ns, most_rows, pruned);
  } else {
    PruneEvents(before_wall_ns, most_rows, pruned);
  }
  return pruned;
}

void MemoryStore::PruneEvents(int64_t before_wall_ns, int64_t most_rows, Pruned& pruned) {
  PrunePlace& next = pruned.next;
  int64_t rows = 0;
  for (auto& [job, events] : events_) {
    if (job < next.job) continue;
    const bool has_ended = HasEnded(Find(jobs_, job)->state);
    for (size_t i = 0; i < events.size();) {
      const Event& event = events[i];
      if (std::pair(job, event.seq) <= std::pair(next.job, next.seq)) {
        ++i;
        continue;
      }
      if (rows++ == most_rows) return;
      next.job = job;
      next.seq = event.seq;
      const bool is_last = i + 1 == events.size();
      if (has_ended && i == 0 && !is_last && event.wall_time_ns < before_wall_ns) {
        events.erase(events.begin());
        ++pruned.events;
      } else {
        ++i;
      }
    }
  }
  next.events_done = true;
}

void MemoryStore::PruneSamples(int64_t before_wall_ns, int64_t most_rows, Pruned& pruned) {
  const auto end = static_cast<int64_t>(records_.size());
  int64_t& at = pruned.next.record;
  for (int64_t rows = 0; rows < most_rows && at < end; ++rows) {
    Record& record = *Find(records_, ++at);
    if (record.samples_ns.size() < 2 || record.wall_time_ns >= before_wall_ns) continue;
    if (!AreSamplesSpare(record)) continue;
    record.samples_ns = RankingSamples(record.samples_ns);
    ++pruned.samples;
  }
  pruned.is_last = at >= end;
}

bool MemoryStore::AreSamplesSpare(const Record& record) {
  const Trial& trial = *Find(trials_, record.trial);
  if (trial.purpose != Purpose::kSearch) return false;
  const bool is_wanted = std::ranges::any_of(jobs_, [&](const Job& job) {
    return !HasEnded(job.state) && std::ranges::any_of(job.tasks, [&](const JobTask& task) {
      return task.task == trial.task && task.signature == trial.signature;
    });
  });
  if (is_wanted) return false;
  bool has_final = false;
  for (const Final& final : finals_) {
    if (final.task != trial.task || final.signature != trial.signature) continue;
    has_final |= Counts(final);
    const bool is_compared = std::ranges::any_of(
        final.entries, [&](const FinalEntry& entry) { return entry.config == trial.config; });
    if (is_compared) return false;
  }
  return has_final;
}

}  // namespace hone::tuning_db
