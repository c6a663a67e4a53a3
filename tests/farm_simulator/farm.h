// A farm in one process, one thread and virtual time: a scenario in, its
// history out.
#ifndef HONE_TESTS_FARM_SIMULATOR_FARM_H_
#define HONE_TESTS_FARM_SIMULATOR_FARM_H_

#include <functional>
#include <memory>
#include <vector>

#include "tests/farm_simulator/history.h"
#include "tests/farm_simulator/scenario.h"
#include "tests/farm_simulator/sim_daemon.h"
#include "tests/farm_simulator/sim_worker.h"

namespace hone::sim {

// Bugs that tests plant.
struct Plant {
  // A store with a bug in it; nullptr: one without.
  std::function<std::unique_ptr<WatchedStore>(const Clock &, EventQueue *, History *)> store;
  std::function<void(NetworkWeather &)> network;
  int ticks_every = 1;         // of the times when the daemon should
  bool devices_crowd = false;  // they run beside those that they share cores with
};

struct RunOutcome {
  History history;
  EndState end;
};

class Farm {
 public:
  explicit Farm(const Scenario &scenario, const Plant &plant = {});
  ~Farm();

  // To its end: all jobs have ended, or far too much time has passed.
  RunOutcome Run();

 private:
  void StartDaemon();
  void AddWorkers();
  WorkerTraits TraitsOf(int i);
  void SubmitJobs();
  void Submit(int i);
  void PauseSometime(int64_t job);
  void ResumeSometime(int64_t job);
  // What goes wrong, and when.
  void PlanChaos();
  void PlanWorkerChaos();
  void PlanNetworkChaos();
  void PlanStorageChaos();
  void EndChaos();
  // At some moment of the chaos.
  void Sometime(std::function<void()> what);
  // Now, or later, when it is up.
  void KillWorker(SimWorker &worker);
  void KillDaemon();
  void CancelJob(int64_t id);
  // A fault happens.
  void Note(Fault fault, const std::string &worker = "");
  SimWorker &AnyWorker();
  bool AllEnded();
  EndState Look();

  const Scenario scenario_;
  const Plant plant_;
  EventQueue queue_;
  History history_;
  SimClock store_clock_;
  std::unique_ptr<WatchedStore> store_;
  Network network_;
  std::unique_ptr<SimDaemon> daemon_;
  std::vector<std::unique_ptr<SimWorker>> workers_;
  bool is_chaos_ = true;
};

inline RunOutcome Simulate(const Scenario &scenario, const Plant &plant = {}) {
  return Farm(scenario, plant).Run();
}

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_FARM_H_
