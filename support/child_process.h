// Starting, watching and ending programs.
#ifndef HONE_SUPPORT_CHILD_PROCESS_H_
#define HONE_SUPPORT_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone {

// A program started by us; killed and reaped when the object goes, unless it was waited for. Its
// stdin is /dev/null, its stdout a pipe that this object reads, its stderr ours; Ctrl-C at the
// terminal does not reach it. Not thread-safe.
class ChildProcess {
 public:
  // argv[0] is the path of the program. kNotFound when there is none.
  static absl::StatusOr<ChildProcess> Start(const std::vector<std::string>& argv);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  // The next line of its stdout, without the newline. kUnavailable when it ended its output first,
  // kDeadlineExceeded after `limit_ns`.
  absl::StatusOr<std::string> ReadLine(int64_t limit_ns);

  // Sends SIGTERM, then SIGKILL after `grace_ns`; returns the wait status. A second call does
  // nothing.
  int Stop(int64_t grace_ns);
  // True once the process has ended (and then reaps it).
  bool HasEnded();

 private:
  ChildProcess(pid_t pid, int stdout_fd) : pid_(pid), stdout_fd_(stdout_fd) {}

  pid_t pid_ = -1;
  int stdout_fd_ = -1;
  int wait_status_ = 0;
  std::string pending_;
};

// The folder of the running executable.
std::string ExecutableFolder();

}  // namespace hone

#endif  // HONE_SUPPORT_CHILD_PROCESS_H_
