// What is asked of the store in memory.
#include <algorithm>
#include <tuple>
#include <utility>

#include "support/status.h"
#include "tuning_db/cursor.h"
#include "tuning_db/memory/memory_store.h"
#include "tuning_db/task_match.h"
#include "tuning_db/transitions.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db {

absl::StatusOr<RecordPage> MemoryStore::ListRecords(const RecordFilter& filter, Order order,
                                                    const std::string& cursor, int64_t limit) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  HONE_ASSIGN_OR_RETURN(const int64_t after, FromCursor(order, cursor));
  const std::lock_guard lock(mutex_);
  RecordPage page{.records = {}, .next = cursor, .is_last = true};
  const auto visit = [&](const Record& record) {
    const bool is_after = order == Order::kOldestFirst ? record.id > after : record.id < after;
    if (!page.is_last || !is_after || !Matches(record, filter)) return;
    if (limit > 0 && static_cast<int64_t>(page.records.size()) == limit) {
      page.is_last = false;
      return;
    }
    page.records.push_back(record);
    page.records.back().of_trial = *Find(trials_, record.trial);
    page.next = ToCursor(order, record.id);
  };
  if (order == Order::kNewestFirst) {
    std::for_each(records_.rbegin(), records_.rend(), visit);
  } else {
    std::for_each(records_.begin(), records_.end(), visit);
  }
  return page;
}

absl::Status MemoryStore::Retract(int64_t id, const std::string& reason) {
  HONE_RETURN_IF_ERROR(MayRetract(id, reason));
  const std::lock_guard lock(mutex_);
  Record* record = Find(records_, id);
  if (record == nullptr) return NoSuch("record", id);
  if (record->retracted.empty()) record->retracted = reason;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MemoryStore::AddFinal(const Final& final) {
  HONE_RETURN_IF_ERROR(IsWellFormed(final));
  const std::lock_guard lock(mutex_);
  HONE_RETURN_IF_ERROR(RequireOwners(final.task, final.job));
  HONE_RETURN_IF_ERROR(RequireConfirmed(final));
  return PushFinal(final);
}

absl::StatusOr<std::optional<Final>> MemoryStore::NewestFinal(int64_t task,
                                                              const std::string& signature) {
  const std::lock_guard lock(mutex_);
  const auto it = std::find_if(finals_.rbegin(), finals_.rend(), [&](const Final& final) {
    return final.task == task && final.signature == signature && Counts(final);
  });
  if (it == finals_.rend()) return std::optional<Final>();
  return std::optional<Final>(*it);
}

absl::StatusOr<RecordDetail> MemoryStore::GetRecord(int64_t id) {
  const std::lock_guard lock(mutex_);
  const Record* const record = Find(records_, id);
  if (record == nullptr) return NoSuch("record", id);
  RecordDetail detail;
  detail.record = *record;
  detail.record.of_trial = *Find(trials_, record->trial);
  detail.task = *Find(tasks_, detail.record.of_trial.task);
  const Job* const job = Find(jobs_, detail.record.of_trial.job);
  if (job != nullptr) detail.constant_bytes = job->constant_bytes;
  for (const Final& final : finals_) {
    if (final.record == id) detail.final = final.id;
  }
  return detail;
}

absl::StatusOr<LogStats> MemoryStore::Stats(const RecordFilter& filter) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  const std::lock_guard lock(mutex_);
  StatsCounter counter;
  std::vector<std::string> devices;
  for (const Record& record : records_) {
    if (!Matches(record, filter)) continue;
    const Trial& trial = *Find(trials_, record.trial);
    const auto device = std::ranges::find(devices, record.device);
    const int64_t id = device - devices.begin();
    if (device == devices.end()) devices.push_back(record.device);
    counter.Add({.task = trial.task,
                 .device = id,
                 .purpose = trial.purpose,
                 .outcome = record.outcome,
                 .day = DayOf(record.wall_time_ns),
                 .records = 1,
                 .first_wall_ns = record.wall_time_ns,
                 .last_wall_ns = record.wall_time_ns});
  }
  HONE_ASSIGN_OR_RETURN(
      LogStats stats,
      counter.Finish([&](int64_t task) { return Find(tasks_, task)->target; },
                     [&](int64_t device) { return devices[static_cast<size_t>(device)]; }));
  stats.finals = static_cast<int64_t>(NewestFinals(filter).size());
  return stats;
}

absl::StatusOr<FinalPage> MemoryStore::ListFinals(const RecordFilter& filter,
                                                  const std::string& cursor, int64_t limit) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  HONE_ASSIGN_OR_RETURN(const FinalPlace after, FromFinalCursor(cursor));
  const std::lock_guard lock(mutex_);
  FinalPage page{.finals = {}, .next = cursor, .is_last = true};
  for (const auto& [place, final] : NewestFinals(filter)) {
    if (place <= after) continue;
    if (limit > 0 && static_cast<int64_t>(page.finals.size()) == limit) {
      page.is_last = false;
      break;
    }
    page.finals.push_back({*Find(tasks_, final->task), *final});
    page.next = ToFinalCursor(place);
  }
  return page;
}

