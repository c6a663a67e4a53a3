// Restricts what a child that runs a candidate may do.
#ifndef HONE_MEASURE_SERVER_SANDBOX_H_
#define HONE_MEASURE_SERVER_SANDBOX_H_

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::measure {

// kContained is for devices behind a driver, whose threads, files and compilers the others forbid
// (docs/decisions/0036).
enum class SandboxLevel { kLimits, kContained, kStrict };

struct ResourceLimits {
  uint64_t memory_bytes = 0;  // beyond what the process has now; 0: none
  int64_t cpu_ns = 0;         // of all threads; 0: none
};

// Closes every descriptor of the process that is not among `kept` (-1 is skipped). False with
// errno.
bool CloseAllBut(std::vector<int> kept);

// Filters are compiled once, in the zygote; entering them costs a child about 0.1 ms. A system call
// that is not on the list kills the process with SIGSYS.
class Sandbox {
 public:
  // Tries it in a child: kFailedPrecondition where the system does not allow the level. The process
  // must have one thread.
  static absl::StatusOr<Sandbox> Make(SandboxLevel level);

  SandboxLevel level() const { return level_; }

  // Address space, processor time, file size 0, no core file, no new processes, no new privileges;
  // contained: files of 1 GiB, and only the last two. False with errno when the system refuses.
  bool EnterLimits(const ResourceLimits& limits) const;
  // For all threads of the process: no threads, processes, network or files; loading still goes,
  // and asking for tile registers. No file can be opened: who tries gets `artifact_fd`, from its
  // beginning, so that the loader needs no path. None of this is forbidden where it is contained.
  bool EnterLoading(int artifact_fd) const;
  // From here on the process can load no new code at all, besides.
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
