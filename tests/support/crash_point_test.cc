#include "support/crash_point.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "support/file_system.h"

namespace hone {
namespace {

using testing::ExitedWithCode;
using testing::KilledBySignal;

// The plan is read once a process, so each case runs in one of its own.
class CrashPointDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void PassThrice(const char* at) {
  setenv("HONE_CRASH_AT", at, 1);
  for (int i = 1; i <= 3; ++i) {
    std::fprintf(stderr, "before %d ", i);
    CrashPoint("test.point");
    CrashPoint("test.other");
  }
  _exit(0);
}

TEST_F(CrashPointDeathTest, KillsAtTheNthPassage) {
  EXPECT_EXIT(PassThrice("test.point:2"), KilledBySignal(SIGKILL), "^before 1 before 2 $");
}

TEST_F(CrashPointDeathTest, WithoutANumberTheFirstPassageKills) {
  EXPECT_EXIT(PassThrice("test.point"), KilledBySignal(SIGKILL), "^before 1 $");
}

TEST_F(CrashPointDeathTest, OtherPointsAndLaterPassagesDoNotKill) {
  EXPECT_EXIT(PassThrice("test.point:4"), ExitedWithCode(0), "");
  EXPECT_EXIT(PassThrice("test"), ExitedWithCode(0), "");
}

TEST_F(CrashPointDeathTest, LogListsPassagesInOrder) {
  const std::string log = testing::TempDir() + "/hone-crash-points";
  std::filesystem::remove(log);
  EXPECT_EXIT(
      {
        setenv("HONE_CRASH_LOG", log.c_str(), 1);
        CrashPoint("b");
        CrashPoint("a");
        CrashPoint("b");
        _exit(0);
      },
      ExitedWithCode(0), "");
  EXPECT_EQ(ReadFile(log).value(), "b\na\nb\n");
}

}  // namespace
}  // namespace hone
