// Results under leases that this daemon does not have open: from its earlier life and not taken up,
// sent twice, or too late.
#ifndef HONE_TUNER_FARM_STRAY_RESULTS_H_
#define HONE_TUNER_FARM_STRAY_RESULTS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/farm.pb.h"
#include "support/clock.h"
#include "tuner/mailbox.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// A result, and who sent it.
struct StrayResult {
  std::string worker;
  std::optional<hone::v1::Device> device;  // that measured it; nullopt: the worker has it no more
  uint32_t protocol = 0;                   // that the worker speaks
  hone::v1::MeasureResult result;
};

// What became of it; `why` is for people, where it was refused.
using StrayCallback = std::function<void(const absl::StatusOr<tuning_db::SettleResult>& settled,
                                         const std::string& why)>;

// The store knows such leases. Store and clock outlive it; it is asked on the mailbox's executor.
class StrayResults {
 public:
  StrayResults(tuning_db::Store* store, const Clock* clock, std::shared_ptr<Mailbox> mailbox)
      : store_(store), clock_(clock), mailbox_(std::move(mailbox)) {}

  // Settles the trial where the lease is still its newest and the worker's own, and the result says
  // what that asked for. `settled` is called by the mailbox, later. A store that fails in a way
  // that passes is asked again.
  void Settle(StrayResult stray, StrayCallback settled);
  // To be called at every tick: asks again for those that the store did not take.
  void TryAgain();

 private:
  void SettleAs(const StrayResult& stray, const absl::StatusOr<tuning_db::Trial>& trial,
                const StrayCallback& settled);
  // The store failed, and is asked again where that passes.
  void Wait(StrayResult stray, StrayCallback settled, const absl::Status& why);

  tuning_db::Store* const store_;
  const Clock* const clock_;
  const std::shared_ptr<Mailbox> mailbox_;
  std::vector<std::pair<StrayResult, StrayCallback>> waiting_;
  size_t waiting_bytes_ = 0;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_STRAY_RESULTS_H_
