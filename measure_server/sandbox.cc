#include "measure_server/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "runtime/host_cpu.h"
#include "runtime/tile_permission.h"
#include "support/clock.h"
#include "support/status.h"

namespace hone::measure {
namespace {

// The sanitizers' own threads, maps and files do not fit into a sandbox.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// No mremap: it would grow the mapping of a report over the next candidate's.
constexpr int kRunning[] = {
    SCMP_SYS(read),           SCMP_SYS(write),
    SCMP_SYS(recvfrom),       SCMP_SYS(sendto),
    SCMP_SYS(close),          SCMP_SYS(munmap),
    SCMP_SYS(madvise),        SCMP_SYS(brk),
    SCMP_SYS(futex),          SCMP_SYS(exit),
    SCMP_SYS(exit_group),     SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(restart_syscall),
    SCMP_SYS(clock_gettime),  SCMP_SYS(getrusage),
    SCMP_SYS(sched_yield),    SCMP_SYS(getpid),
    SCMP_SYS(gettid),         SCMP_SYS(rseq),
};
// Beside these, for the loader.
constexpr int kLoading[] = {
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(pread64),
    SCMP_SYS(lseek),
    SCMP_SYS(dup),
    // The second filter is entered through this one.
    SCMP_SYS(seccomp),
};

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_KILL_PROCESS)) {}
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  void Allow(int call) { Note(seccomp_rule_add(context_, SCMP_ACT_ALLOW, call, 0)); }
  // It does not happen; AnswerOpen is called instead.
  void Trap(int call) { Note(seccomp_rule_add(context_, SCMP_ACT_TRAP, call, 0)); }
  // Where the first arguments are these.
  void AllowWith(int call, uint64_t first, uint64_t second) {
    Note(seccomp_rule_add(context_, SCMP_ACT_ALLOW, call, 2, SCMP_CMP(0, SCMP_CMP_EQ, first),
                          SCMP_CMP(1, SCMP_CMP_EQ, second)));
  }
  // Where these bits of an argument are zero.
  void AllowWithout(int call, unsigned argument, uint64_t bits) {
    Note(seccomp_rule_add(context_, SCMP_ACT_ALLOW, call, 1,
                          SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, bits, 0)));
  }

  absl::StatusOr<std::vector<sock_filter>> Compile() {
    const int fd = memfd_create("hone-filter", MFD_CLOEXEC);
    Note(fd < 0 ? -errno : seccomp_export_bpf(context_, fd));
    const off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    std::vector<sock_filter> program(static_cast<size_t>(size) / sizeof(sock_filter));
    const ssize_t count = fd < 0 ? -1 : pread(fd, program.data(), static_cast<size_t>(size), 0);
    if (fd >= 0) close(fd);
    if (error_ != 0 || count != size) {
      return absl::InternalError(
          fmt::format("compiling the sandbox's filter failed: {}; --sandbox limits does without",
                      std::strerror(-error_)));
    }
    return program;
  }

 private:
  void Note(int result) {
    if (result < 0 && error_ == 0) error_ = result;
  }

  scmp_filter_ctx context_;
  int error_ = 0;
};

absl::StatusOr<std::vector<sock_filter>> CompileFilter(bool may_load) {
  Filter filter;
  for (const int call : kRunning) filter.Allow(call);
  if (may_load) {
    for (const int call : kLoading) filter.Allow(call);
    filter.Trap(SCMP_SYS(openat));
    filter.Allow(SCMP_SYS(mmap));
    filter.Allow(SCMP_SYS(mprotect));
    // Opening a module asks for tile registers where its launches work in them.
    filter.AllowWith(SCMP_SYS(arch_prctl), kAskForTilesArguments[0], kAskForTilesArguments[1]);
  } else {
    filter.AllowWithout(SCMP_SYS(mmap), 2, PROT_EXEC);
    filter.AllowWithout(SCMP_SYS(mprotect), 2, PROT_EXEC);
  }
  return filter.Compile();
}

// What is loaded. Of a process: it loads one artifact.
int loaded_fd = -1;

