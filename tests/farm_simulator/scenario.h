// What a run of the simulator is made of: a seed gives it, a line of text repeats it.
#ifndef HONE_TESTS_FARM_SIMULATOR_SCENARIO_H_
#define HONE_TESTS_FARM_SIMULATOR_SCENARIO_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tests/farm_simulator/event_queue.h"

namespace hone::sim {

enum class Fault {
  kWorkerKills,  // half of the workers are killed, and come back some time later
  kDaemonKills,  // at any moment, before and after commits included
  kResets,       // streams break
  kBlackHoles,   // nothing reaches a worker for a while
  kStragglers,   // what was sent on a stream that broke arrives later; workers dial twice
  kClocks,       // wall clocks are an hour off, and jump
  kHangs,        // a worker whose devices never answer again, while its heartbeats go on
  kLies,         // a worker whose results say what is not so
  kStorage,      // writes fail, one by one, and all of them for a while
  kDevices,      // devices are lost under measurements, go and come back
  kDrains,       // workers leave in order, and come back
  kLethal,       // trials that kill their worker
  kTwins,        // two workers of one name
  kCancels,      // jobs are cancelled
  kPauses,       // jobs are paused, and resumed some time later (with the loop)
  kDuplicates,   // what a worker says comes twice
  kBusyStore,    // the store takes no more for a moment
};
inline constexpr int kFaults = 17;
std::string_view Name(Fault fault);

struct Scenario {
  uint64_t seed = 0;
  int workers = 10;
  int jobs = 2;
  int trials = 40;         // of a job
  bool runs_loop = false;  // the real TuningLoop; otherwise trials come from DirectJobs
  std::set<Fault> faults = {};
  // How bad it is, where there are faults of that kind.
  int daemon_kills = 3;       // beside those at commits
  double reset_share = 0.01;  // of the messages
  // So long things go wrong; then only what is wrong with a worker stays so.
  int64_t chaos_ns = 60 * kSecond;

  bool Has(Fault fault) const { return faults.count(fault) > 0; }
};

// A different mix for each seed.
Scenario ScenarioOf(uint64_t seed);
// "seed=7 workers=10 jobs=2 trials=40 loop=0 faults=resets,lies"
std::string ToText(const Scenario& scenario);
// nullopt: the text is none.
std::optional<Scenario> ParseScenario(const std::string& text);

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_SCENARIO_H_
