// One life of the daemon: a dispatcher and what feeds it, on a store that
// outlives them.
#ifndef HONE_TESTS_FARM_SIMULATOR_SIM_DAEMON_H_
#define HONE_TESTS_FARM_SIMULATOR_SIM_DAEMON_H_

#include <memory>

#include "tests/farm_simulator/job_layer.h"
#include "tests/farm_simulator/network.h"
#include "tests/farm_simulator/watched_store.h"

namespace hone::sim {

struct DaemonParts {
  EventQueue *queue = nullptr;
  Network *network = nullptr;
  History *history = nullptr;
  WatchedStore *store = nullptr;
  bool runs_loop = false;  // the TuningLoop; otherwise jobs are fed directly
  int ticks_every = 1;     // of the times when it should; more is a bug that tests plant
};

class SimDaemon {
 public:
  // Up from now on.
  explicit SimDaemon(DaemonParts parts);
  ~SimDaemon();

  // From here on nothing of it has any effect: it may be called amid its own
  // doing. To be destroyed from outside it.
  void Kill();
  bool is_dead() const { return life_->is_over(); }

  JobLayer &jobs() { return *jobs_; }
  tuner::Dispatcher &dispatcher() { return *dispatcher_; }
  // Its wall clock jumps.
  void JumpClock();

 private:
  void Tick();

  int ticks_ = 0;
  const DaemonParts parts_;
  const std::shared_ptr<Life> life_ = std::make_shared<Life>();
  SimClock clock_;
  SimExecutor executor_;
  std::unique_ptr<tuner::Dispatcher> dispatcher_;
  std::unique_ptr<JobLayer> jobs_;
};

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_SIM_DAEMON_H_
