// Runs one session in the zygote: its children and their rounds.
#ifndef HONE_MEASURE_SERVER_RUN_SESSION_H_
#define HONE_MEASURE_SERVER_RUN_SESSION_H_

#include <vector>

#include "measure_server/candidates_ahead.h"
#include "measure_server/run_place.h"
#include "measure_server/run_protocol.h"

namespace hone::measure {

struct RunFiles {
  int reports_fd = -1;    // one RunReport for each candidate
  int reference_fd = -1;  // to compare with, or to write; -1: none
  int cancel_fd = -1;     // non-blocking, gives numbers (uint64_t) of cancelled sessions; -1: none
  std::vector<int> artifact_fds;
};

// Forks a child for each candidate that is not in `ahead` (null: none is). If any fails in a way
// that candidates beside it could bring about, ends all in `ahead` and runs the session anew.
// Returns when all have ended; every report then has an outcome. A candidate's limit counts the
// time in which the zygote waits for its child. A cancelled session ends at once, and its
// candidates are lost. The rounds of a final go over the candidates in rotating order, with all
// children alive if memory allows. The process must have one thread.
void RunSession(const RunRequest& request, const RunFiles& files, const RunPlace& place,
                CandidatesAhead* ahead = nullptr);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_RUN_SESSION_H_
