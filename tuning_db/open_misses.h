// Finds the missed kernels that still lack a tuned config.
#ifndef HONE_TUNING_DB_OPEN_MISSES_H_
#define HONE_TUNING_DB_OPEN_MISSES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

// Those of `misses` whose kernel is still not `tuned` (resolve.h), in their order.
absl::StatusOr<std::vector<Miss>> StillMissed(Store& store, const std::vector<Miss>& misses);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_OPEN_MISSES_H_
