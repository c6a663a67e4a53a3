// The part of the store for upkeep: checks, retractions and pruning.
#ifndef HONE_TUNING_DB_UPKEEP_H_
#define HONE_TUNING_DB_UPKEEP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "support/histogram.h"

namespace hone::tuning_db {

// Where Prune continues: it looks at all events by job and number, then at all records by id.
struct PrunePlace {
  int64_t job = 0;  // these two name the last event that was looked at
  int64_t seq = 0;
  bool events_done = false;
  int64_t record = 0;  // the last record that was looked at
};

struct Pruned {
  int64_t events = 0;   // removed
  int64_t samples = 0;  // records whose samples were removed
  PrunePlace next;
  bool is_last = false;
};

// What was committed since the store was opened, for monitoring.
struct CommitTotals {
  uint64_t changes = 0;       // including those that failed
  uint64_t failed = 0;        // transactions that were not committed
  Histogram::Totals seconds;  // of each transaction, failed ones too
};

// A part of Store; its comment (store.h) says what holds for every call.
class Upkeep {
 public:
  virtual ~Upkeep() = default;

  // All zero for a store that is open for reading only, and for one in memory.
  virtual CommitTotals Commits() const { return {}; }

  // Sentences about everything that does not hold; empty if the store is sound.
  virtual absl::StatusOr<std::vector<std::string>> Check() = 0;

  // Makes the record count for nothing from now on. It stays stored, and a row beside it keeps the
  // reason. Retracting it again changes nothing. The final of which it is the record
  // (Final::record) is retracted with it, so that the newest final is the newest of the others.
  // kInvalidArgument if the reason is empty.
  virtual absl::Status Retract(int64_t record, const std::string& reason) = 0;

  // One short step of pruning: looks at `most_rows` rows after `place`. Of those older than
  // `before_wall_ns`, removes what nothing needs any more:
  //   - events of jobs that have ended, the oldest first and never the last one, so that those that
  //     stay are numbered without gaps;
  //   - all samples but the least of a search's record, if its task and signature have a final, no
  //     final of theirs compared the record's config, and no unfinished job wants them.
  // Records stay, with everything else that they say. Pruning never changes a final, progress, or
  // the best config of a task, even if a final is retracted later, because records are ranked by
  // their least sample.
  virtual absl::StatusOr<Pruned> Prune(int64_t before_wall_ns, const PrunePlace& place,
                                       int64_t most_rows) = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_UPKEEP_H_
