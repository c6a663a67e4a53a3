#include "measure_server/run_session.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "measure_server/candidate_child.h"
#include "support/clock.h"

namespace hone::measure {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

const char* StageText(RunStage stage) {
  switch (stage) {
    case RunStage::kStarting:
      return "while its process started";
    case RunStage::kLoading:
      return "while it was loaded";
    case RunStage::kPreparing:
      return "while its constants were prepared";
    case RunStage::kChecking:
      return "in the output check";
    case RunStage::kTiming:
      return "while it was timed";
  }
  return "";
}

// Whether the worker still wants the session.
class Cancellation {
 public:
  Cancellation(int fd, uint64_t session) : fd_(fd), session_(session) {}

  int fd() const { return fd_; }
  bool has_happened() const { return has_happened_; }
  // Reads what has come; numbers of earlier sessions came too late and mean nothing.
  void Update() {
    uint64_t session = 0;
    while (fd_ >= 0 && read(fd_, &session, sizeof(session)) == sizeof(session)) {
      has_happened_ = has_happened_ || session == session_;
    }
  }

 private:
  const int fd_;
  const uint64_t session_;
  bool has_happened_ = false;
};

// The reports of a run, mapped.
class Reports {
 public:
  Reports(int fd, size_t count) : bytes_(count * sizeof(RunReport)) {
    void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED) first_ = static_cast<RunReport*>(mapped);
  }
  ~Reports() {
    if (ok()) munmap(first_, bytes_);
  }
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;

  bool ok() const { return first_ != nullptr; }
  RunReport* operator[](size_t i) const { return first_ + i; }
  // In a child, which has no business with the others'.
  void UnmapAllBut(RunReport* own) const {
    const auto before = static_cast<size_t>(own - first_) * sizeof(RunReport);
    const size_t after = bytes_ - before - sizeof(RunReport);
    if (before > 0) munmap(first_, before);
    if (after > 0) munmap(own + 1, after);
  }

 private:
  const size_t bytes_;
  RunReport* first_ = nullptr;
};

class Candidate {
 public:
  Candidate(const RunRequest& request, const RunFiles& files, size_t index, const Sandbox& sandbox,
            Cancellation* cancellation, const Reports* reports)
      : cancellation_(cancellation),
        left_ns_(request.run_limit_ns > 0 ? request.run_limit_ns : INT64_MAX / 2),
        reports_(reports),
        report_((*reports)[index]) {
    setup_.request = request;
    setup_.sandbox = &sandbox;
    setup_.artifact_fd = files.artifact_fds[index];
    setup_.reference_fd = files.reference_fd;
    setup_.report = report_;
  }
  ~Candidate() { Kill(); }
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;

  bool is_alive() const { return pid_ > 0; }

