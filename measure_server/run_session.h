// One run, seen through by the zygote: its children, their rounds, and their ends.
#ifndef HONE_MEASURE_SERVER_RUN_SESSION_H_
#define HONE_MEASURE_SERVER_RUN_SESSION_H_

#include <string>
#include <vector>

#include "measure_server/isolation.h"
#include "measure_server/run_protocol.h"
#include "measure_server/sandbox.h"

namespace hone::measure {

struct RunFiles {
  int reports_fd = -1;    // one RunReport for each candidate
  int reference_fd = -1;  // to compare with, or to write; -1: none
  int cancel_fd = -1;     // non-blocking; numbers (uint64_t) of sessions nobody waits for; -1: none
  std::vector<int> artifact_fds;
};

// Where candidates run, and in which bounds.
struct RunPlace {
  std::string device = kHostDevice;  // as hone::FindDevice takes it
  const Sandbox* sandbox = nullptr;
  const Isolation* isolation = nullptr;
};

// Forks a child a candidate; returns when all have ended. Every report then has an outcome. In a
// single-threaded process only. A candidate's limit counts the time in which it is waited for,
// from when its child starts. A cancelled session ends at once, its candidates as lost. The rounds
// of a final go over the candidates in rotating order, all of them alive where memory allows it.
void RunSession(const RunRequest& request, const RunFiles& files, const RunPlace& place);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_RUN_SESSION_H_
