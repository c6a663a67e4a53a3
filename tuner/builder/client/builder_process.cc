#include "tuner/builder/client/builder_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

extern char** environ;

namespace hone::tuner {
namespace {

// Settings of posix_spawn, freed on every way out: the pipes as stdin and stdout, and no signal
// blocked or ignored, whatever this thread does.
class SpawnSettings {
 public:
  SpawnSettings(int stdin_fd, int stdout_fd) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, stdin_fd, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, stdout_fd, STDOUT_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BuilderProcess>> BuilderProcess::Start(
    const std::string& executable) {
  if (access(executable.c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        fmt::format("expected the program {}, found none that can be run", executable));
  }
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0) {
    return absl::InternalError(fmt::format("pipe: {}", strerror(errno)));
  }
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    return absl::InternalError(fmt::format("pipe: {}", strerror(errno)));
  }
  char* argv[] = {const_cast<char*>(executable.c_str()), nullptr};
  pid_t pid = -1;
  const SpawnSettings settings(in[0], out[1]);
  const int error = posix_spawn(&pid, executable.c_str(), settings.actions(), settings.attributes(),
                                argv, environ);
  close(in[0]);
  close(out[1]);
  if (error != 0) {
    close(in[1]);
    close(out[0]);
    return absl::InternalError(fmt::format("starting {}: {}", executable, strerror(error)));
  }
  return std::unique_ptr<BuilderProcess>(new BuilderProcess(pid, in[1], out[0]));
}

BuilderProcess::~BuilderProcess() {
  close(to_);
  close(from_);
  kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace hone::tuner
