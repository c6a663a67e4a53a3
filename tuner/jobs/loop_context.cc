#include "tuner/jobs/loop_context.h"

#include <spdlog/spdlog.h>

namespace hone::tuner {

bool LoopContext::HasOthers() const {
  return !parts.is_private && parts.ownership.epoch != 0 && parts.store->HasManyOwners();
}

tuning_db::Ownership LoopContext::LeasesAs() const {
  return parts.is_private ? tuning_db::Ownership() : parts.ownership;
}

void LoopContext::Fatal(const absl::Status& status) {
  const bool is_elsewhere = absl::IsAborted(status) || absl::IsFailedPrecondition(status);
  if (HasOthers() && is_elsewhere) {
    spdlog::warn("{}", std::string(status.message()));
    was_refused = true;
    return;
  }
  spdlog::critical("the tuning database fails, tuning stops: {}", status.ToString());
  stopped = true;
  if (parts.on_fatal) parts.on_fatal(status);
}

}  // namespace hone::tuner
