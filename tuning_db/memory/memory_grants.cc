// Who may call, in the store that lives in memory.
#include "support/status.h"
#include "tuning_db/memory/memory_store.h"

namespace hone::tuning_db {

absl::StatusOr<Grant> MemoryStore::AddGrant(const Grant& grant, int64_t overlap_ns) {
  const std::lock_guard lock(mutex_);
  HONE_ASSIGN_OR_RETURN(std::vector<Grant> plan,
                        PlanGrant(grants_, grant, overlap_ns, clock_.WallTimeNs()));
  plan.back().id = static_cast<int64_t>(grants_.size()) + 1;
  grants_.push_back(plan.back());
  for (const Grant& changed : plan) *Find(grants_, changed.id) = changed;
  return plan.back();
}

absl::StatusOr<std::vector<Grant>> MemoryStore::ListGrants() {
  const std::lock_guard lock(mutex_);
  return grants_;
}

absl::StatusOr<std::vector<Grant>> MemoryStore::RevokeGrants(const std::string& name) {
  const std::lock_guard lock(mutex_);
  HONE_ASSIGN_OR_RETURN(const std::vector<Grant> plan,
                        PlanRevocation(grants_, name, clock_.WallTimeNs()));
  for (const Grant& revoked : plan) *Find(grants_, revoked.id) = revoked;
  return plan;
}

}  // namespace hone::tuning_db
