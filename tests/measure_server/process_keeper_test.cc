// What a process that is kept started ends with it: with namespaces, and where the system has none
// for us.
#include "measure_server/process_keeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <iterator>

namespace hone::measure {
namespace {

// From here on the process may not make a namespace.
void BarNamespaces() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) _exit(99);
}

void Hang() {
  while (true) pause();
}

// Starts a process in a session of its own that is nobody's child, and returns once it runs.
void StartDaemon(const std::function<void()>& body = Hang) {
  int started[2];
  if (pipe(started) != 0) _exit(98);
  const pid_t between = fork();
  if (between == 0) {
    setsid();
    if (fork() == 0) {
      (void)!write(started[1], "s", 1);
      close(started[0]);
      close(started[1]);
      body();
    }
    _exit(0);
  }
  waitpid(between, nullptr, 0);
  char byte = 0;
  if (read(started[0], &byte, 1) != 1) _exit(97);
  close(started[0]);
  close(started[1]);
}

class ProcessKeeperTest : public testing::TestWithParam<bool> {
 protected:
  static bool IsBarred() { return GetParam(); }

  void SetUp() override {
    if (!IsBarred() && !CanKeepInNamespace()) {
      GTEST_SKIP() << "this system has no PID namespaces for us";
    }
  }
  void TearDown() override {
    for (const int fd : {leash_, life_}) {
      if (fd >= 0) close(fd);
    }
  }

  // The body may say over the descriptor that it has started what it should. The process and all
  // that it starts have it.
  void Keep(const std::function<void(int life)>& body) {
    int leash[2];
    int life[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, leash), 0);
    ASSERT_EQ(pipe(life), 0);
    keeper_ = fork();
    if (keeper_ == 0) {
      close(leash[0]);
      close(life[0]);
      if (IsBarred()) BarNamespaces();
      KeepProcess(leash[1], [&](int) { body(life[1]); });
    }
    close(leash[1]);
    close(life[1]);
    leash_ = leash[0];
    life_ = life[0];
  }
  void AwaitWord() {
    char byte = 0;
    ASSERT_EQ(read(life_, &byte, 1), 1);
  }
  int StatusOfKeeper() {
    int status = 0;
    EXPECT_EQ(waitpid(keeper_, &status, 0), keeper_);
    return status;
  }
  void LetGo() {
    close(leash_);
    leash_ = -1;
  }
  // Nobody has the other end any more, at this moment.
  void ExpectNobodyLeft() {
    fcntl(life_, F_SETFL, O_NONBLOCK);
    char byte = 0;
    EXPECT_EQ(read(life_, &byte, 1), 0);
  }

  pid_t keeper_ = -1;
  int leash_ = -1;
  int life_ = -1;
};

TEST_P(ProcessKeeperTest, EndsWithTheStatusOfTheProcess) {
  Keep([](int) { _exit(3); });
  const int status = StatusOfKeeper();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3) << status;
}

TEST_P(ProcessKeeperTest, EndsByTheSignalOfTheProcess) {
  Keep([](int) { raise(SIGABRT); });
  const int status = StatusOfKeeper();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
}

TEST_P(ProcessKeeperTest, EndsADaemonWhenTheLeashIsLetGo) {
  Keep([](int life) {
    StartDaemon();
    (void)!write(life, "s", 1);
    Hang();
  });
  AwaitWord();
  LetGo();
  const int status = StatusOfKeeper();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  ExpectNobodyLeft();
}

TEST_P(ProcessKeeperTest, EndsADaemonOfAProcessThatHasEnded) {
  Keep([](int) { StartDaemon(); });
  EXPECT_EQ(StatusOfKeeper(), 0);
  ExpectNobodyLeft();
}

// Orphans of this one are not the keeper's until it is dead itself.
TEST_P(ProcessKeeperTest, EndsATreeUnderADaemonThatAdoptsOrphans) {
  constexpr int kDaemons = 8;
  Keep([](int life) {
    StartDaemon([life] {
      prctl(PR_SET_CHILD_SUBREAPER, 1);
      for (int i = 0; i < kDaemons; ++i) {
        StartDaemon([] { StartDaemon(), Hang(); });
      }
      (void)!write(life, "s", 1);
      Hang();
    });
    Hang();
  });
  AwaitWord();
  LetGo();
  StatusOfKeeper();
  ExpectNobodyLeft();
}

TEST_P(ProcessKeeperTest, ANamespaceEndsWithAKeeperThatIsKilled) {
  if (IsBarred()) GTEST_SKIP() << "what is left has no keeper then";
  Keep([](int life) {
    StartDaemon();
    (void)!write(life, "s", 1);
    Hang();
  });
  AwaitWord();
  kill(keeper_, SIGKILL);
  StatusOfKeeper();
  char byte = 0;
  EXPECT_EQ(read(life_, &byte, 1), 0);  // blocks until the last has ended
}

INSTANTIATE_TEST_SUITE_P(, ProcessKeeperTest, testing::Bool(), [](const auto& info) {
  return info.param ? "WithoutNamespaces" : "WithNamespaces";
});

}  // namespace
}  // namespace hone::measure
