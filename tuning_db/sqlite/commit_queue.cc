#include "tuning_db/sqlite/commit_queue.h"

#include <fmt/format.h>

#include <string>

#include "support/crash_point.h"
#include "support/status.h"

namespace hone::tuning_db::sqlite {
namespace {

void Pass(std::string_view name, const char* when) {
  CrashPoint(fmt::format("store.{}.{}", name, when));
}

}  // namespace

absl::Status CommitQueue::Commit(std::string_view name, const Change& change) {
  Waiting mine{name, &change, absl::OkStatus()};
  std::unique_lock lock(mutex_);
  queue_.push_back(&mine);
  batch_is_done_.wait(lock, [&] { return mine.is_done || !has_leader_; });
  if (mine.is_done) return mine.status;

  has_leader_ = true;
  std::vector<Waiting*> batch;
  batch.swap(queue_);
  if (broken_.ok()) {
    lock.unlock();
    RunBatch(batch);
    lock.lock();
    ++batches_;
  } else {
    for (Waiting* waiting : batch) waiting->status = broken_;
  }
  for (Waiting* waiting : batch) waiting->is_done = true;
  has_leader_ = false;
  batch_is_done_.notify_all();
  return mine.status;
}

int64_t CommitQueue::batches() const {
  const std::lock_guard lock(mutex_);
  return batches_;
}

void CommitQueue::RunBatch(const std::vector<Waiting*>& batch) {
  absl::Status status = RunChanges(batch);
  if (status.ok()) {
    for (const Waiting* waiting : batch) Pass(waiting->name, "before_commit");
    status = db_->Execute("COMMIT");
    if (!status.ok()) Break(status);
  }
  if (!status.ok()) {
    if (db_->IsInTransaction()) db_->Execute("ROLLBACK").IgnoreError();
    for (Waiting* waiting : batch) waiting->status = status;
    return;
  }
  for (const Waiting* waiting : batch) Pass(waiting->name, "after_commit");
}

void CommitQueue::Break(const absl::Status& why) {
  const std::lock_guard lock(mutex_);
  broken_ = absl::UnavailableError(
      "the tuning database takes no more writes after an error, open it again: " +
      std::string(why.message()));
}

absl::Status CommitQueue::RunChanges(const std::vector<Waiting*>& batch) {
  HONE_RETURN_IF_ERROR(db_->Execute("BEGIN IMMEDIATE"));
  for (Waiting* waiting : batch) {
    Pass(waiting->name, "before");
    HONE_RETURN_IF_ERROR(RunOne(*waiting));
  }
  return absl::OkStatus();
}

// The error is one of the whole transaction; that of the change is in waiting.status.
absl::Status CommitQueue::RunOne(Waiting& waiting) {
  HONE_RETURN_IF_ERROR(db_->Run("SAVEPOINT change"));
  waiting.status = (*waiting.change)(*db_);
  if (!db_->IsInTransaction()) return waiting.status;  // SQLite gave all of it up
  if (!waiting.status.ok()) HONE_RETURN_IF_ERROR(db_->Run("ROLLBACK TO change"));
  return db_->Run("RELEASE change");
}

}  // namespace hone::tuning_db::sqlite
