// Group commit: changes that wait at the same time share one transaction and one sync.
#ifndef HONE_TUNING_DB_SQLITE_COMMIT_QUEUE_H_
#define HONE_TUNING_DB_SQLITE_COMMIT_QUEUE_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tuning_db/sqlite/connection.h"

namespace hone::tuning_db::sqlite {

// Thread-safe. Owns no thread: whoever comes first commits for those that came meanwhile.
class CommitQueue {
 public:
  using Change = std::function<absl::Status(Connection&)>;

  // `db` outlives the queue and is used by nobody else.
  explicit CommitQueue(Connection* db) : db_(db) {}

  // Runs `change` and returns once it is on the disk. A change that answers an error leaves nothing
  // behind, and the others of its batch go on. Passes the crash points store.NAME.before,
  // store.NAME.before_commit and store.NAME.after_commit.
  //
  // Where a commit fails, what is on the disk is unknown until the file is opened again: from then
  // on every change is refused with kUnavailable.
  absl::Status Commit(std::string_view name, const Change& change);

  // Batches committed so far.
  int64_t batches() const;

 private:
  struct Waiting {
    std::string_view name;
    const Change* change;
    absl::Status status;
    bool is_done = false;
  };

  void Break(const absl::Status& why);
  void RunBatch(const std::vector<Waiting*>& batch);
  absl::Status RunChanges(const std::vector<Waiting*>& batch);
  absl::Status RunOne(Waiting& waiting);

  Connection* const db_;  // used by the leader
  mutable std::mutex mutex_;
  std::condition_variable batch_is_done_;
  std::vector<Waiting*> queue_;
  bool has_leader_ = false;
  absl::Status broken_;
  int64_t batches_ = 0;
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_COMMIT_QUEUE_H_
