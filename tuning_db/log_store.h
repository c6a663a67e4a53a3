// The part of the store for the log: records, finals, finals of models, and misses.
#ifndef HONE_TUNING_DB_LOG_STORE_H_
#define HONE_TUNING_DB_LOG_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/log_stats.h"
#include "tuning_db/model_final.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// Selects the records, finals or tasks that meet every condition that is set.
struct RecordFilter {
  std::optional<int64_t> task = std::nullopt;
  std::optional<std::string> signature = std::nullopt;
  std::optional<int64_t> job = std::nullopt;
  std::optional<Purpose> purpose = std::nullopt;
  // These texts: empty for any.
  std::string target = "";
  std::string target_part = "";
  std::string workload_substring = "";
  std::string op = "";     // an operator of its workload, "nn.conv2d"
  std::string shape = "";  // the shape of an operand of its workload, "1x64x56x56" (task_match.h)
  std::optional<Outcome> outcome = std::nullopt;
  bool is_failure = false;         // any outcome but ok
  std::string device = "";         // fingerprint
  std::string device_prefix = "";  // how the fingerprint begins
  int64_t since_wall_ns = 0;       // Record::wall_time_ns is this or later
  int64_t before_wall_ns = 0;      // Record::wall_time_ns is earlier than this; 0: any
  bool with_retracted = false;     // includes retracted ones (Upkeep::Retract)
};

// A record with all that is needed to repeat its measurement.
struct RecordDetail {
  Record record;
  Task task;
  int64_t constant_bytes = 0;  // of its job (Job::constant_bytes); 0: unknown, or no job
  int64_t final = 0;           // the final whose confirm trial it settled; 0: none
};

struct TaskFinal {
  Task task;
  Final final;
};

struct RecordPage {
  std::vector<Record> records;
  // The cursor of the next page: opaque, and valid for the same order only. Reading from cursor to
  // cursor gives nothing twice, and misses nothing that was committed before the last page was
  // read.
  std::string next;
  bool is_last = false;
};

struct FinalPage {
  std::vector<TaskFinal> finals;
  std::string next;  // as in RecordPage
  bool is_last = false;
};

// A part of Store; its comment (store.h) says what holds for every call.
class LogStore {
 public:
  virtual ~LogStore() = default;

  // ---- records and finals ----
  // At most `limit` (0: all) records that match, after `cursor` (empty: from the beginning).
  // kInvalidArgument for a cursor that did not come from a page of this order.
  virtual absl::StatusOr<RecordPage> ListRecords(const RecordFilter& filter, Order order,
                                                 const std::string& cursor, int64_t limit) = 0;
  // All records that match, the oldest first.
  absl::StatusOr<std::vector<Record>> Records(const RecordFilter& filter);
  virtual absl::StatusOr<RecordDetail> GetRecord(int64_t id) = 0;
  // Counts the records that match.
  virtual absl::StatusOr<LogStats> Stats(const RecordFilter& filter) = 0;
  // Adds the final and an event "final" in one transaction, and returns the final's id. kNotFound
  // if Final::record is set but is not the record of a successful confirm trial of the same task
  // and signature.
  virtual absl::StatusOr<int64_t> AddFinal(const Final& final) = 0;
  // The newest final of a task and signature; nullopt if there is none. Retracted finals
  // (Upkeep::Retract) are passed over, here and, unless the filter says otherwise, below.
  virtual absl::StatusOr<std::optional<Final>> NewestFinal(int64_t task,
                                                           const std::string& signature) = 0;
  // For each task and signature, the newest final that matches, in the order of tasks. The filter's
  // purpose and outcome do not apply. If a final replaces another between two pages, both may be
  // listed.
  virtual absl::StatusOr<FinalPage> ListFinals(const RecordFilter& filter,
                                               const std::string& cursor, int64_t limit) = 0;
  // All finals that match, as ListFinals lists them.
  absl::StatusOr<std::vector<TaskFinal>> Finals(const RecordFilter& filter);

  // ---- finals of models ----
  // Returns the final's id. kInvalidArgument if it has no skeleton, target or kernels.
  virtual absl::StatusOr<int64_t> AddModelFinal(const ModelFinal& final) = 0;
  // The newest final of the model with this skeleton on this target.
  virtual absl::StatusOr<std::optional<ModelFinal>> NewestModelFinal(const std::string& skeleton,
                                                                     const std::string& target) = 0;

  // ---- misses: kernels compiled at a tier below `tuned` ----
  // Adds the `count` of each to the stored miss with the same workload digest, signature, target
  // and model, and sets its tier. After an error nothing is added.
  virtual absl::Status RecordMisses(const std::vector<Miss>& misses) = 0;
  // The misses of one target, or of all if `target` is empty, in the order in which they were first
  // recorded.
  virtual absl::StatusOr<std::vector<Miss>> ListMisses(const std::string& target) = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_LOG_STORE_H_