// Instead of openat: the loader, which opens by paths only, gets a duplicate of the descriptor that
// we have. The filter traps nothing else.
void AnswerOpen(int, siginfo_t*, void* context) {
  const int fd = dup(loaded_fd);
  if (fd >= 0) lseek(fd, 0, SEEK_SET);
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
#ifdef __aarch64__
  registers.regs[0] = static_cast<uint64_t>(fd >= 0 ? fd : -EBADF);
#else
  registers.gregs[REG_RAX] = fd >= 0 ? fd : -EBADF;
#endif
}

bool AnswerOpensWith(int fd) {
  loaded_fd = fd;
  struct sigaction action{};
  action.sa_sigaction = AnswerOpen;
  action.sa_flags = SA_SIGINFO;
  return sigaction(SIGSYS, &action, nullptr) == 0;
}

bool Enter(const std::vector<sock_filter>& program) {
  const sock_fprog filter{static_cast<unsigned short>(program.size()),
                          const_cast<sock_filter*>(program.data())};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

bool SetLimit(int resource, uint64_t soft, uint64_t hard) {
  const rlimit limit{soft, hard};
  return setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0;
}

bool SetLimit(int resource, uint64_t value) { return SetLimit(resource, value, value); }

uint64_t OwnAddressSpace() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

absl::StatusOr<Sandbox> Sandbox::Make(SandboxLevel level) {
  (void)HostFeatures();  // opening a module looks at them; children know them from here
  Sandbox sandbox(level);
  if (level == SandboxLevel::kStrict) {
    HONE_ASSIGN_OR_RETURN(sandbox.loading_, CompileFilter(true));
    HONE_ASSIGN_OR_RETURN(sandbox.running_, CompileFilter(false));
  }
  if (!sandbox.Works()) {
    return absl::FailedPreconditionError(
        "this system does not let a process enter the sandbox (seccomp with thread "
        "synchronisation); use --sandbox limits, whose figures are not for publication");
  }
  return sandbox;
}

bool Sandbox::Works() const {
  const pid_t pid = fork();
  if (pid < 0) return false;
  if (pid == 0) _exit(EnterLimits({}) && EnterLoading(-1) && EnterRunning() ? 0 : 1);
  int status = 0;
  return waitpid(pid, &status, 0) == pid && status == 0;
}

bool Sandbox::EnterLimits(const ResourceLimits& limits) const {
  // Tables of our own, the reference's outputs.
  constexpr uint64_t kOverhead = uint64_t{256} << 20;
  // What drivers keep of compiled code.
  constexpr uint64_t kMostFileBytes = uint64_t{1} << 30;
  const uint64_t file_bytes = level_ == SandboxLevel::kContained ? kMostFileBytes : 0;
  bool ok = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && SetLimit(RLIMIT_FSIZE, file_bytes) &&
            SetLimit(RLIMIT_CORE, 0);
  // Drivers reserve more addresses than any machine has memory, and compute on all cores.
  if (level_ == SandboxLevel::kContained) return ok;
  if (limits.cpu_ns > 0) {
    // The soft limit sends SIGXCPU, which says what happened; the hard one kills like the system
    // does when memory is short.
    const auto seconds = static_cast<uint64_t>(limits.cpu_ns / kSecondNs + 2);
    ok = ok && SetLimit(RLIMIT_CPU, seconds, seconds + 1);
  }
  if (limits.memory_bytes > 0 && !kIsSanitized) {
    ok = ok && SetLimit(RLIMIT_AS, OwnAddressSpace() + kOverhead + limits.memory_bytes);
  }
  return ok;
}

bool CloseAllBut(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = 0;
  for (const int fd : kept) {
    if (fd < 0) continue;
    const auto next = static_cast<unsigned>(fd);
    if (first < next && close_range(first, next - 1, 0) != 0) return false;
    first = next + 1;
  }
  return close_range(first, ~0u, 0) == 0;
}

bool Sandbox::EnterLoading(int artifact_fd) const {
  if (level_ == SandboxLevel::kContained) return true;
  // Threads of the team are there already; root is not bound by this one.
  if (!SetLimit(RLIMIT_NPROC, 0)) return false;
  if (level_ == SandboxLevel::kLimits || kIsSanitized) return true;
  return AnswerOpensWith(artifact_fd) && Enter(loading_);
}

bool Sandbox::EnterRunning() const {
  return level_ != SandboxLevel::kStrict || kIsSanitized || Enter(running_);
}

}  // namespace hone::measure