  // Forks, and waits until it is ready for its first round or has ended.
  void Start() {
    if (cancellation_->has_happened()) return Cancel();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return Lose("socketpair");
    setup_.start_ns = Clock::Real().NowNs();
    const pid_t zygote = getpid();
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      RunAsChild(ends[1], zygote);
    }
    close(ends[1]);
    control_fd_ = ends[0];
    if (pid_ < 0) return Lose("fork");
    pid_fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    if (pid_fd_ < 0) {
      Lose("pidfd_open");
      return Kill();
    }
    Await(kReady);
  }

  void RunRound() { Command(kRound, kDone); }
  // Asks it to end, and sees that it does.
  void Finish() { Command(kEnd, kEnd); }

 private:
  [[noreturn]] void RunAsChild(int control_fd, pid_t zygote) {
    // A child must not outlive a zygote that is killed, be it before the signal was asked for: left
    // behind, it would hold its core at real-time priority.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != zygote) _exit(0);
    reports_->UnmapAllBut(setup_.report);

    setup_.control_fd = control_fd;
    if (setup_.request.kind == RunRequest::kReference) RunReferenceChild(setup_);
    RunCandidateChild(setup_);
  }

  void Command(char byte, char answer) {
    if (!is_alive()) return;
    (void)!send(control_fd_, &byte, 1, MSG_NOSIGNAL);
    Await(answer);
  }

  // Until it says `expected` or ends, at most as long as it may still run.
  void Await(char expected) {
    const int64_t start_ns = Clock::Real().NowNs();
    while (true) {
      const int64_t spent_ns = Clock::Real().NowNs() - start_ns;
      if (spent_ns >= left_ns_) {
        Kill();
        report_->outcome = RunOutcome::kRunTimeout;
        SetMessage(
            report_,
            (std::string("killed when its time was over, ") + StageText(report_->stage)).c_str());
        return;
      }
      pollfd fds[3] = {
          {control_fd_, POLLIN, 0}, {pid_fd_, POLLIN, 0}, {cancellation_->fd(), POLLIN, 0}};
      const int64_t wait_ms = std::min<int64_t>((left_ns_ - spent_ns) / kMillisecond + 1, 60'000);
      if (poll(fds, 3, static_cast<int>(wait_ms)) < 0 && errno != EINTR) return Lose("poll");
      if (fds[2].revents != 0) cancellation_->Update();
      if (cancellation_->has_happened()) return Cancel();
      char said = 0;
      if ((fds[0].revents & POLLIN) != 0 && recv(control_fd_, &said, 1, MSG_DONTWAIT) == 1 &&
          said == expected) {
        left_ns_ -= Clock::Real().NowNs() - start_ns;
        return;
      }
      if ((fds[1].revents & POLLIN) != 0) return Reap();
    }
  }

  void Cancel() {
    Kill();
    report_->outcome = RunOutcome::kDeviceLost;
    SetMessage(report_, "cancelled");
  }

  void Reap() {
    int status = 0;
    waitpid(pid_, &status, 0);
    Forget();
    if (report_->outcome != RunOutcome::kNone) return;
    if (!WIFSIGNALED(status)) {
      report_->outcome = RunOutcome::kCrash;
      return SetMessage(report_, "its process ended by itself");
    }
    const int signal = WTERMSIG(status);
    std::string message =
        std::string("SIG") + sigabbrev_np(signal) + " " + StageText(report_->stage);
    report_->outcome = RunOutcome::kCrash;
    if (signal == SIGSYS) message += ": a system call that the sandbox forbids";
    if (signal == SIGXCPU) report_->outcome = RunOutcome::kRunTimeout;
    // Not by us: the kernel, short of memory.
    if (signal == SIGKILL) {
      report_->outcome = RunOutcome::kOutOfMemory;
      message += ": killed by the system, which happens when memory is short";
    }
    SetMessage(report_, message.c_str());
  }

  void Lose(const char* call) {
    report_->outcome = RunOutcome::kDeviceLost;
    SetMessage(report_, (std::string(call) + ": " + std::strerror(errno)).c_str());
  }

  void Kill() {
    if (!is_alive()) return Forget();
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    Forget();
  }

  void Forget() {
    for (const int fd : {control_fd_, pid_fd_}) {
      if (fd >= 0) close(fd);
    }
    control_fd_ = pid_fd_ = -1;
    pid_ = -1;
  }

  ChildSetup setup_;
  Cancellation* const cancellation_;
  int64_t left_ns_;
  const Reports* const reports_;
  RunReport* const report_;
  pid_t pid_ = -1;
  int pid_fd_ = -1;
  int control_fd_ = -1;
};

// Forwards in even rounds, backwards in odd ones: what one leaves in the caches and in the clock's
// frequency is not always met by the same other.
size_t CandidateAt(size_t turn, size_t round, size_t count) {
  const size_t forwards = (round + turn) % count;
  return round % 2 == 0 ? forwards : count - 1 - forwards;
}

void Run(const RunRequest& request, const RunFiles& files, const Sandbox& sandbox,
         const Reports& reports) {
  Cancellation cancellation(files.cancel_fd, request.session);
  // Destroyed in reverse; a later child holds nothing that an earlier one needs to end.
  std::vector<std::unique_ptr<Candidate>> candidates;
  for (size_t i = 0; i < files.artifact_fds.size(); ++i) {
    candidates.push_back(
        std::make_unique<Candidate>(request, files, i, sandbox, &cancellation, &reports));
    candidates.back()->Start();
  }
  const size_t count = candidates.size();
  for (size_t round = 0; round < std::max(request.rounds, 1u); ++round) {
    for (size_t i = 0; i < count; ++i) candidates[CandidateAt(i, round, count)]->RunRound();
  }
  for (const auto& candidate : candidates) candidate->Finish();
}

}  // namespace

void RunSession(const RunRequest& request, const RunFiles& files, const Sandbox& sandbox) {
  const Reports reports(files.reports_fd, files.artifact_fds.size());
  if (reports.ok()) Run(request, files, sandbox, reports);
}

}  // namespace hone::measure
