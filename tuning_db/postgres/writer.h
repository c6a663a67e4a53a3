// Writing: changes that wait at the same time share one transaction, which is run again until it is
// known to be committed or not.
#ifndef HONE_TUNING_DB_POSTGRES_WRITER_H_
#define HONE_TUNING_DB_POSTGRES_WRITER_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "tuning_db/postgres/connection.h"

namespace hone::tuning_db::postgres {

// Thread-safe. A thread of its own commits what came while it committed the batch before.
//
// A transaction whose connection is lost before its COMMIT was sent is run again. One whose COMMIT
// was not answered is looked up first: each transaction leaves the number of its batch in the
// writer's row of `writers`, so that what has been committed is never done twice.
class Writer {
 public:
  // A step of a transaction. It may be run several times, of which one is committed; one that
  // answers an error leaves nothing behind, and the others of its batch go on. Passes the crash
  // points store.NAME.before, store.NAME.before_commit and store.NAME.after_commit.
  struct Change {
    std::string_view name;
    std::function<absl::Status(Connection&)> run;
  };
  using Done = std::function<void(std::vector<absl::Status>)>;

  // At most `most_waiting` posted changes wait. While the server cannot be reached, a batch waits
  // for `patience_ns` and then fails with kUnavailable.
  Writer(std::string address, std::unique_ptr<Connection> db, size_t most_waiting,
         int64_t patience_ns);
  // What waits is committed first.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Runs the change and returns once it is on the server's disk.
  absl::Status Commit(Change change);
  // Runs the changes in one transaction and calls `done` on the writer's thread with the status of
  // each, once they are on the disk. kResourceExhausted: too many wait, and `done` is not called.
  absl::Status Post(std::vector<Change> changes, Done done);

 private:
  // What was posted together.
  struct Group {
    std::vector<Change> changes;
    std::vector<absl::Status> statuses;
    Done done;
  };
  using Batch = std::vector<Group>;
  // One change of a batch, and where its answer goes.
  struct Step {
    const Change* change;
    absl::Status* status;
  };
  enum class Attempt {
    kCommitted,
    kRefused,  // by the statuses of its steps
    kPassing,  // nothing was committed: run it again
    kUnknown,  // whether it was committed
  };

  void Enqueue(std::vector<Change> changes, Done done);
  void Work();
  void RunBatch(Batch& batch);
  // Until it is known to be committed or refused, or patience ends.
  Attempt RunSteps(const std::vector<Step>& steps);
  Attempt TryOnce(const std::vector<Step>& steps);
  absl::Status Begin();
  absl::Status RunEach(const std::vector<Step>& steps);
  // After an unanswered COMMIT.
  Attempt LookUp();
  absl::Status Reach();
  bool IsClosing() const;

  const std::string address_;
  const int64_t id_;  // in `writers`
  const size_t most_waiting_;
  const int64_t patience_ns_;
  std::unique_ptr<Connection> db_;  // used by the thread; nullptr: lost
  int64_t number_ = 0;              // of the batch, likewise
  absl::Status trouble_;            // why the last attempt failed, likewise
  mutable std::mutex mutex_;        // guards all below
  std::condition_variable something_waits_;
  Batch queue_;
  size_t posted_ = 0;  // changes that came by Post and are not committed
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_WRITER_H_
