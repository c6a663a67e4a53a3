// Kernels that do what none of ours should, and how each ends.
#ifndef HONE_TESTS_MEASURE_SERVER_HOSTILE_KERNELS_H_
#define HONE_TESTS_MEASURE_SERVER_HOSTILE_KERNELS_H_

#include <string>
#include <vector>

#include "measure_server/run_protocol.h"

namespace hone::measure {

struct HostileKernel {
  std::string name;
  std::string source;  // C of an artifact
  RunOutcome outcome;
  std::string message;     // has this in it
  std::string flags = "";  // of the compiler
};

// Those that this build of the worker can tell apart.
std::vector<HostileKernel> HostileKernels();

}  // namespace hone::measure

#endif  // HONE_TESTS_MEASURE_SERVER_HOSTILE_KERNELS_H_
