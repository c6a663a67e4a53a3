// What happened in a run of the simulator, in order: the evidence that the checker looks at.
#ifndef HONE_TESTS_FARM_SIMULATOR_HISTORY_H_
#define HONE_TESTS_FARM_SIMULATOR_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tuning_db/store.h"
#include "tuning_db/types.h"

namespace hone::sim {

enum class What {
  kDaemonUp,
  kDaemonDown,
  // What the store committed, or refused to.
  kStoreFault,  // text: the call that failed; number: 1 if everything fails
  kLease,
  kRelease,   // number: 1 if the trial was struck
  kSettle,    // number: tuning_db::SettleResult; text: the outcome
  kJobState,  // number: tuning_db::JobState
  // What the daemon received.
  kHello,      // text: the instance; fences: those whose results the worker holds
  kDevice,     // of the Hello before it. resources
  kCredit,     // number: how many more
  kWindow,     // number: the size
  kResult,     // echo
  kRunning,    // a heartbeat names the device's fence (0: none). number: for how long, in ns
  kStreamEnd,  // the daemon closed the stream, or was told that it is gone
  // What the daemon sent.
  kWelcome,  // number: the version
  kOffer,    // number: its limit in ns; echo: what a result must say
  kAcknowledge,
  kRevoke,
  // What only the worker knows.
  kWorkerUp,    // text: the instance
  kWorkerDown,  // text: the instance; number: 1 if it was killed, 0 if it left
  kRunBegin,    // text: the instance
  kRunEnd,      // text: kHonest, kLost, or how it lies; echo
  // What went wrong, by the simulator's will. text: the name of the fault (scenario.h)
  kFault,
};

inline constexpr char kHonest[] = "honest";
inline constexpr char kLost[] = "lost";

// What a result says of itself, and what its assignment asked for.
struct Echo {
  std::vector<std::string> artifacts;
  std::string toolchain;
  std::string regime;
  std::string fingerprint;
  double sample_ns = 0;  // the first one
};

struct Event {
  int64_t at_ns = 0;
  What what = What::kDaemonUp;
  int64_t job = 0;
  int64_t trial = 0;
  int64_t fence = 0;
  int64_t stream = 0;  // of messages and of what becomes of their stream
  std::string worker = "";
  std::string device = "";
  int64_t number = 0;
  std::string text = "";
  std::vector<int64_t> fences = {};
  std::vector<std::string> resources = {};
  Echo echo = {};
};

using History = std::vector<Event>;

// One line for people: "12.345678 offer trial 7 fence 9 worker w3 device d0".
std::string ToText(const Event& event);
// The events before and at `end` (an index) that have to do with what happened there: of the same
// trial or device, and lives of the daemon. At most `count`, one a line.
std::string Excerpt(const History& history, size_t end, size_t count);

// How often each fault happened, by its name.
std::map<std::string, int> CountFaults(const History& history);

// What the store holds when all is over.
struct EndState {
  std::vector<tuning_db::Record> records;
  std::vector<tuning_db::Trial> open = {};  // proposed or leased
  std::vector<tuning_db::Job> jobs;
  std::map<int64_t, std::vector<tuning_db::Event>> job_events;
  std::vector<std::string> unsound;  // what the store's own check says
};

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_HISTORY_H_
