// What operators put aside, in the store that lives in memory.
#include "support/status.h"
#include "tuning_db/memory/memory_store.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db {

absl::StatusOr<Quarantine> MemoryStore::SetQuarantine(const Quarantine& quarantine) {
  HONE_RETURN_IF_ERROR(IsWellFormed(quarantine));
  const std::lock_guard lock(mutex_);
  Quarantine& row = quarantines_[{quarantine.worker, quarantine.device}];
  row = quarantine;
  row.at_ns = clock_.WallTimeNs();
  return row;
}

absl::StatusOr<std::vector<Quarantine>> MemoryStore::EndQuarantines(const std::string& worker,
                                                                    const std::string& device) {
  HONE_RETURN_IF_ERROR(IsText("a worker's name", worker));
  HONE_RETURN_IF_ERROR(IsText("a device's name", device));
  const std::lock_guard lock(mutex_);
  std::vector<Quarantine> ended;
  std::erase_if(quarantines_, [&](const auto& item) {
    const Quarantine& known = item.second;
    const bool is_it = known.worker == worker && (device.empty() || known.device == device);
    if (is_it) ended.push_back(known);
    return is_it;
  });
  return ended;
}

absl::StatusOr<std::vector<Quarantine>> MemoryStore::ListQuarantines() {
  const std::lock_guard lock(mutex_);
  std::vector<Quarantine> all;
  for (const auto& [key, quarantine] : quarantines_) all.push_back(quarantine);
  return all;
}

}  // namespace hone::tuning_db
