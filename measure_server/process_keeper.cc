#include "measure_server/process_keeper.h"

#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "measure_server/sandbox.h"

namespace hone::measure {
namespace {

int OpenProcess(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

// The first process of a namespace: all others in it end with it, and it reaps those that nobody
// waits for.
[[noreturn]] void HoldNamespace(int keeper_fd) {
  prctl(PR_SET_NAME, "hone-namespace");
  signal(SIGCHLD, SIG_IGN);
  DieWithParent(keeper_fd);
  CloseAllBut({});
  while (true) pause();
}

// What the calling process forks from here on is in a namespace that the process returned holds;
// -1 where the system does not permit it.
pid_t StartNamespace(int keeper_fd) {
  if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) return -1;
  const pid_t holder = fork();
  if (holder == 0) HoldNamespace(keeper_fd);
  return holder;
}

// In the namespace, a process is to find itself by its number there. Where the system does not
// permit it, /proc still has its own entry, /proc/self.
void ShowOwnProcesses() {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
  (void)mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
}

// The parent's number, which follows the state, which follows the name in parentheses; 0: there is
// no such process.
pid_t ParentOf(const std::string& pid) {
  std::string line;
  std::getline(std::ifstream("/proc/" + pid + "/stat"), line);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > line.size()) return 0;
  pid_t parent = 0;
  std::from_chars(line.data() + name_end + 4, line.data() + line.size(), parent);
  return parent;
}

std::vector<pid_t> OwnChildren() {
  std::vector<pid_t> children;
  DIR* const folder = opendir("/proc");
  if (folder == nullptr) return children;
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (fault != std::errc() || end != name.data() + name.size()) continue;
    if (ParentOf(std::string(name)) == getpid()) children.push_back(pid);
  }
  closedir(folder);
  return children;
}

// A process that is killed leaves its own children to the keeper, until there are none.
void EndChildren() {
  while (true) {
    for (const pid_t child : OwnChildren()) kill(child, SIGKILL);
    if (waitpid(-1, nullptr, __WALL) < 0 && errno == ECHILD) return;
  }
}

// Returns when the process has ended, or the leash is let go of.
void AwaitEnd(int process_fd, int leash_fd) {
  pollfd fds[2] = {{process_fd, POLLIN, 0}, {leash_fd, 0, 0}};
  while (poll(fds, 2, -1) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void EndLike(int status) {
  if (WIFSIGNALED(status)) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

}  // namespace

void DieWithParent(int parent_fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd parent{parent_fd, POLLIN, 0};
  if (poll(&parent, 1, 0) != 0) _exit(1);
}

void KeepProcess(int leash_fd, const std::function<void(int keeper_fd)>& body) {
  prctl(PR_SET_NAME, "hone-keeper");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const int keeper_fd = OpenProcess(getpid());
  const pid_t holder = StartNamespace(keeper_fd);
  const pid_t kept = fork();
  if (kept == 0) {
    if (holder > 0) ShowOwnProcesses();
    body(keeper_fd);
    _exit(0);
  }
  int status = 0;
  if (kept > 0) {
    const int kept_fd = OpenProcess(kept);
    // What it shares with others would keep their ends from being seen.
    CloseAllBut({leash_fd, kept_fd});
    AwaitEnd(kept_fd, leash_fd);
    kill(kept, SIGKILL);
    waitpid(kept, &status, 0);
  } else {
    status = SIGKILL;  // the system has no process left
  }
  if (holder > 0) {
    kill(holder, SIGKILL);
    waitpid(holder, nullptr, 0);
  }
  EndChildren();
  EndLike(status);
}

bool CanKeepInNamespace() {
  const pid_t pid = fork();
  if (pid == 0) _exit(unshare(CLONE_NEWPID | CLONE_NEWNS) == 0 ? 0 : 1);
  int status = -1;
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

}  // namespace hone::measure
