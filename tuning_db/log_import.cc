#include "tuning_db/log_import.h"

#include <algorithm>
#include <optional>

#include "support/status.h"

namespace hone::tuning_db {
namespace {

// A batch is one transaction: long enough that its sync costs little, short enough that others who
// write wait for less than a second.
constexpr size_t kBatch = 2000;
constexpr size_t kBatchBytes = size_t{8} << 20;

// The successful record that it came of, which was settled with it; nothing where it is not there.
// A log names no records, as their ids are of one database.
absl::StatusOr<std::optional<Record>> RecordOf(Store& store, const Final& final) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Record> records,
                        store.Records({.task = final.task,
                                       .signature = final.signature,
                                       .purpose = Purpose::kConfirm,
                                       .outcome = Outcome::kOk,
                                       .device = final.device,
                                       .since_wall_ns = final.wall_time_ns,
                                       .before_wall_ns = final.wall_time_ns + 1,
                                       .with_retracted = true}));
  return records.empty() ? std::nullopt : std::optional(records.back());
}

size_t BytesOf(const Record& record) {
  return record.of_trial.config.size() + record.message.size() +
         record.samples_ns.size() * sizeof(double);
}

}  // namespace

absl::Status LogImport::Add(LogLine line) {
  HONE_ASSIGN_OR_RETURN(const int64_t task, TaskOf(line.task));
  return line.is_final ? AddFinal(task, std::move(line.final))
                       : AddRecord(task, std::move(line.record));
}

absl::StatusOr<LogCounts> LogImport::Finish() {
  HONE_RETURN_IF_ERROR(Flush());
  return counts_;
}

absl::StatusOr<int64_t> LogImport::TaskOf(const Task& task) {
  const auto [known, is_new] = tasks_.try_emplace({task.workload_digest, task.target}, 0);
  if (is_new) {
    const absl::StatusOr<int64_t> id = store_->EnsureTask(task);
    if (!id.ok()) {
      tasks_.erase(known);
      return id;
    }
    known->second = *id;
  }
  return known->second;
}

absl::Status LogImport::AddRecord(int64_t task, Record record) {
  batch_bytes_ += BytesOf(record);
  Trial trial = record.of_trial;
  trial.task = task;
  trial.job = 0;
  batch_.push_back({std::move(trial), std::move(record)});
  return batch_.size() < kBatch && batch_bytes_ < kBatchBytes ? absl::OkStatus() : Flush();
}

absl::Status LogImport::Flush() {
  if (batch_.empty()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(const std::vector<SettleResult> results, store_->ImportMany(batch_));
  const auto added = std::ranges::count(results, SettleResult::kSettled);
  counts_.records += added;
  counts_.known += static_cast<int64_t>(results.size()) - added;
  for (const Measured& measured : batch_) {
    if (measured.record.retracted.empty()) continue;
    HONE_RETURN_IF_ERROR(RetractHere(measured));
  }
  batch_.clear();
  batch_bytes_ = 0;
  return absl::OkStatus();
}

absl::Status LogImport::RetractHere(const Measured& measured) {
  const auto& [trial, record] = measured;
  HONE_ASSIGN_OR_RETURN(const std::vector<Record> records,
                        store_->Records({.task = trial.task,
                                         .signature = trial.signature,
                                         .purpose = trial.purpose,
                                         .outcome = record.outcome,
                                         .device = record.device,
                                         .since_wall_ns = record.wall_time_ns,
                                         .before_wall_ns = record.wall_time_ns + 1}));
  for (const Record& here : records) {
    if (here.of_trial.config != trial.config || here.of_trial.round != trial.round) continue;
    HONE_RETURN_IF_ERROR(store_->Retract(here.id, record.retracted));
  }
  return absl::OkStatus();
}

// Adds nothing where a final as new as this one is there, or was, until it was retracted.
absl::Status LogImport::AddFinal(int64_t task, Final final) {
  HONE_RETURN_IF_ERROR(Flush());  // the record that it came of may be in it
  final.task = task;
  final.job = 0;
  HONE_ASSIGN_OR_RETURN(const std::optional<Final> newest,
                        store_->NewestFinal(task, final.signature));
  HONE_ASSIGN_OR_RETURN(const std::optional<Record> record, RecordOf(*store_, final));
  const bool is_known = (newest && newest->wall_time_ns >= final.wall_time_ns) ||
                        (record && !record->retracted.empty());
  if (is_known) {
    ++counts_.known;
    return absl::OkStatus();
  }
  final.record = record ? record->id : 0;
  HONE_RETURN_IF_ERROR(store_->AddFinal(final).status());
  ++counts_.finals;
  return absl::OkStatus();
}

}  // namespace hone::tuning_db
