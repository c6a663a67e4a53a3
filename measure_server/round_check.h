// Checks what a child reports of a round against what its parent saw.
#ifndef HONE_MEASURE_SERVER_ROUND_CHECK_H_
#define HONE_MEASURE_SERVER_ROUND_CHECK_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "measure_server/timing.h"

namespace hone::measure {

// What the parent saw of a round, by its own clock from the command to the answer.
struct SeenRound {
  double wall_ns = 0;
  double cpu_ns = 0;  // of all threads of the child
  uint64_t runs = 0;  // by the counter in the shared memory
};

// The processor time of a process by now, as the system counts it; 0 where it is gone.
double ProcessorNs(pid_t pid);

// What cannot be true whatever the machine did: the numbers of runs differ, or the round ended
// before the plan allows. Empty, or a sentence.
std::string FindFalseCount(const RoundLog& log, const Plan& plan, const SeenRound& seen);

// Runs times what a run takes, with warm-up and calibrators, must be the time that passed: never
// more than the wall clock, and no less than kLeastShare of it but for kUnexplainedNs. Below, time
// in which the child did not run does not count, for between chunks nobody may have let it; what
// remains is that of messages, the system calls around chunks, and page faults of other memory.
// Empty, or a sentence.
std::string FindFalseTime(const RoundLog& log, const SeenRound& seen);

inline constexpr double kLeastShare = 0.95;
inline constexpr double kUnexplainedNs = 1e6;

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ROUND_CHECK_H_
