// Writing: changes that wait at the same time share one transaction, which is run again until it is
// known to be committed or not.
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
// A transaction whose connection is lost before its COMMIT was sent is run again. One whose COMMIT
// was not answered is looked up first: each transaction leaves the number of its batch in the
// writer's row of `writers`, so that what has been committed is never done twice.
class Writer {
 public:
  // A change may be run several times, of which one is committed.
  using Change = GroupCommit<Connection>::Change;
  using Done = GroupCommit<Connection>::Done;

  // At most `most_waiting` posted changes wait. While the server cannot be reached, or gives up
  // each transaction, what is to be written waits, and fails with kUnavailable once that has lasted
  // for `patience_ns`: what came first and what came late alike. From then on each batch is tried
  // once, until one succeeds. So a change waits for that long, and for a try that is under way.
  Writer(std::string address, std::unique_ptr<Connection> db, size_t most_waiting,
         int64_t patience_ns);

  // As GroupCommit's, these two.
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
    kRefused,  // by the statuses of its steps
    kPassing,  // nothing was committed: run it again
    kUnknown,  // whether it was committed
  };

  // Whether a step that is refused is rolled back alone, or the transaction with it.
  enum class Refusal { kOfStep, kOfBatch };

  void RunBatch(const Steps& steps);
  // Until it is known to be committed or refused, or patience ends.
  Attempt RunSteps(const Steps& steps, Refusal refusal);
  Attempt TryOnce(const Steps& steps, Refusal refusal);
  absl::Status Begin();
  absl::Status RunEach(const Steps& steps, Refusal refusal);
  // A step in a savepoint. Its own error is its own affair; that of the transaction is returned.
  absl::Status RunAlone(const Step& step);
  // After an unanswered COMMIT.
  Attempt LookUp();
  absl::Status Reach();
  // Whether what began to be tried then, and was not done, is given up.
  bool IsPatienceOver(std::chrono::steady_clock::time_point begin);

  const std::string address_;
  const int64_t id_;  // in `writers`
  const int64_t patience_ns_;
  std::unique_ptr<Connection> db_;  // used by the thread; nullptr: lost
  int64_t number_ = 0;              // of the batch, likewise
  absl::Status trouble_;            // why the last attempt failed, likewise
  // Since when no attempt succeeds; nothing where the last one did. Likewise.
  std::optional<std::chrono::steady_clock::time_point> in_trouble_since_;
  GroupCommit<Connection> changes_;  // the last member: its thread uses the others
};

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_WRITER_H_
