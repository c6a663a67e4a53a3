// Handles results under leases that this daemon does not have open: leases of an earlier life that
// were not taken up, and results that came twice or too late.
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
  std::optional<hone::v1::Device>
      device;             // the one that measured it; nullopt if the worker no longer has it
  uint32_t protocol = 0;  // the one that the worker speaks
  hone::v1::MeasureResult result;
};

// Told how the result was settled; `why` says for people why it was refused, if it was.
using StrayCallback = std::function<void(const absl::StatusOr<tuning_db::SettleResult>& settled,
                                         const std::string& why)>;

// Looks such leases up in the store. Store and clock outlive this object; it is used on the
// mailbox's executor.
class StrayResults {
 public:
  StrayResults(tuning_db::Store* store, const Clock* clock, std::shared_ptr<Mailbox> mailbox)
      : store_(store), clock_(clock), mailbox_(std::move(mailbox)) {}

  // Settles the trial if the lease is still its newest one and belongs to the worker, and the
  // result fits the assignment. `settled` is called later, through the mailbox. If the store fails
  // in a way that passes, it is asked again.
  void Settle(StrayResult stray, StrayCallback settled);
  // Called at every tick; tries again with the results that the store did not take.
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