absl::StatusOr<int64_t> MemoryStore::AddModelFinal(const ModelFinal& final) {
  HONE_RETURN_IF_ERROR(IsWellFormed(final));
  const std::lock_guard lock(mutex_);
  model_finals_.push_back(final);
  model_finals_.back().id = static_cast<int64_t>(model_finals_.size());
  return model_finals_.back().id;
}

absl::StatusOr<std::optional<ModelFinal>> MemoryStore::NewestModelFinal(const std::string& skeleton,
                                                                        const std::string& target) {
  const std::lock_guard lock(mutex_);
  const auto newest =
      std::find_if(model_finals_.rbegin(), model_finals_.rend(), [&](const ModelFinal& final) {
        return final.skeleton == skeleton && final.target == target;
      });
  if (newest == model_finals_.rend()) return std::optional<ModelFinal>();
  return std::optional<ModelFinal>(*newest);
}

absl::Status MemoryStore::RecordMisses(const std::vector<Miss>& misses) {
  for (const Miss& miss : misses) HONE_RETURN_IF_ERROR(IsWellFormed(miss));
  const auto key = [](const Miss& miss) {
    return std::tie(miss.workload_digest, miss.signature, miss.target, miss.model);
  };
  const std::lock_guard lock(mutex_);
  for (const Miss& miss : misses) {
    const auto known = std::ranges::find(misses_, key(miss), key);
    if (known == misses_.end()) {
      misses_.push_back(miss);
    } else {
      known->tier = miss.tier;
      known->count += miss.count;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Miss>> MemoryStore::ListMisses(const std::string& target) {
  const std::lock_guard lock(mutex_);
  std::vector<Miss> found;
  std::copy_if(misses_.begin(), misses_.end(), std::back_inserter(found),
               [&](const Miss& miss) { return target.empty() || miss.target == target; });
  return found;
}

absl::Status MemoryStore::RequireConfirmed(const Final& final) {
  if (final.record == 0) return absl::OkStatus();
  const Record* const record = Find(records_, final.record);
  const Trial* const trial = record != nullptr ? Find(trials_, record->trial) : nullptr;
  const bool is_of_it = trial != nullptr && trial->task == final.task &&
                        trial->signature == final.signature &&
                        trial->purpose == Purpose::kConfirm && record->outcome == Outcome::kOk;
  return is_of_it ? absl::OkStatus()
                  : NoSuch("record of a confirm trial of the final's task", final.record);
}

bool MemoryStore::Counts(const Final& final) {
  return final.record == 0 || Find(records_, final.record)->retracted.empty();
}

int64_t MemoryStore::PushFinal(const Final& final) {
  finals_.push_back(final);
  const int64_t id = static_cast<int64_t>(finals_.size());
  finals_.back().id = id;
  TellJobs(final.task, final.signature, final.job, "final", FinalPayload(id, final),
           clock_.WallTimeNs());
  return id;
}

bool MemoryStore::Matches(const Record& record, const RecordFilter& filter) {
  const Trial& trial = *Find(trials_, record.trial);
  return (filter.with_retracted || record.retracted.empty()) &&
         (filter.before_wall_ns == 0 || record.wall_time_ns < filter.before_wall_ns) &&
         (filter.since_wall_ns == 0 || record.wall_time_ns >= filter.since_wall_ns) &&
         (!filter.outcome || *filter.outcome == record.outcome) &&
         (!filter.is_failure || record.outcome != Outcome::kOk) &&
         (filter.device.empty() || filter.device == record.device) &&
         record.device.starts_with(filter.device_prefix) &&
         (!filter.signature || *filter.signature == trial.signature) &&
         (!filter.job || *filter.job == trial.job) &&
         (!filter.purpose || *filter.purpose == trial.purpose) &&
         HoldsFor(filter, *Find(tasks_, trial.task));
}

bool MemoryStore::Matches(const Final& final, const RecordFilter& filter) {
  return (filter.with_retracted || Counts(final)) &&
         (filter.before_wall_ns == 0 || final.wall_time_ns < filter.before_wall_ns) &&
         (filter.since_wall_ns == 0 || final.wall_time_ns >= filter.since_wall_ns) &&
         (filter.device.empty() || filter.device == final.device) &&
         final.device.starts_with(filter.device_prefix) &&
         (!filter.signature || *filter.signature == final.signature) &&
         (!filter.job || *filter.job == final.job) && HoldsFor(filter, *Find(tasks_, final.task));
}

std::map<FinalPlace, const Final*> MemoryStore::NewestFinals(const RecordFilter& filter) {
  std::map<std::pair<int64_t, std::string>, const Final*> newest;
  for (const Final& final : finals_) {
    if (Matches(final, filter)) newest[{final.task, final.signature}] = &final;
  }
  std::map<FinalPlace, const Final*> by_place;
  for (const auto& [key, final] : newest) by_place[{final->task, final->id}] = final;
  return by_place;
}

std::unique_ptr<Store> MakeMemoryStore(const Clock& clock) {
  return std::make_unique<MemoryStore>(clock);
}

}  // namespace hone::tuning_db
