// Checks what a child reports about a round against what its parent saw.
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
  double cpu_ns = 0;  // of all threads of the child; 0 on a device, which takes none
  uint64_t runs = 0;  // by the counter in the shared memory
};

// The processor time that a process has used so far, as the system counts it; 0 if it is gone.
double ProcessorNs(pid_t pid);

// Finds what no behaviour of the machine can explain: the numbers of runs differ, or the round did
// not end where the plan says. Empty, or a sentence.
std::string FindFalseCount(const RoundLog& log, const Plan& plan, const SeenRound& seen);

// Compares the sum of all reported times with the time that passed. The sum must not exceed the
// wall time. It must also reach kLeastShare of the child's processor time (at most the wall time),
// less kUnexplainedNs. Time in which the child did not run does not count, since it may have been
// preempted between chunks; the rest is for messages, system calls around chunks, and page faults.
// Empty, or a sentence.
std::string FindFalseTime(const RoundLog& log, const SeenRound& seen);

inline constexpr double kLeastShare = 0.95;
inline constexpr double kUnexplainedNs = 1e6;

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ROUND_CHECK_H_
