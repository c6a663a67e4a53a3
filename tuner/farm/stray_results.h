// Results under leases that this daemon does not have open: from its earlier life and not taken up,
// sent twice, or too late.
#ifndef HONE_TUNER_FARM_STRAY_RESULTS_H_
#define HONE_TUNER_FARM_STRAY_RESULTS_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "hone/v1/farm.pb.h"
#include "support/clock.h"
#include "tuner/measurer.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// The store knows such leases. Thread-safe as the store is; both outlive it.
class StrayResults {
 public:
  StrayResults(tuning_db::Store* store, const Clock* clock) : store_(store), clock_(clock) {}

  // Settles the trial where the lease is still its newest and the worker's own. `device` is that
  // which the result is of; nullptr: the worker has none of that name.
  void Settle(const std::string& worker, const hone::v1::Device* device, uint32_t protocol,
              const hone::v1::MeasureResult& result, SettledCallback settled) const;

 private:
  // Nothing: it may not settle the trial.
  absl::StatusOr<std::optional<tuning_db::Record>> RecordOf(
      const std::string& worker, const hone::v1::Device* device, uint32_t protocol,
      const hone::v1::MeasureResult& result) const;

  tuning_db::Store* const store_;
  const Clock* const clock_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_STRAY_RESULTS_H_
