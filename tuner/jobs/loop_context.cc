#include "tuner/jobs/loop_context.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "tuner/store_error.h"

namespace hone::tuner {

bool LoopContext::HasOthers() const {
  return !parts.is_private && parts.ownership.epoch != 0 && parts.store->HasManyOwners();
}

tuning_db::Ownership LoopContext::LeasesAs() const {
  return parts.is_private ? tuning_db::Ownership() : parts.ownership;
}

void LoopContext::Failed(const absl::Status& status, std::function<void()> again) {
  if (stopped) return;
  if (HasOthers() && IsRefused(status)) {
    spdlog::warn("{}", std::string(status.message()));
    was_refused = true;
    return;
  }
  if (!Passes(status)) return Fatal(status);
  if (absl::IsUnavailable(status)) {
    was_unreached_ = true;
    if (!IsWorthWaiting()) return Fatal(status);
  }
  if (!std::exchange(is_failing_, true)) {
    spdlog::warn("the tuning database is asked again until it works: {}", status.ToString());
  }
  again_.push_back(std::move(again));
}

bool LoopContext::IsWorthWaiting() {
  const int64_t now_ns = parts.clock->NowNs();
  if (!unreached_since_ns_) unreached_since_ns_ = now_ns;
  if (now_ns - *unreached_since_ns_ <= options.store_patience_ns) return true;
  // One that fails now and then is another matter than one that takes nothing any more.
  const auto renewed = parts.store->RenewJobs(parts.ownership, options.owner_lease_ns);
  unreached_since_ns_ = now_ns;
  return !absl::IsUnavailable(renewed.status());
}

void LoopContext::TryAgain() {
  if (!std::exchange(was_unreached_, false)) unreached_since_ns_.reset();
  is_failing_ = !again_.empty();
  for (const std::function<void()>& again : std::exchange(again_, {})) {
    if (!stopped) again();
  }
}

void LoopContext::Fatal(const absl::Status& status) {
  if (stopped) return;
  spdlog::critical("the tuning database fails, tuning stops: {}", status.ToString());
  stopped = true;
  if (parts.on_fatal) parts.on_fatal(status);
}

}  // namespace hone::tuner
