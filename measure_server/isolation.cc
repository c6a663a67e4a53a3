#include "measure_server/isolation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string_view>

#include "measure_server/measured_cores.h"
#include "measure_server/process_keeper.h"

namespace hone::measure {
namespace {

constexpr int kApart = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS;
constexpr uid_t kNobody = 65534;

bool WriteTo(const char* path, std::string_view text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  const bool ok =
      fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) close(fd);
  return ok;
}

// Capabilities of a user namespace do not reach beyond it: what asks for real-time priority has to
// be allowed by limit there. True where there is none to lose.
bool MayTakePriorityByLimit() {
  if (!TakeWatcherPriority()) return true;
  const rlimit limit{kCandidatePriority, kCandidatePriority};
  return setrlimit(RLIMIT_RTPRIO, &limit) == 0;
}

// Users keep their numbers: there is only one in it.
bool EnterUserNamespace() {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  return unshare(CLONE_NEWUSER | kApart) == 0 && WriteTo("/proc/self/setgroups", "deny") &&
         WriteTo("/proc/self/uid_map", fmt::format("{0} {0} 1", uid)) &&
         WriteTo("/proc/self/gid_map", fmt::format("{0} {0} 1", gid));
}

bool BecomeNobody() {
  return setgroups(0, nullptr) == 0 && setresgid(kNobody, kNobody, kNobody) == 0 &&
         setresuid(kNobody, kNobody, kNobody) == 0;
}

// Root of a container may not be allowed to.
bool CanBecomeNobody() {
  const pid_t pid = fork();
  if (pid == 0) _exit(BecomeNobody() ? 0 : 1);
  int status = -1;
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

}  // namespace

Isolation Isolation::Enter() {
  Isolation isolation;
  const bool by_limit = MayTakePriorityByLimit();
  const bool is_apart = unshare(kApart) == 0 || (by_limit && EnterUserNamespace());
  isolation.becomes_nobody_ = geteuid() == 0 && CanBecomeNobody();
  isolation.text_ = fmt::format(
      "candidates run as {}, in {}; what one on a device starts ends with {}",
      isolation.becomes_nobody_ ? "nobody" : "the worker's user",
      is_apart ? "network, IPC and mount namespaces of their own" : "the worker's namespaces",
      CanKeepInNamespace() ? "its PID namespace" : "it, found and killed process by process");
  return isolation;
}

bool Isolation::HandOver(const std::string& folder) const {
  return !becomes_nobody_ || chown(folder.c_str(), kNobody, kNobody) == 0;
}

bool Isolation::EnterChild() const {
  // Where the system does not let us say so, it decides by size.
  (void)WriteTo("/proc/self/oom_score_adj", "1000");
  if (!becomes_nobody_) return true;
  // What only root may ask for; it stays.
  const sched_param priority{.sched_priority = kCandidatePriority};
  sched_setscheduler(0, SCHED_FIFO, &priority);
  return BecomeNobody();
}

}  // namespace hone::measure
