// Writes changes. Those that wait at the same time share one transaction, which is run until it is
// known to be committed or refused.
#ifndef HONE_TUNING_DB_POSTGRES_WRITER_H_
#define HONE_TUNING_DB_POSTGRES_WRITER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tuning_db/group_commit.h"
#include "tuning_db/postgres/connection.h"

namespace hone::tuning_db::postgres {

// Thread-safe.
//
// A transaction whose connection is lost before its COMMIT was sent is run again. If a COMMIT was
// not answered, the writer first looks whether it succeeded: each transaction leaves the number of
// its batch in the writer's row of `writers`. So nothing that was committed is done twice.
class Writer {
 public:
  // A change may be run several times; at most one of the runs is committed.
  using Change = GroupCommit<Connection>::Change;
  using Done = GroupCommit<Connection>::Done;

  // At most `most_waiting` posted changes may wait. While the server cannot be reached or gives up
  // every transaction, changes wait. Once that has lasted for `patience_ns`, all of them fail with
  // kUnavailable, early and late ones alike, and from then on each batch is tried once, until one
  // succeeds. So no change waits longer than that, plus the attempt that is under way.
  Writer(std::string address, std::unique_ptr<Connection> db, size_t most_waiting,
         int64_t patience_ns);

  // These two are those of GroupCommit.
  absl::Status Commit(Change change) { return changes_.Commit(std::move(change)); }
  absl::Status Post(std::vector<Change> changes, Done done) {
    return changes_.Post(std::move(changes), std::move(done));
  }
  CommitTotals totals() const { return changes_.totals(); }

 private:
  using Step = GroupCommit<Connection>::Step;
  using Steps = GroupCommit<Connection>::Steps;
  enum class Attempt {
    kCommitted,
    kRefused,  // the statuses of its steps say why
    kPassing,  // nothing was committed: run it again
    kUnknown,  // it may have been committed or not
  };

  // What is rolled back when a step is refused: that step alone, or the whole transaction.
  enum class Refusal { kOfStep, kOfBatch };

  void RunBatch(const Steps& steps);
  // Tries until the batch is known to be committed or refused, or patience ends.
  Attempt RunSteps(const Steps& steps, Refusal refusal);
  Attempt TryOnce(const Steps& steps, Refusal refusal);
  absl::Status Begin();
  absl::Status RunEach(const Steps& steps, Refusal refusal);
  // Runs a step in a savepoint. Its own error goes to its status; an error of the transaction is
  // returned.
  absl::Status RunAlone(const Step& step);
  // Finds out whether a COMMIT that was not answered succeeded.
  Attempt LookUp();
  absl::Status Reach();
  // Whether to give up a batch that has been tried since `begin` without success.
  bool IsPatienceOver(std::chrono::steady_clock::time_point begin);

  const std::string address_;
  const int64_t id_;  // of this writer's row of `writers`
  const int64_t patience_ns_;
  // Only the thread of `changes_` uses these.
  std::unique_ptr<Connection> db_;  // null: lost
  int64_t number_ = 0;              // of the batch
  absl::Status trouble_;            // why the last attempt failed
  // Since when no attempt has succeeded; nullopt if the last one did.
  std::optional<std::chrono::steady_clock::time_point> in_trouble_since_;
  GroupCommit<Connection> changes_;  // the last member: its thread uses the others
};

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_WRITER_H_
