#include "tuning_db/sqlite/commit_queue.h"

#include <fmt/format.h>

#include <future>
#include <string>
#include <utility>

#include "support/crash_point.h"
#include "support/status.h"

namespace hone::tuning_db::sqlite {
namespace {

void Pass(std::string_view name, const char* when) {
  CrashPoint(fmt::format("store.{}.{}", name, when));
}

}  // namespace

CommitQueue::CommitQueue(Connection* db, size_t most_waiting, std::function<void()> committed)
    : db_(db),
      most_waiting_(most_waiting),
      committed_(std::move(committed)),
      thread_([this] { Work(); }) {}

CommitQueue::~CommitQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  something_waits_.notify_one();
  thread_.join();
}

absl::Status CommitQueue::Commit(Change change) {
  std::promise<absl::Status> promise;
  {
    const std::lock_guard lock(mutex_);
    Enqueue({std::move(change)}, [&promise](std::vector<absl::Status> statuses) {
      promise.set_value(std::move(statuses.at(0)));
    });
  }
  something_waits_.notify_one();
  return promise.get_future().get();
}

absl::Status CommitQueue::Post(std::vector<Change> changes, Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (posted_ + changes.size() > most_waiting_) {
      return absl::ResourceExhaustedError(
          fmt::format("{} changes wait for the tuning database, which takes at most {} at a time; "
                      "try again when some are done",
                      posted_, most_waiting_));
    }
    const size_t count = changes.size();
    posted_ += count;
    Enqueue(std::move(changes),
            [this, count, done = std::move(done)](std::vector<absl::Status> statuses) {
              {
                const std::lock_guard release(mutex_);
                posted_ -= count;
              }
              done(std::move(statuses));
            });
  }
  something_waits_.notify_one();
  return absl::OkStatus();
}

// Under the mutex.
void CommitQueue::Enqueue(std::vector<Change> changes, Done done) {
  const size_t count = changes.size();
  queue_.push_back({std::move(changes), std::vector<absl::Status>(count), std::move(done)});
}

int64_t CommitQueue::batches() const {
  const std::lock_guard lock(mutex_);
  return batches_;
}

void CommitQueue::Work() {
  for (;;) {
    Batch batch;
    {
      std::unique_lock lock(mutex_);
      something_waits_.wait(lock, [&] { return is_closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      batch.swap(queue_);
    }
    RunBatch(batch);
    for (Group& group : batch) group.done(std::move(group.statuses));
  }
}

void CommitQueue::RunBatch(Batch& batch) {
  absl::Status status;
  {
    const std::lock_guard lock(mutex_);
    status = broken_;
    if (status.ok()) ++batches_;
  }
  if (status.ok()) status = RunChanges(batch);
  if (status.ok()) {
    for (const Group& group : batch) {
      for (const Change& change : group.changes) Pass(change.name, "before_commit");
    }
    status = db_->Execute("COMMIT");
    if (!status.ok()) Break(status);
  }
  if (!status.ok()) {
    if (db_->IsInTransaction()) db_->Execute("ROLLBACK").IgnoreError();
    for (Group& group : batch) group.statuses.assign(group.changes.size(), status);
    return;
  }
  for (const Group& group : batch) {
    for (const Change& change : group.changes) Pass(change.name, "after_commit");
  }
  if (committed_) committed_();
}

void CommitQueue::Break(const absl::Status& why) {
  const std::lock_guard lock(mutex_);
  broken_ = absl::UnavailableError(
      "the tuning database takes no more writes after an error, open it again: " +
      std::string(why.message()));
}

absl::Status CommitQueue::RunChanges(Batch& batch) {
  HONE_RETURN_IF_ERROR(db_->Execute("BEGIN IMMEDIATE"));
  for (Group& group : batch) {
    for (size_t i = 0; i < group.changes.size(); ++i) {
      Pass(group.changes[i].name, "before");
      HONE_RETURN_IF_ERROR(RunOne(group.changes[i], group.statuses[i]));
    }
  }
  return absl::OkStatus();
}

// The error is one of the whole transaction; that of the change is in `status`.
absl::Status CommitQueue::RunOne(const Change& change, absl::Status& status) {
  HONE_RETURN_IF_ERROR(db_->Run("SAVEPOINT change"));
  status = change.run(*db_);
  if (!db_->IsInTransaction()) return status;  // SQLite gave all of it up
  if (!status.ok()) HONE_RETURN_IF_ERROR(db_->Run("ROLLBACK TO change"));
  return db_->Run("RELEASE change");
}

}  // namespace hone::tuning_db::sqlite
