// What is asked of the log: records, finals, finals of models, misses.
#ifndef HONE_TUNING_DB_LOG_STORE_H_
#define HONE_TUNING_DB_LOG_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/model_final.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

struct RecordFilter {
  std::optional<int64_t> task = std::nullopt;
  std::optional<std::string> signature = std::nullopt;
  std::optional<int64_t> job = std::nullopt;
  std::optional<Purpose> purpose = std::nullopt;
  std::string target = "";              // empty: any
  std::string workload_substring = "";  // empty: any
  std::optional<Outcome> outcome = std::nullopt;
  std::string device = "";      // fingerprint; empty: any
  int64_t since_wall_ns = 0;    // by Record::wall_time_ns, at this time or later
  int64_t before_wall_ns = 0;   // and earlier than this; 0: any
  bool with_retracted = false;  // also those that count for nothing (Upkeep::Retract)
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
  // With an event "final" in the same transaction. Returns its id. kNotFound where it names a
  // record that is none of a confirm trial of its task and signature that succeeded.
  virtual absl::StatusOr<int64_t> AddFinal(const Final& final) = 0;
  // Finals that were retracted (Upkeep::Retract) are passed over, here and below.
  virtual absl::StatusOr<std::optional<Final>> NewestFinal(int64_t task,
                                                           const std::string& signature) = 0;
  // The newest final of each task and signature, by task; of one target, or of all (empty), of
  // workloads whose text has the part (empty: any).
  virtual absl::StatusOr<std::vector<TaskFinal>> NewestFinals(
      const std::string& target, const std::string& workload_substring) = 0;

  // ---- finals of models ----
  // Returns its id. kInvalidArgument for one without a skeleton, target or kernels.
  virtual absl::StatusOr<int64_t> AddModelFinal(const ModelFinal& final) = 0;
  // The newest final of the model with this skeleton on this target.
  virtual absl::StatusOr<std::optional<ModelFinal>> NewestModelFinal(const std::string& skeleton,
                                                                     const std::string& target) = 0;

  // ---- misses: kernels compiled at a tier below `tuned` ----
  // Adds the `count` of each to the miss with its (workload digest, signature, target, model), which
  // takes on its tier; all of them, or on an error none.
  virtual absl::Status RecordMisses(const std::vector<Miss>& misses) = 0;
  // Those of one target, or of all (empty); in the order in which they were first seen.
  virtual absl::StatusOr<std::vector<Miss>> ListMisses(const std::string& target) = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_LOG_STORE_H_
