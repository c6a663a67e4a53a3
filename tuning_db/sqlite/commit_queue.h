// Group commit: changes that wait at the same time share one transaction and one sync.
#ifndef HONE_TUNING_DB_SQLITE_COMMIT_QUEUE_H_
#define HONE_TUNING_DB_SQLITE_COMMIT_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "tuning_db/sqlite/connection.h"

namespace hone::tuning_db::sqlite {

// Thread-safe. A thread of its own commits what came while it committed the batch before.
class CommitQueue {
 public:
  // A step of a transaction. One that answers an error leaves nothing behind, and the others of its
  // batch go on. Passes the crash points store.NAME.before, store.NAME.before_commit and
  // store.NAME.after_commit.
  struct Change {
    std::string_view name;
    std::function<absl::Status(Connection&)> run;
  };
  using Done = std::function<void(std::vector<absl::Status>)>;

  // `db` outlives the queue and is used by nobody else. At most `most_waiting` posted changes wait.
  // `committed` is called on the queue's thread after each commit, before those who wait for it
  // are answered.
  CommitQueue(Connection* db, size_t most_waiting, std::function<void()> committed = nullptr);
  // What waits is committed first.
  ~CommitQueue();
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;

  // Runs the change and returns once it is on the disk.
  //
  // Where a commit fails, what is on the disk is unknown until the file is opened again: from then
  // on every change is refused with kUnavailable.
  absl::Status Commit(Change change);
  // Runs the changes in one transaction and calls `done` on the queue's thread with the status of
  // each, once they are on the disk. kResourceExhausted: too many wait, and `done` is not called.
  absl::Status Post(std::vector<Change> changes, Done done);

  // Batches committed so far.
  int64_t batches() const;

 private:
  // What was posted together.
  struct Group {
    std::vector<Change> changes;
    std::vector<absl::Status> statuses;
    Done done;
  };
  using Batch = std::vector<Group>;

  void Enqueue(std::vector<Change> changes, Done done);
  void Work();
  void RunBatch(Batch& batch);
  absl::Status RunChanges(Batch& batch);
  absl::Status RunOne(const Change& change, absl::Status& status);
  void Break(const absl::Status& why);

  Connection* const db_;  // used by the thread
  const size_t most_waiting_;
  const std::function<void()> committed_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable something_waits_;
  Batch queue_;
  size_t posted_ = 0;  // changes that came by Post and are not committed
  bool is_closing_ = false;
  absl::Status broken_;
  int64_t batches_ = 0;
  std::thread thread_;
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_COMMIT_QUEUE_H_
