// Limits and descriptors of a child, seen from inside one.
#include "measure_server/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string_view>

#include "runtime/host_cpu.h"

namespace hone::measure {
namespace {

bool HoldsInAChild(const std::function<bool()>& property) {
  const pid_t pid = fork();
  if (pid == 0) _exit(property() ? 0 : 1);
  int status = -1;
  waitpid(pid, &status, 0);
  return status == 0;
}

TEST(SandboxTest, ProcessorTimeEndsWithASignalThatSaysSoBeforeTheKill) {
  const absl::StatusOr<Sandbox> sandbox = Sandbox::Make(SandboxLevel::kLimits);
  ASSERT_TRUE(sandbox.ok());
  EXPECT_TRUE(HoldsInAChild([&] {
    rlimit limit{};
    return sandbox->EnterLimits({.memory_bytes = 0, .cpu_ns = 3'000'000'000}) &&
           getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_cur == 5 && limit.rlim_max == 6;
  }));
}

// Asking the system for what they depend on would be a child's end.
TEST(SandboxTest, FeaturesOfTheProcessorAreKnownInside) {
  const absl::StatusOr<Sandbox> sandbox = Sandbox::Make(SandboxLevel::kStrict);
  ASSERT_TRUE(sandbox.ok()) << sandbox.status();
  EXPECT_TRUE(HoldsInAChild([&] {
    return sandbox->EnterLimits({}) && sandbox->EnterLoading(-1) && sandbox->EnterRunning() &&
           !HostFeatures().empty();
  }));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(SandboxTest, WhoOpensAFileWhileLoadingGetsTheArtifact) {
  const absl::StatusOr<Sandbox> sandbox = Sandbox::Make(SandboxLevel::kStrict);
  ASSERT_TRUE(sandbox.ok()) << sandbox.status();
  const int artifact = memfd_create("artifact", MFD_CLOEXEC);
  ASSERT_EQ(write(artifact, "artifact", 8), 8);
  EXPECT_TRUE(HoldsInAChild([&] {
    char bytes[8] = {};
    if (!sandbox->EnterLimits({}) || !sandbox->EnterLoading(artifact)) return false;
    for (const int flags : {O_RDONLY, O_RDWR | O_CREAT}) {
      const int fd = open("/etc/passwd", flags, 0600);
      if (fd < 0 || read(fd, bytes, 8) != 8 || std::string_view(bytes, 8) != "artifact") {
        return false;
      }
    }
    return true;
  }));
  close(artifact);
}
#endif

TEST(SandboxTest, ClosesAllDescriptorsButThoseThatAreKept) {
  EXPECT_TRUE(HoldsInAChild([] {
    const auto is_open = [](int fd) { return fcntl(fd, F_GETFD) != -1; };
    const int first = dup(0);
    const int second = dup(0);
    const int third = dup(0);
    return CloseAllBut({third, -1, first}) && !is_open(0) && !is_open(2) && is_open(first) &&
           !is_open(second) && is_open(third);
  }));
}

}  // namespace
}  // namespace hone::measure
