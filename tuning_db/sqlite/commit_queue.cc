#include "tuning_db/sqlite/commit_queue.h"

#include <string>

#include "support/status.h"

namespace hone::tuning_db::sqlite {

void CommitQueue::RunBatch(const Steps& steps) {
  absl::Status status = broken_;
  if (status.ok()) {
    ++batches_;
    status = RunSteps(steps);
  }
  if (status.ok()) {
    changes_.PassCrashPoints(steps, "before_commit");
    status = db_->Execute("COMMIT");
    if (!status.ok()) {
      broken_ = absl::UnavailableError(
          "the tuning database takes no more writes after an error, open it again: " +
          std::string(status.message()));
    }
  }
  if (!status.ok()) {
    if (db_->IsInTransaction()) db_->Execute("ROLLBACK").IgnoreError();
    for (const auto& step : steps) *step.status = status;
    return;
  }
  changes_.PassCrashPoints(steps, "after_commit");
  if (committed_) committed_();
}

absl::Status CommitQueue::RunSteps(const Steps& steps) {
  HONE_RETURN_IF_ERROR(db_->Execute("BEGIN IMMEDIATE"));
  for (const auto& step : steps) {
    changes_.PassCrashPoint(*step.change, "before");
    HONE_RETURN_IF_ERROR(RunOne(*step.change, *step.status));
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
