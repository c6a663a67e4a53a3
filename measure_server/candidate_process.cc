#include "measure_server/candidate_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "measure_server/process_keeper.h"
#include "support/clock.h"

namespace hone::measure {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

int OpenProcess(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

const char* StageText(RunStage stage) {
  switch (stage) {
    case RunStage::kStarting:
      return "while its process started";
    case RunStage::kLoading:
      return "while it was loaded";
    case RunStage::kReference:
      return "while the reference ran";
    case RunStage::kChecking:
      return "in the output check";
    case RunStage::kTiming:
      return "while it was timed";
  }
  return "";
}

// What a status of waitpid says of a process that ended before it was asked to.
Failure FailureOf(int status, RunStage stage) {
  if (!WIFSIGNALED(status)) return {RunOutcome::kCrash, "its process ended by itself"};
  const int signal = WTERMSIG(status);
  Failure failure{RunOutcome::kCrash,
                  fmt::format("SIG{} {}", sigabbrev_np(signal), StageText(stage))};
  if (signal == SIGSYS) failure.message += ": a system call that the sandbox forbids";
  if (signal == SIGXCPU) failure.outcome = RunOutcome::kRunTimeout;
  // Not by us: the kernel, short of memory.
  if (signal == SIGKILL) {
    failure.outcome = RunOutcome::kOutOfMemory;
    failure.message += ": killed by the system, which happens when memory is short";
  }
  return failure;
}

}  // namespace

std::optional<Failure> CandidateProcess::Start(const std::function<void(int)>& body) {
  if (cancellation_->has_happened()) return Failure{RunOutcome::kDeviceLost, "cancelled"};
  int child_end = -1;
  if (!MakeChannel(&control_fd_, &child_end)) return Lose("socketpair");
  const int own_fd = OpenProcess(getpid());
  pid_ = fork();
  if (pid_ == 0) {
    close(control_fd_);
    const auto run = [&](int parent_fd) { RunChild(child_end, parent_fd, body); };
    if (descendants_ == Descendants::kEndWithIt) KeepProcess(child_end, run);
    run(own_fd);
  }
  close(child_end);
  if (own_fd >= 0) close(own_fd);
  if (pid_ < 0) return Lose("fork");
  pid_fd_ = OpenProcess(pid_);
  if (pid_fd_ < 0) return Lose("pidfd_open");
  return std::nullopt;
}

void CandidateProcess::TakeOver(CandidateProcess& other) {
  Kill();
  pid_ = std::exchange(other.pid_, -1);
  pid_fd_ = std::exchange(other.pid_fd_, -1);
  control_fd_ = std::exchange(other.control_fd_, -1);
}

void CandidateProcess::RunChild(int control_fd, int parent_fd,
                                const std::function<void(int)>& body) const {
  if (!isolation_->EnterChild()) {
    Say(control_fd, Word::kFailed, static_cast<uint64_t>(RunOutcome::kDeviceLost),
        std::string("becoming another user failed: ") + std::strerror(errno));
    _exit(0);
  }
  // A child must not outlive a parent that is killed, be it before the signal was asked for: left
  // behind, it would hold its core at real-time priority. Another user has to ask anew.
  DieWithParent(parent_fd);
  body(control_fd);
  _exit(0);
}

std::optional<Failure> CandidateProcess::Await(RunStage stage, ChildMessage* message) {
  const int64_t start_ns = Clock::Real().NowNs();
  bool has_hung_up = false;  // ending; or it closed the channel and goes on
  while (true) {
    const int64_t spent_ns = Clock::Real().NowNs() - start_ns;
    if (spent_ns >= left_ns_) {
      Kill();
      return Failure{RunOutcome::kRunTimeout,
                     std::string("killed when its time was over, ") + StageText(stage)};
    }
    pollfd fds[3] = {{has_hung_up ? -1 : control_fd_, POLLIN, 0},
                     {pid_fd_, POLLIN, 0},
                     {cancellation_->fd(), POLLIN, 0}};
    const int64_t wait_ms = std::min<int64_t>((left_ns_ - spent_ns) / kMillisecond + 1, 60'000);
    if (poll(fds, 3, static_cast<int>(wait_ms)) < 0 && errno != EINTR) return Lose("poll");
    if (fds[2].revents != 0) cancellation_->Update();
    if (cancellation_->has_happened()) {
      Kill();
      return Failure{RunOutcome::kDeviceLost, "cancelled"};
    }
    // What it said before it ended comes first.
    if (fds[0].revents != 0) {
      if (std::optional<ChildMessage> heard = Hear(control_fd_)) {
        left_ns_ -= Clock::Real().NowNs() - start_ns;
        *message = *std::move(heard);
        return std::nullopt;
      }
    }
    has_hung_up = has_hung_up || (fds[0].revents & POLLHUP) != 0;
    if ((fds[1].revents & POLLIN) != 0) return Reap(stage);
  }
}

Failure CandidateProcess::Reap(RunStage stage) {
  int status = 0;
  waitpid(pid_, &status, 0);
  Forget();
  return FailureOf(status, stage);
}

Failure CandidateProcess::Lose(const char* call) {
  const Failure failure{RunOutcome::kDeviceLost, fmt::format("{}: {}", call, std::strerror(errno))};
  Kill();
  return failure;
}

void CandidateProcess::Kill() {
  if (is_alive()) {
    if (descendants_ == Descendants::kNone) {
      kill(pid_, SIGKILL);
    } else {
      // The keeper sees that, and has to live until nothing is left.
      close(control_fd_);
      control_fd_ = -1;
    }
    waitpid(pid_, nullptr, 0);
  }
  Forget();
}

void CandidateProcess::Forget() {
  for (const int fd : {control_fd_, pid_fd_}) {
    if (fd >= 0) close(fd);
  }
  control_fd_ = pid_fd_ = -1;
  pid_ = -1;
}

}  // namespace hone::measure
