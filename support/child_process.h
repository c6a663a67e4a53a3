// Starts, watches and ends other programs.
#ifndef HONE_SUPPORT_CHILD_PROCESS_H_
#define HONE_SUPPORT_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone {

// A program that this process started. The destructor kills and reaps it unless it is known to have
// ended. Its stdin is /dev/null, its stdout is a pipe that this object reads, and its stderr is
// that of this process. It has a process group of its own, so Ctrl-C at the terminal does not reach
// it. Not thread-safe.
class ChildProcess {
 public:
  // argv[0] is the path of the program. kNotFound if there is no program that can be run.
  static absl::StatusOr<ChildProcess> Start(const std::vector<std::string>& argv);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  // Waits for the next line of the program's stdout and returns it without the newline.
  // kUnavailable if the output ends before a whole line, kDeadlineExceeded after `limit_ns`.
  absl::StatusOr<std::string> ReadLine(int64_t limit_ns);

  // Sends SIGTERM, and SIGKILL if the program has not ended after `grace_ns`; with 0, sends SIGKILL
  // at once. Returns the program's wait status (waitpid). A second call only returns it again.
  int Stop(int64_t grace_ns);
  // Whether the program has ended. If so, it is reaped.
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
