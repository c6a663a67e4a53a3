// A whole tuner on fakes, run step by step.
#ifndef HONE_TESTS_TUNER_WORLD_H_
#define HONE_TESTS_TUNER_WORLD_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/tuner/fakes.h"
#include "tuner/jobs/tuning_loop.h"

namespace hone::tuner {

struct JobWish {
  std::string client_id = "job";
  std::vector<std::string> workloads = {"conv"};
  int64_t trials = 40;
  uint64_t seed = 7;
  int64_t deadline_ns = 0;
  int priority = 0;
  std::string submitter = "";
  std::string target = kFakeTarget;
  int64_t constant_bytes = 0;
  std::string search = "fake";
  bool ends_early = false;
  double elsewhere_ns = 0;
  bool is_private = false;
  hone::v1::SandboxLevel sandbox = hone::v1::SANDBOX_LEVEL_UNSPECIFIED;
  std::string device_class = "";
};

// What several daemons on one store have in common: their clock and the store.
struct SharedStore {
  FakeClock clock;
  std::unique_ptr<tuning_db::Store> store = tuning_db::MakeMemoryStore(clock);
};

// The store outlives daemons; Restart() is a kill -9 and a new start: everything in memory is gone.
class World {
 public:
  explicit World(TuningOptions options = {}, DispatcherOptions farm_options = {});
  // The daemon `owner` of several on one store. Time passes for all of them at once.
  World(std::shared_ptr<SharedStore> shared, const std::string& owner);
  ~World();

  int64_t Submit(const JobWish& wish);
  void Restart();
  // One thing happens somewhere; false: nothing is left to happen.
  bool Step();
  // Until nothing is left to happen; at most `limit` steps (0: no limit).
  void Run(int limit = 0);
  // What the daemon can do without its workers.
  void Drain();
  // Time passes, in steps of 100 ms.
  void Wait(int64_t ns);
  FakeWorker& AddWorker(const std::string& name, int credit = 2,
                        const std::string& target = kFakeTarget);

  tuning_db::Job GetJob(int64_t id);
  std::vector<tuning_db::Record> Records(tuning_db::Purpose purpose);
  // As end_state.h has it: two runs that came to the same end have the same text.
  std::string EndState();

  TuningOptions options;
  DispatcherOptions farm_options;
  const std::shared_ptr<SharedStore> shared;
  FakeClock& clock;
  std::unique_ptr<tuning_db::Store>& store;
  const std::string owner;  // of jobs; empty: there are no other daemons
  ManualExecutor executor;
  Gate planner{&executor};  // where searches run
  FakeLowerer lowerer;
  std::unique_ptr<FakeBuilder> builder;
  std::unique_ptr<Dispatcher> dispatcher;
  std::unique_ptr<TuningLoop> loop;
  std::map<std::string, std::unique_ptr<FakeWorker>> workers;
  std::vector<int64_t> events;             // of jobs, as the store told them
  std::map<TaskKey, std::string> waiting;  // for what tasks wait, as was announced
  int device_changes = 0;                  // announced
  std::vector<absl::Status> fatal;         // what ended the loop
  bool is_private = false;                 // the daemon that Restart() starts

 private:
  void Start();

  std::unique_ptr<tuning_db::Subscription> subscription_;
  FakeSearch search_;
  std::unique_ptr<TaskScheduler> scheduler_;
};

}  // namespace hone::tuner

#endif  // HONE_TESTS_TUNER_WORLD_H_
