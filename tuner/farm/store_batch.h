// How many changes the farm sends to the store at once.
#ifndef HONE_TUNER_FARM_STORE_BATCH_H_
#define HONE_TUNER_FARM_STORE_BATCH_H_

#include <cstddef>

#include "tuning_db/trial_store.h"

namespace hone::tuner {

// A batch larger than all that may wait in the store would be refused for ever.
inline constexpr size_t kMostABatch = tuning_db::kMostWaiting / 4;

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_STORE_BATCH_H_
