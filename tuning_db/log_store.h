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
  int64_t after_id = 0;                 // records with greater ids, in the order of ids
  int64_t limit = 0;                    // 0: all
  bool newest_first = false;            // then after_id is an upper bound (0: none)
};

// Of Store, whose comment says what holds for every call.
class LogStore {
 public:
  virtual ~LogStore() = default;

  // ---- records and finals ----
  virtual absl::StatusOr<std::vector<Record>> Records(const RecordFilter& filter) = 0;
  // With an event "final" of its job in the same transaction. Returns its id.
  virtual absl::StatusOr<int64_t> AddFinal(const Final& final) = 0;
  virtual absl::StatusOr<std::optional<Final>> NewestFinal(int64_t task,
                                                           const std::string& signature) = 0;

  // ---- finals of models ----
  // Returns its id. kInvalidArgument for one without a skeleton, target or kernels.
  virtual absl::StatusOr<int64_t> AddModelFinal(const ModelFinal& final) = 0;
  // The newest final of the model with this skeleton on this target.
  virtual absl::StatusOr<std::optional<ModelFinal>> NewestModelFinal(const std::string& skeleton,
                                                                     const std::string& target) = 0;

  // ---- misses: kernels compiled at a tier below `tuned` ----
  // Adds `miss.count` to the miss with this (workload digest, signature, target, model), which
  // takes on the tier.
  virtual absl::Status RecordMiss(const Miss& miss) = 0;
  // Of one target, or of all (empty); in the order in which they were first seen.
  virtual absl::StatusOr<std::vector<Miss>> ListMisses(const std::string& target) = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_LOG_STORE_H_
