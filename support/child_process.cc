#include "support/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "fmt/format.h"
#include "support/clock.h"

extern char** environ;

namespace hone {
namespace {

// A process group of its own: Ctrl-C at the terminal is ours, and we decide what becomes of it.
class OwnGroup {
 public:
  OwnGroup() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
  }
  ~OwnGroup() { posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// File actions of posix_spawn, freed on every way out.
class FileActions {
 public:
  explicit FileActions(int stdout_fd) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, stdout_fd, STDOUT_FILENO);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

}  // namespace

absl::StatusOr<ChildProcess> ChildProcess::Start(const std::vector<std::string>& argv) {
  if (access(argv[0].c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        fmt::format("expected the program {}, found none that can be run", argv[0]));
  }
  std::array<int, 2> fds;
  if (pipe2(fds.data(), O_CLOEXEC) != 0) {
    return absl::InternalError(fmt::format("pipe: {}", std::strerror(errno)));
  }
  std::vector<char*> args;
  args.reserve(argv.size() + 1);
  for (const std::string& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
  args.push_back(nullptr);
  pid_t pid = -1;
  const FileActions actions(fds[1]);
  const OwnGroup group;
  const int error =
      posix_spawn(&pid, argv[0].c_str(), actions.get(), group.get(), args.data(), environ);
  close(fds[1]);
  if (error != 0) {
    close(fds[0]);
    return absl::InternalError(fmt::format("starting {}: {}", argv[0], std::strerror(error)));
  }
  return ChildProcess(pid, fds[0]);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(stdout_fd_, other.stdout_fd_);
  std::swap(wait_status_, other.wait_status_);
  std::swap(pending_, other.pending_);
  return *this;
}

ChildProcess::~ChildProcess() {
  Stop(0);
  if (stdout_fd_ >= 0) close(stdout_fd_);
}

absl::StatusOr<std::string> ChildProcess::ReadLine(int64_t limit_ns) {
  const int64_t deadline_ns = Clock::Real().NowNs() + limit_ns;
  while (true) {
    const size_t newline = pending_.find('\n');
    if (newline != std::string::npos) {
      std::string line = pending_.substr(0, newline);
      pending_.erase(0, newline + 1);
      return line;
    }
    const int64_t left_ns = deadline_ns - Clock::Real().NowNs();
    pollfd waiting = {stdout_fd_, POLLIN, 0};
    const int ready = left_ns <= 0 ? 0 : poll(&waiting, 1, static_cast<int>(left_ns / 1000000) + 1);
    if (ready == 0)
      return absl::DeadlineExceededError("expected a line of output in time, found none");
    std::array<char, 4096> buffer;
    const ssize_t count = ready < 0 ? -1 : read(stdout_fd_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return absl::UnavailableError("the program ended before it wrote a line");
    pending_.append(buffer.data(), static_cast<size_t>(count));
  }
}

bool ChildProcess::HasEnded() {
  if (pid_ < 0) return true;
  if (waitpid(pid_, &wait_status_, WNOHANG) != pid_) return false;
  pid_ = -1;
  return true;
}

int ChildProcess::Stop(int64_t grace_ns) {
  if (pid_ < 0) return wait_status_;
  if (grace_ns > 0) {
    kill(pid_, SIGTERM);
    const int64_t deadline_ns = Clock::Real().NowNs() + grace_ns;
    while (!HasEnded() && Clock::Real().NowNs() < deadline_ns) usleep(1000);
  }
  if (pid_ >= 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &wait_status_, 0);
    pid_ = -1;
  }
  return wait_status_;
}

std::string ExecutableFolder() {
  std::array<char, PATH_MAX> path;
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  const std::string full(path.data(), size > 0 ? static_cast<size_t>(size) : 0);
  return full.substr(0, full.rfind('/'));
}

}  // namespace hone
