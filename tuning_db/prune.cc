#include "tuning_db/prune.h"

#include "support/status.h"

namespace hone::tuning_db {

absl::StatusOr<PruneTotals> PruneAll(
    const std::function<absl::StatusOr<Pruned>(const PrunePlace& place)>& step) {
  PruneTotals totals;
  PrunePlace place;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const Pruned pruned, step(place));
    totals.events += pruned.events;
    totals.samples += pruned.samples;
    if (pruned.is_last) return totals;
    place = pruned.next;
  }
}

absl::StatusOr<PruneTotals> PruneAll(Upkeep& store, int64_t before_wall_ns) {
  return PruneAll(
      [&](const PrunePlace& place) { return store.Prune(before_wall_ns, place, kPruneStepRows); });
}

}  // namespace hone::tuning_db
