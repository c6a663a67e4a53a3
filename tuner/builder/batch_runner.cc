#include "tuner/builder/batch_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/clock.h"
#include "support/status.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;

// Then a fresh child takes over, whatever the old one has leaked.
constexpr int kBuildsOfOneChild = 1024;
// The limit of requests that state none.
constexpr int64_t kDefaultLimitNs = int64_t{60} * 1000 * 1000 * 1000;
// Data of a child: a build that wants more than this is not worth having.
constexpr rlim_t kChildDataBytes = rlim_t{4} << 30;

int64_t LimitNs(const v1::BuildRequest& request) {
  return request.limit_ns() > 0 ? request.limit_ns() : kDefaultLimitNs;
}

std::string DescribeEnd(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("the compiler was killed by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  return fmt::format("the compiler exited with status {}", WEXITSTATUS(status));
}

void ResetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP) ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void LimitChild() {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
#ifndef __SANITIZE_ADDRESS__
  const rlimit data = {kChildDataBytes, kChildDataBytes};
  setrlimit(RLIMIT_DATA, &data);
#endif
}

}  // namespace

BatchRunner::~BatchRunner() {
  if (child_) Reap(/*kill_it=*/true);
}

void BatchRunner::BeChild(int requests_fd, int replies_fd, int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  ResetSignals();
  LimitChild();
  // What the program prints must not stand between the answers.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  FrameReader requests(requests_fd);
  while (true) {
    const auto message = requests.Read(/*limit_ns=*/-1);
    v1::BuildRequest request;
    if (!message.ok() || !request.ParseFromString(*message)) _exit(0);
    if (!WriteFrame(replies_fd, build_(request).SerializeAsString()).ok()) _exit(1);
  }
}

absl::Status BatchRunner::EnsureChild() {
  if (child_ && child_->answered >= kBuildsOfOneChild) Reap(/*kill_it=*/true);
  if (child_) return absl::OkStatus();
  int requests[2];
  int replies[2];
  if (pipe2(requests, O_CLOEXEC) != 0) {
    return absl::InternalError(fmt::format("pipe: {}", strerror(errno)));
  }
  if (pipe2(replies, O_CLOEXEC) != 0) {
    close(requests[0]);
    close(requests[1]);
    return absl::InternalError(fmt::format("pipe: {}", strerror(errno)));
  }
  const int parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    close(requests[1]);
    close(replies[0]);
    BeChild(requests[0], replies[1], parent);
  }
  close(requests[0]);
  close(replies[1]);
  if (pid < 0) {
    close(requests[1]);
    close(replies[0]);
    return absl::InternalError(fmt::format("fork: {}", strerror(errno)));
  }
  child_.emplace(Child{pid, requests[1], FrameReader(replies[0]), replies[0], 0});
  return absl::OkStatus();
}

std::string BatchRunner::Reap(bool kill_it) {
  if (kill_it) kill(child_->pid, SIGKILL);
  close(child_->requests_fd);
  close(child_->replies_fd);
  int status = 0;
  while (waitpid(child_->pid, &status, 0) < 0 && errno == EINTR) {
  }
  child_.reset();
  return DescribeEnd(status);
}

// Asks the child, and waits until it answers, dies or is late; it is gone in both last cases.
absl::StatusOr<BatchRunner::Outcome> BatchRunner::Ask(const v1::BuildRequest& request) {
  if (!WriteFrame(child_->requests_fd, request.SerializeAsString()).ok()) {
    return Died{Reap(/*kill_it=*/false)};
  }
  const int64_t deadline_ns = Clock::Real().NowNs() + LimitNs(request);
  while (true) {
    const int64_t left_ns = deadline_ns - Clock::Real().NowNs();
    if (left_ns <= 0) {
      Reap(/*kill_it=*/true);
      return Late{};
    }
    pollfd waiting[2] = {{child_->replies_fd, POLLIN, 0}, {watched_fd_, 0, 0}};
    if (poll(waiting, 2, static_cast<int>(left_ns / 1000000) + 1) <= 0) continue;
    if (waiting[1].revents & (POLLERR | POLLHUP)) {
      Reap(/*kill_it=*/true);
      return absl::UnavailableError("nobody reads the answers any more");
    }
    if (!(waiting[0].revents & (POLLIN | POLLHUP))) continue;
    if (!child_->replies.Fill().ok()) return Died{Reap(/*kill_it=*/false)};
    const auto message = child_->replies.TakeBuffered();
    if (message.status().code() == absl::StatusCode::kDeadlineExceeded) continue;
    v1::BuildReply reply;
    if (!message.ok() || !reply.ParseFromString(*message)) return Died{Reap(/*kill_it=*/true)};
    ++child_->answered;
    return reply;
  }
}

absl::StatusOr<v1::BuildReply> BatchRunner::BuildInChild(const v1::BuildRequest& request) {
  v1::BuildReply failure;
  failure.set_id(request.id());
  while (true) {
    HONE_RETURN_IF_ERROR(EnsureChild());
    const bool is_fresh = child_->answered == 0;
    HONE_ASSIGN_OR_RETURN(Outcome outcome, Ask(request));
    if (auto* reply = std::get_if<v1::BuildReply>(&outcome)) return std::move(*reply);
    if (!is_fresh) continue;
    if (std::holds_alternative<Late>(outcome)) {
      failure.set_outcome(v1::BUILD_OUTCOME_BUILD_TIMEOUT);
      failure.set_message(
          fmt::format("the build took more than {} ms", LimitNs(request) / 1000000));
      return failure;
    }
    failure.set_outcome(v1::BUILD_OUTCOME_BUILD_ERROR);
    failure.set_message(std::get<Died>(outcome).how);
    return failure;
  }
}

absl::Status BatchRunner::Run(const v1::BuildBatch& batch) {
  for (const v1::BuildRequest& request : batch.requests()) {
    HONE_ASSIGN_OR_RETURN(const v1::BuildReply reply, BuildInChild(request));
    HONE_RETURN_IF_ERROR(reply_(reply));
  }
  return absl::OkStatus();
}

}  // namespace hone::tuner
