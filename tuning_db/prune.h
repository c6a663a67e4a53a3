// Prunes a whole store, step by step.
#ifndef HONE_TUNING_DB_PRUNE_H_
#define HONE_TUNING_DB_PRUNE_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "tuning_db/upkeep.h"

namespace hone::tuning_db {

// How many rows a step looks at. A step takes some milliseconds, and others may write between two.
inline constexpr int64_t kPruneStepRows = 2000;

struct PruneTotals {
  int64_t events = 0;   // removed
  int64_t samples = 0;  // records whose samples were removed
};

// Calls `step`, which is Upkeep::Prune or asks a daemon for it, from the first place to the last,
// and adds up what it removed.
absl::StatusOr<PruneTotals> PruneAll(
    const std::function<absl::StatusOr<Pruned>(const PrunePlace& place)>& step);
absl::StatusOr<PruneTotals> PruneAll(Upkeep& store, int64_t before_wall_ns);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_PRUNE_H_
