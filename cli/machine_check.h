// Checks for `hone doctor` whether this machine is fit to measure on.
#ifndef HONE_CLI_MACHINE_CHECK_H_
#define HONE_CLI_MACHINE_CHECK_H_

#include <string>

#include "cli/finding.h"

namespace hone::cli {

// Where to read what the system says of itself, and the facts that only a running system has.
struct MachineSeams {
  std::string root;      // before "/proc" and "/sys"; empty: the system's own
  int usable_cores = 1;  // that this process may run on
  double clock_ns = 0;   // what reading the clock takes
};
MachineSeams RealMachine();

// Checks the processor, what else uses it, its frequency, the memory and the clock. What a system
// does not tell (a virtual machine has no governor) is not a fault.
Findings CheckMachine(const MachineSeams& seams);

}  // namespace hone::cli

#endif  // HONE_CLI_MACHINE_CHECK_H_
