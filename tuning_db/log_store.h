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

// Selects records, finals or tasks: those that meet every condition that is set.
struct RecordFilter {
  std::optional<int64_t> task = std::nullopt;
  std::optional<std::string> signature = std::nullopt;
  std::optional<int64_t> job = std::nullopt;
  std::optional<Purpose> purpose = std::nullopt;
  // Texts; empty: any.
  std::string target = "";
  std::string target_part = "";
  std::string workload_substring = "";
  std::string op = "";     // one of its workload's operators, "nn.conv2d"
  std::string shape = "";  // that of one of its operands, "1x64x56x56" (task_match.h)
  std::optional<Outcome> outcome = std::nullopt;
  bool is_failure = false;         // any outcome but ok
  std::string device = "";         // fingerprint
  std::string device_prefix = "";  // how that begins
  int64_t since_wall_ns = 0;       // by Record::wall_time_ns, at this time or later
  int64_t before_wall_ns = 0;      // and earlier than this; 0: any
  bool with_retracted = false;     // also those that count for nothing (Upkeep::Retract)
};

// All that is kept of one record, and what it takes to repeat it.
struct RecordDetail {
  Record record;
  Task task;
  int64_t constant_bytes = 0;  // of its job (Job::constant_bytes); 0: unknown, or it has none
  int64_t final = 0;           // that it is the confirm trial of; 0: none
};

struct TaskFinal {
  Task task;
  Final final;
};

struct RecordPage {
  std::vector<Record> records;
  // Where the page after it begins: opaque, and good for the same order. A reader who goes on
  // from cursor to cursor sees nothing twice, and misses nothing that was committed before the
  // page that is the last.
  std::string next;
  bool is_last = false;
};

struct FinalPage {
  std::vector<TaskFinal> finals;
  std::string next;  // as that of RecordPage
  bool is_last = false;
};

// A part of Store, whose comment says what holds for every call.
class LogStore {
 public:
  virtual ~LogStore() = default;

  // ---- records and finals ----
  // At most `limit` (0: all) that match, after `cursor` (empty: from the beginning).
  // kInvalidArgument for a cursor that no page of this order gave.
  virtual absl::StatusOr<RecordPage> ListRecords(const RecordFilter& filter, Order order,
                                                 const std::string& cursor, int64_t limit) = 0;
  // All that match, the oldest first.
  absl::StatusOr<std::vector<Record>> Records(const RecordFilter& filter);
  // kNotFound for an unknown one.
  virtual absl::StatusOr<RecordDetail> GetRecord(int64_t id) = 0;
  // Counts those that match.
  virtual absl::StatusOr<LogStats> Stats(const RecordFilter& filter) = 0;
  // With an event "final" in the same transaction. Returns its id. kNotFound where it names a
  // record that is none of a confirm trial of its task and signature that succeeded.
  virtual absl::StatusOr<int64_t> AddFinal(const Final& final) = 0;
  // Finals that were retracted (Upkeep::Retract) are passed over, here and, unless the filter says
  // otherwise, below.
  virtual absl::StatusOr<std::optional<Final>> NewestFinal(int64_t task,
                                                           const std::string& signature) = 0;
  // The newest final of each task and signature, among those that match, by task; purpose and
  // outcome do not apply. A final that replaces another between two pages may be listed after it.
  virtual absl::StatusOr<FinalPage> ListFinals(const RecordFilter& filter,
                                               const std::string& cursor, int64_t limit) = 0;
  // All of them.
  absl::StatusOr<std::vector<TaskFinal>> Finals(const RecordFilter& filter);

  // ---- finals of models ----
  // Returns its id. kInvalidArgument for one without a skeleton, target or kernels.
  virtual absl::StatusOr<int64_t> AddModelFinal(const ModelFinal& final) = 0;
  // The newest final of the model with this skeleton on this target.
  virtual absl::StatusOr<std::optional<ModelFinal>> NewestModelFinal(const std::string& skeleton,
                                                                     const std::string& target) = 0;

  // ---- misses: kernels compiled at a tier below `tuned` ----
  // Adds the `count` of each to the miss with its (workload digest, signature, target, model),
  // which takes on its tier; all of them, or on an error none.
  virtual absl::Status RecordMisses(const std::vector<Miss>& misses) = 0;
  // Those of one target, or of all (empty); in the order in which they were first seen.
  virtual absl::StatusOr<std::vector<Miss>> ListMisses(const std::string& target) = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_LOG_STORE_H_
