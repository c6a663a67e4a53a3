// The store as one life of the daemon sees it: it fails now and then, and is gone once that life is
// over. What was committed is written into the history.
#ifndef HONE_TESTS_FARM_SIMULATOR_WATCHED_STORE_H_
#define HONE_TESTS_FARM_SIMULATOR_WATCHED_STORE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/farm_simulator/event_queue.h"
#include "tests/farm_simulator/forwarding_store.h"
#include "tests/farm_simulator/history.h"

namespace hone::sim {

// What befalls writes. It outlives daemons.
struct StoreWeather {
  bool is_full = false;   // every write fails
  double fail_share = 0;  // so does this share of them
  double kill_share = 0;  // the daemon is killed at this share of them: before or after the commit
};

class WatchedStore : public ForwardingStore {
 public:
  WatchedStore(tuning_db::Store* next, StoreWeather* weather, EventQueue* queue,
               std::shared_ptr<Life> life, History* history, std::function<void()> kill)
      : ForwardingStore(next),
        weather_(weather),
        queue_(queue),
        life_(std::move(life)),
        history_(history),
        kill_(std::move(kill)) {}

  absl::Status SetJobState(int64_t id, tuning_db::JobState state,
                           const std::string& message) override;
  absl::Status SetJobRan(int64_t id, int64_t ran_ns) override;
  absl::StatusOr<std::vector<tuning_db::Trial>> Propose(
      const std::vector<tuning_db::Trial>& trials) override;
  absl::StatusOr<tuning_db::Trial> Lease(int64_t trial, const std::string& worker) override;
  absl::Status Release(int64_t trial, int64_t fence) override;
  absl::StatusOr<tuning_db::SettleResult> Settle(int64_t fence,
                                                 const tuning_db::Record& record) override;
  absl::StatusOr<tuning_db::SettleResult> SettleFinal(int64_t fence,
                                                      const tuning_db::Record& record,
                                                      const tuning_db::Final& final) override;

 private:
  // Before a write: an error if it is not to be carried out.
  absl::Status Enter(const std::string& call);
  // After its commit.
  void Leave();
  void WriteSettled(int64_t fence, const tuning_db::Record& record,
                    const absl::StatusOr<tuning_db::SettleResult>& result);

  StoreWeather* const weather_;
  EventQueue* const queue_;
  const std::shared_ptr<Life> life_;
  History* const history_;
  const std::function<void()> kill_;  // the daemon
};

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_WATCHED_STORE_H_
