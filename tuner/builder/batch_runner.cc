#include "tuner/builder/batch_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "support/clock.h"
#include "support/status.h"
#include "tuner/builder/client/frames.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;

constexpr size_t kBatchOfOneChild = 32;
// For requests that state none.
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

void BatchRunner::BeChild(const Requests& requests, int fd, int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  ResetSignals();
  LimitChild();
  // What the program prints must not stand between the answers.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  for (const v1::BuildRequest* request : requests) {
    if (!WriteFrame(fd, build_(*request).SerializeAsString()).ok()) _exit(1);
  }
  _exit(0);
}

absl::Status BatchRunner::ReplyFailure(const v1::BuildRequest& request, v1::BuildOutcome outcome,
                                       std::string message) {
  v1::BuildReply reply;
  reply.set_id(request.id());
  reply.set_outcome(outcome);
  reply.set_message(std::move(message));
  return reply_(reply);
}

// Passes answers on until the child is done, dead or late.
absl::Status BatchRunner::Collect(const Requests& requests, int fd, ChildEnd& end) {
  FrameReader reader(fd);
  int64_t deadline_ns = Clock::Real().NowNs() + LimitNs(*requests[0]);
  while (end.answered < requests.size()) {
    const int64_t left_ns = deadline_ns - Clock::Real().NowNs();
    if (left_ns <= 0) {
      end.end = End::kTimeout;
      return absl::OkStatus();
    }
    pollfd waiting[2] = {{fd, POLLIN, 0}, {watched_fd_, 0, 0}};
    const int ready = poll(waiting, 2, static_cast<int>(left_ns / 1000000) + 1);
    if (ready <= 0) continue;
    if (waiting[1].revents & (POLLERR | POLLHUP)) {
      return absl::UnavailableError("nobody reads the answers any more");
    }
    if (!(waiting[0].revents & (POLLIN | POLLHUP))) continue;
    if (!reader.Fill().ok()) {
      end.end = End::kDied;
      return absl::OkStatus();
    }
    for (auto message = reader.TakeBuffered(); message.ok(); message = reader.TakeBuffered()) {
      v1::BuildReply reply;
      if (!reply.ParseFromString(*message)) {
        end.end = End::kDied;
        return absl::OkStatus();
      }
      ++end.answered;
      HONE_RETURN_IF_ERROR(reply_(reply));
      if (end.answered < requests.size()) {
        deadline_ns = Clock::Real().NowNs() + LimitNs(*requests[end.answered]);
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BatchRunner::ChildEnd> BatchRunner::RunChild(const Requests& requests) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) {
    return absl::InternalError(fmt::format("pipe: {}", strerror(errno)));
  }
  const int parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    close(fds[0]);
    close(fds[1]);
    return absl::InternalError(fmt::format("fork: {}", strerror(errno)));
  }
  if (pid == 0) {
    close(fds[0]);
    BeChild(requests, fds[1], parent);
  }
  close(fds[1]);
  ChildEnd end;
  const absl::Status collected = Collect(requests, fds[0], end);
  close(fds[0]);
  if (!collected.ok() || end.end == End::kTimeout) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  HONE_RETURN_IF_ERROR(collected);
  if (end.end == End::kDied) end.how = DescribeEnd(status);
  return end;
}

absl::Status BatchRunner::Run(const v1::BuildBatch& batch) {
  Requests left;
  for (const v1::BuildRequest& request : batch.requests()) left.push_back(&request);
  bool one_by_one = false;
  while (!left.empty()) {
    const size_t count = one_by_one ? 1 : std::min(left.size(), kBatchOfOneChild);
    const Requests now(left.begin(), left.begin() + static_cast<ptrdiff_t>(count));
    HONE_ASSIGN_OR_RETURN(const ChildEnd end, RunChild(now));
    size_t settled = end.answered;
    if (end.end == End::kTimeout) {
      const v1::BuildRequest& late = *now[settled++];
      HONE_RETURN_IF_ERROR(
          ReplyFailure(late, v1::BUILD_OUTCOME_BUILD_TIMEOUT,
                       fmt::format("the build took more than {} ms", LimitNs(late) / 1000000)));
    } else if (end.end == End::kDied && count == 1) {
      HONE_RETURN_IF_ERROR(ReplyFailure(*now[settled++], v1::BUILD_OUTCOME_BUILD_ERROR, end.how));
    } else if (end.end == End::kDied) {
      one_by_one = true;
    }
    left.erase(left.begin(), left.begin() + static_cast<ptrdiff_t>(settled));
  }
  return absl::OkStatus();
}

}  // namespace hone::tuner
