#include "measure_server/zygote.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "support/clock.h"
#include "support/status.h"

namespace hone::measure {
namespace {

constexpr size_t kMaxDescriptors = kMaxCandidates + 2;
constexpr char kSessionDone = 'd';
constexpr int kEndLimitMs = 2000;
constexpr const char* kCancelled = "cancelled";
constexpr const char* kGone = "the process that starts candidates is gone";

// Does not wait. There is room, for messages are small: one run at a time is asked for, and some
// candidates to be loaded ahead of it.
bool SendMessage(int socket, const msghdr& message, size_t size_bytes) {
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(size_bytes);
}

// Descriptors in the order: reports, reference (where there is one), artifacts.
bool SendRequest(int socket, const RunRequest& request, const std::vector<int>& descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  iovec data{const_cast<RunRequest*>(&request), sizeof(request)};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (descriptors.empty()) return SendMessage(socket, message, sizeof(request));
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  return SendMessage(socket, message, sizeof(request));
}

// False at the end of the worker.
bool ReceiveRequest(int socket, RunRequest* request, std::vector<int>* descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  iovec data{request, sizeof(*request)};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  do {
    count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(sizeof(*request))) return false;
  descriptors->clear();
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr) return request->kind == RunRequest::kForget;
  if (header->cmsg_type != SCM_RIGHTS) return false;
  descriptors->resize((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  std::memcpy(descriptors->data(), CMSG_DATA(header), descriptors->size() * sizeof(int));
  return true;
}

// Whether a message comes within that time.
bool HasMessage(int socket, int64_t limit_ns) {
  constexpr int64_t kMillisecond = 1'000'000;
  pollfd fd{socket, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&fd, 1, static_cast<int>(limit_ns / kMillisecond));
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

// Drivers write what they keep to these, wherever else they would.
void OfferFolder(const std::string& folder, const Isolation& isolation) {
  if (folder.empty()) return;
  if (!isolation.HandOver(folder)) {
    spdlog::warn("{} stays the worker's own: {}", folder, std::strerror(errno));
  }
  for (const char* name : {"HOME", "TMPDIR", "XDG_CACHE_HOME"}) setenv(name, folder.c_str(), 1);
}

[[noreturn]] void Serve(int socket, int cancel_fd, const Sandbox& sandbox,
                        const Zygote::Options& options) {
  const Isolation isolation = Isolation::Enter();
  spdlog::info("{}: {}", options.device, isolation.text());
  OfferFolder(options.driver_files, isolation);
  const RunPlace place{options.device, &sandbox, &isolation};
  CandidatesAhead ahead(&place);
  RunRequest request;
  std::vector<int> descriptors;
  while (true) {
    if (!ahead.empty() && !HasMessage(socket, options.idle_ahead_ns)) ahead.ForgetAll();
    if (!ReceiveRequest(socket, &request, &descriptors)) break;
    if (request.kind == RunRequest::kForget) {
      ahead.Forget(request.lease);
      continue;
    }
    if (request.kind == RunRequest::kLoadAhead) {
      ahead.Start(request, descriptors);
      for (const int fd : descriptors) close(fd);
      continue;
    }
    const bool has_reference = request.has_reference != 0 || request.kind == RunRequest::kReference;
    RunFiles files;
    files.reports_fd = descriptors[0];
    files.cancel_fd = cancel_fd;
    if (has_reference) files.reference_fd = descriptors[1];
    files.artifact_fds.assign(descriptors.begin() + (has_reference ? 2 : 1), descriptors.end());
    RunSession(request, files, place, &ahead);
    for (const int fd : descriptors) close(fd);
    (void)!send(socket, &kSessionDone, 1, MSG_NOSIGNAL);
  }
  // Their drivers' files are the worker's to remove.
  ahead.ForgetAll();
  _exit(0);
}

std::vector<RunReport> CancelledReports(size_t count) {
  RunReport cancelled;
  cancelled.outcome = RunOutcome::kDeviceLost;
  SetMessage(&cancelled, kCancelled);
  return std::vector<RunReport>(count, cancelled);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Zygote>> Zygote::Start(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const Sandbox sandbox, Sandbox::Make(options.level));
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::InternalError(fmt::format("socketpair: {}", std::strerror(errno)));
  }
  int cancel[2];
  if (pipe2(cancel, O_CLOEXEC | O_NONBLOCK) != 0) {
    return absl::InternalError(fmt::format("pipe: {}", std::strerror(errno)));
  }
  const pid_t worker = getpid();
  const pid_t pid = fork();
  if (pid < 0) return absl::InternalError(fmt::format("fork: {}", std::strerror(errno)));
  if (pid == 0) {
    close(ends[0]);
    close(cancel[1]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "hone-zygote");
    if (getppid() != worker) _exit(0);
    // Signals to the terminal's group are the worker's to handle.
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    Serve(ends[1], cancel[0], sandbox, options);
  }
  close(ends[1]);
  close(cancel[0]);
  const int pid_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  return std::unique_ptr<Zygote>(new Zygote(pid, pid_fd, ends[0], cancel[1], options.patience_ns));
}

Zygote::~Zygote() {
  close(socket_);
  close(cancel_fd_);
  if (pid_fd_ >= 0) {
    // It ends what it has loaded ahead, and then itself.
    pollfd ended{pid_fd_, POLLIN, 0};
    poll(&ended, 1, kEndLimitMs);
    close(pid_fd_);
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

absl::StatusOr<std::vector<RunReport>> Zygote::Run(const RunRequest& request, int reference_fd,
                                                   const std::vector<int>& artifact_fds) {
  if (artifact_fds.empty() || artifact_fds.size() > kMaxCandidates) {
    return absl::FailedPreconditionError(
        fmt::format("expected 1 to {} candidates, found {}", kMaxCandidates, artifact_fds.size()));
  }
  RunRequest numbered = request;
  if (!Begin(&numbered)) return CancelledReports(artifact_fds.size());
  const size_t bytes = artifact_fds.size() * sizeof(RunReport);
  const int reports_fd = memfd_create("hone-reports", MFD_CLOEXEC);
  void* mapped = MAP_FAILED;
  if (reports_fd >= 0 && ftruncate(reports_fd, static_cast<off_t>(bytes)) == 0) {
    mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, reports_fd, 0);
  }
  if (mapped == MAP_FAILED) {
    const std::string fault = std::strerror(errno);
    if (reports_fd >= 0) close(reports_fd);
    End();
    return absl::InternalError(fmt::format("no shared memory for a run: {}", fault));
  }
  std::vector<int> descriptors = {reports_fd};
  if (reference_fd >= 0) descriptors.push_back(reference_fd);
  descriptors.insert(descriptors.end(), artifact_fds.begin(), artifact_fds.end());
  const absl::Status status = SendRequest(socket_, numbered, descriptors)
                                  ? AwaitDone(numbered)
                                  : absl::UnavailableError(kGone);
  End();
  const auto* reports = static_cast<const RunReport*>(mapped);
  std::vector<RunReport> result(reports, reports + artifact_fds.size());
  munmap(mapped, bytes);
  close(reports_fd);
  if (!status.ok()) return status;
  return result;
}

bool Zygote::Begin(RunRequest* request) {
  const std::lock_guard lock(mutex_);
  if (request->lease != 0 && request->lease == cancelled_lease_) return false;
  request->session = ++sessions_;
  current_session_ = request->session;
  current_lease_ = request->lease;
  return true;
}

void Zygote::End() {
  const std::lock_guard lock(mutex_);
  current_session_ = 0;
}

absl::Status Zygote::AwaitDone(const RunRequest& request) {
  // The limit of a candidate that has none; it can be cancelled before.
  constexpr int64_t kLongestNs = kHourNs;
  constexpr int64_t kMillisecond = 1'000'000;
  const int64_t limit_ns =
      request.run_limit_ns > 0 ? std::min(request.run_limit_ns, kLongestNs) : kLongestNs;
  const int64_t count = std::max(request.candidate_count, 1u);
  // A candidate may have to come anew for each round.
  const int64_t times = int64_t{request.rounds} + 1;
  // RunSession may run it twice.
  const int64_t end_ns = Clock::Real().NowNs() + 2 * count * (times * limit_ns + patience_ns_);
  while (true) {
    const int64_t left_ns = end_ns - Clock::Real().NowNs();
    if (left_ns <= 0) {
      kill(pid_, SIGKILL);
      return absl::UnavailableError("the process that starts candidates hangs, and was killed");
    }
    pollfd fd{socket_, POLLIN, 0};
    const int64_t wait_ms = std::min<int64_t>(left_ns / kMillisecond + 1, 60'000);
    if (poll(&fd, 1, static_cast<int>(wait_ms)) <= 0) continue;
    char done = 0;
    const ssize_t received = recv(socket_, &done, 1, MSG_DONTWAIT);
    if (received == 1) return absl::OkStatus();
    if (received == 0 || (errno != EAGAIN && errno != EINTR)) {
      return absl::UnavailableError(kGone);
    }
  }
}

void Zygote::Cancel(int64_t lease) {
  const std::lock_guard lock(mutex_);
  if (lease != 0) cancelled_lease_ = lease;
  if (current_session_ == 0 || current_lease_ != lease) return;
  (void)!write(cancel_fd_, &current_session_, sizeof(current_session_));
}

void Zygote::LoadAhead(const RunRequest& request, const std::vector<int>& artifact_fds) {
  if (artifact_fds.empty() || artifact_fds.size() > kMaxCandidates) return;
  RunRequest ahead = request;
  ahead.kind = RunRequest::kLoadAhead;
  SendRequest(socket_, ahead, artifact_fds);
}

void Zygote::Forget(int64_t lease) {
  RunRequest request;
  request.kind = RunRequest::kForget;
  request.lease = lease;
  SendRequest(socket_, request, {});
}

}  // namespace hone::measure
