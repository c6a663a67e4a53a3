// Writes changes to the database. Those that wait at the same time share one transaction.
#ifndef HONE_TUNING_DB_SQLITE_COMMIT_QUEUE_H_
#define HONE_TUNING_DB_SQLITE_COMMIT_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tuning_db/group_commit.h"
#include "tuning_db/sqlite/connection.h"

namespace hone::tuning_db::sqlite {

// Thread-safe.
//
// After a commit has failed, what is on the disk is unknown until the file is opened again, so
// every later change is refused with kUnavailable.
class CommitQueue {
 public:
  using Change = GroupCommit<Connection>::Change;
  using Done = GroupCommit<Connection>::Done;

  // `db` must outlive the queue, and nothing else may use it. At most `most_waiting` posted changes
  // may wait. `committed` is called on the queue's thread after each commit, before Commit returns
  // and `done` is called.
  CommitQueue(Connection* db, size_t most_waiting, std::function<void()> committed = nullptr)
      : db_(db),
        committed_(std::move(committed)),
        changes_(most_waiting, [this](const Steps& steps) { RunBatch(steps); }) {}

  // These two are those of GroupCommit.
  absl::Status Commit(Change change) { return changes_.Commit(std::move(change)); }
  absl::Status Post(std::vector<Change> changes, Done done) {
    return changes_.Post(std::move(changes), std::move(done));
  }

  CommitTotals totals() const { return changes_.totals(); }
  // Batches committed so far.
  int64_t batches() const { return batches_; }

 private:
  using Steps = GroupCommit<Connection>::Steps;

  void RunBatch(const Steps& steps);
  absl::Status RunSteps(const Steps& steps);
  absl::Status RunOne(const Change& change, absl::Status& status);

  Connection* const db_;  // only the thread uses this and `broken_`
  const std::function<void()> committed_;
  absl::Status broken_;
  std::atomic<int64_t> batches_ = 0;
  GroupCommit<Connection> changes_;  // the last member: its thread uses the others
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_COMMIT_QUEUE_H_
