// A forked process that obeys commands. Its parent limits the time that it waits for the process.
#ifndef HONE_MEASURE_SERVER_CANDIDATE_PROCESS_H_
#define HONE_MEASURE_SERVER_CANDIDATE_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "measure_server/cancellation.h"
#include "measure_server/child_channel.h"
#include "measure_server/isolation.h"
#include "measure_server/run_protocol.h"

namespace hone::measure {

// How a process ended early, or what it failed to do.
struct Failure {
  RunOutcome outcome = RunOutcome::kNone;
  std::string message;
};

// Whether a process may start others. With kEndWithIt it may, and a keeper ends all of those when
// the process ends (process_keeper.h).
enum class Descendants { kNone, kEndWithIt };

// The destructor kills the process and its descendants.
class CandidateProcess {
 public:
  // `limit_ns` limits the time that all calls of Await take together; 0: no limit.
  CandidateProcess(int64_t limit_ns, Descendants descendants, const Isolation* isolation,
                   Cancellation* cancellation)
      : left_ns_(limit_ns > 0 ? limit_ns : INT64_MAX / 2),
        descendants_(descendants),
        isolation_(isolation),
        cancellation_(cancellation) {}
  ~CandidateProcess() { Kill(); }
  CandidateProcess(const CandidateProcess&) = delete;
  CandidateProcess& operator=(const CandidateProcess&) = delete;

  // Call it in a process with one thread. The child runs `body` with its end of the channel, then
  // exits. It does not outlive this process.
  std::optional<Failure> Start(const std::function<void(int control_fd)>& body);
  // Takes over the process that `other` started; `other` then has none. This object's limit holds
  // for it.
  void TakeOver(CandidateProcess& other);
  bool is_alive() const { return pid_ > 0; }
  // What is left of the limit.
  int64_t left_ns() const { return left_ns_; }
  void set_left_ns(int64_t left_ns) { left_ns_ = left_ns; }
  // The process id. With kEndWithIt it is that of the keeper, which ends as the process does.
  pid_t pid() const { return pid_; }

  void Command(hone::measure::Command command) { SendCommand(control_fd_, command); }
  // Waits for the next message of the process. Fails if the process ends, the limit is over or the
  // session is cancelled before a message comes. The process is dead then, and the failure says
  // what happened. If the process ended by a signal or the limit is over, it also names `stage`.
  std::optional<Failure> Await(RunStage stage, ChildMessage* message);
  // Kills the process, whatever it does. Returns when the process and its descendants are gone.
  void Kill();

 private:
  [[noreturn]] void RunChild(int control_fd, int parent_fd,
                             const std::function<void(int control_fd)>& body) const;
  Failure Lose(const char* call);
  Failure Reap(RunStage stage);
  void Forget();

  int64_t left_ns_;
  const Descendants descendants_;
  const Isolation* const isolation_;
  Cancellation* const cancellation_;
  pid_t pid_ = -1;
  int pid_fd_ = -1;
  int control_fd_ = -1;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CANDIDATE_PROCESS_H_
