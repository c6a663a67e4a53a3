// Restricts what a child that runs a candidate may do.
#ifndef HONE_MEASURE_SERVER_SANDBOX_H_
#define HONE_MEASURE_SERVER_SANDBOX_H_

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::measure {

// kStrict adds filters of system calls to kLimits. kContained is for devices behind a driver, which
// needs the threads and files that the others forbid (docs/decisions/0036).
enum class SandboxLevel { kLimits, kContained, kStrict };

struct ResourceLimits {
  uint64_t memory_bytes = 0;  // beyond what the process has now; 0: no limit
  int64_t cpu_ns = 0;         // of all threads; 0: no limit
};

// Closes every descriptor of the process that is not in `kept`, where -1 is ignored. False with
// errno on failure.
bool CloseAllBut(std::vector<int> kept);

// Compiles its filters once, in the zygote; entering them costs a child about 0.1 ms. A system call
// that a filter does not allow kills the process with SIGSYS. A child calls the three methods below
// in order; they return false with errno if the system refuses.
class Sandbox {
 public:
  // Tries the sandbox in a child. kFailedPrecondition if the system does not allow the level. The
  // process must have one thread.
  static absl::StatusOr<Sandbox> Make(SandboxLevel level);

  SandboxLevel level() const { return level_; }

  // Limits address space, processor time and the size of files (0), and forbids core files and new
  // privileges. With kContained, files may have 1 GiB, and address space and processor time are not
  // limited.
  bool EnterLimits(const ResourceLimits& limits) const;
  // Forbids new threads and processes, and with kStrict also network and files, for all threads of
  // the process. With kLimits only a resource limit forbids them, which does not bind root. Loading
  // code and asking for tile registers is still allowed. With kStrict every attempt to open a file
  // gives `artifact_fd`, from its beginning, so that the loader needs no path. Does nothing with
  // kContained.
  bool EnterLoading(int artifact_fd) const;
  // With kStrict, also forbids loading any more code.
  bool EnterRunning() const;

 private:
  explicit Sandbox(SandboxLevel level) : level_(level) {}
  bool Works() const;

  SandboxLevel level_;
  std::vector<sock_filter> loading_;
  std::vector<sock_filter> running_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_SANDBOX_H_
