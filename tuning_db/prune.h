// Prunes a whole store, step by step.
#ifndef HONE_TUNING_DB_PRUNE_H_
#define HONE_TUNING_DB_PRUNE_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "tuning_db/upkeep.h"

namespace hone::tuning_db {

// Rows that a step looks at: it takes some milliseconds, and others write between two of them.
inline constexpr int64_t kPruneStepRows = 2000;

struct PruneTotals {
  int64_t events = 0;   // removed
  int64_t samples = 0;  // records whose samples were removed
};

// Step by step, from the beginning to the end. `step` is Upkeep::Prune of a store, or asks for it.
absl::StatusOr<PruneTotals> PruneAll(
    const std::function<absl::StatusOr<Pruned>(const PrunePlace& place)>& step);
absl::StatusOr<PruneTotals> PruneAll(Upkeep& store, int64_t before_wall_ns);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_PRUNE_H_
