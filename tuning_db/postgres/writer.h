// Writing: changes that wait at the same time share one transaction, which is run again until it is
// known to be committed or not.
#ifndef HONE_TUNING_DB_POSTGRES_WRITER_H_
#define HONE_TUNING_DB_POSTGRES_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tuning_db/group_commit.h"
#include "tuning_db/postgres/connection.h"

namespace hone::tuning_db::postgres {

// Thread-safe.
//
// A transaction whose connection is lost before its COMMIT was sent is run again. One whose COMMIT
// was not answered is looked up first: each transaction leaves the number of its batch in the
// writer's row of `writers`, so that what has been committed is never done twice.
class Writer {
 public:
  // A change may be run several times, of which one is committed.
  using Change = GroupCommit<Connection>::Change;
  using Done = GroupCommit<Connection>::Done;

  // At most `most_waiting` posted changes wait. While the server cannot be reached, a batch waits
  // for `patience_ns` and then fails with kUnavailable.
  Writer(std::string address, std::unique_ptr<Connection> db, size_t most_waiting,
         int64_t patience_ns);

  // As GroupCommit's, these two.
  absl::Status Commit(Change change) { return changes_.Commit(std::move(change)); }
  absl::Status Post(std::vector<Change> changes, Done done) {
    return changes_.Post(std::move(changes), std::move(done));
  }

 private:
  using Step = GroupCommit<Connection>::Step;
  using Steps = GroupCommit<Connection>::Steps;
  enum class Attempt {
    kCommitted,
    kRefused,  // by the statuses of its steps
    kPassing,  // nothing was committed: run it again
    kUnknown,  // whether it was committed
  };

  void RunBatch(const Steps& steps);
  // Until it is known to be committed or refused, or patience ends.
  Attempt RunSteps(const Steps& steps);
  Attempt TryOnce(const Steps& steps);
  absl::Status Begin();
  absl::Status RunEach(const Steps& steps);
  // After an unanswered COMMIT.
  Attempt LookUp();
  absl::Status Reach();

  const std::string address_;
  const int64_t id_;  // in `writers`
  const int64_t patience_ns_;
  std::unique_ptr<Connection> db_;   // used by the thread; nullptr: lost
  int64_t number_ = 0;               // of the batch, likewise
  absl::Status trouble_;             // why the last attempt failed, likewise
  GroupCommit<Connection> changes_;  // the last member: its thread uses the others
};

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_WRITER_H_
