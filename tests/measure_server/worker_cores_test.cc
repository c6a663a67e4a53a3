// Which cores workers use, and that two of them do not share one without a word.
#include "measure_server/worker_cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "measure_server/core_list.h"
#include "measure_server/cpu_device.h"
#include "measure_server/held_cores.h"
#include "measure_server/measured_cores.h"
#include "runtime/thread_team.h"

namespace hone::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(CoreList, IsReadAndWrittenAsTheSystemWritesIt) {
  EXPECT_THAT(ParseCores("3").value(), ElementsAre(3));
  EXPECT_THAT(ParseCores("6,0-2,1").value(), ElementsAre(0, 1, 2, 6));
  EXPECT_EQ(CoresText({0, 1, 2, 6}), "0-2,6");
  EXPECT_EQ(CoresText({5}), "5");
  for (const char* bad : {"", "a", "1-", "-1", "3-1", "1,,2", "0-99999", "1 2"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseCores(bad).status())) << bad;
  }
  EXPECT_GE(OnlineCoreCount(), 1);
}

TEST(OffMeasuredCores, ThisThreadUsesTheOtherCoresForAWhile) {
  const std::vector<int> all = UsableCores();
  if (all.size() < 2) GTEST_SKIP() << "this process has one core only";
  {
    const OffMeasuredCores elsewhere(1);
    EXPECT_EQ(UsableCores(), std::vector<int>(all.begin(), all.end() - 1));
  }
  EXPECT_EQ(UsableCores(), all);
  for (const int none_left : {0, static_cast<int>(all.size())}) {
    const OffMeasuredCores elsewhere(none_left);
    EXPECT_EQ(UsableCores(), all);
  }
}

// In a name of its own, which no worker on this machine uses.
std::string OwnPrefix() { return "hone-test-" + std::to_string(getpid()) + "-core-"; }

TEST(HeldCores, AreOneWorkersEach) {
  std::optional<HeldCores> first(std::in_place, std::vector<int>{2, 3}, OwnPrefix());
  EXPECT_THAT(first->taken(), IsEmpty());
  const HeldCores second({1, 2, 3}, OwnPrefix());
  ASSERT_THAT(second.taken(), SizeIs(2));
  EXPECT_EQ(second.taken()[0].core, 2);
  EXPECT_EQ(second.taken()[0].holder, getpid());
  EXPECT_EQ(second.TakenText(), "core 2 (process " + std::to_string(getpid()) +
                                    "), core 3 (process " + std::to_string(getpid()) + ")");
  first.reset();
  EXPECT_THAT(HeldCores({2, 3}, OwnPrefix()).taken(), IsEmpty());
  EXPECT_THAT(HeldCores({1}, OwnPrefix()).taken(), SizeIs(1)) << "the second has it still";
}

TEST(HeldCores, AreFreeOnceTheirHolderWasKilled) {
  const std::string prefix = OwnPrefix();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const HeldCores held({0}, prefix);
    (void)!write(ready[1], "r", 1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_THAT(HeldCores({0}, prefix).taken(), SizeIs(1));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_THAT(HeldCores({0}, prefix).taken(), IsEmpty());
  close(ready[0]);
  close(ready[1]);
}

// What it changes is its thread's.
TEST(WorkerCores, AreThoseThatWereAskedFor) {
  std::thread([] {
    const std::vector<int> all = UsableCores();
    const int last = all.back();
    EXPECT_TRUE(UseCores("", 0).ok());
    EXPECT_EQ(UsableCores(), all);
    const absl::Status none = UseCores("1000", 0);
    EXPECT_TRUE(absl::IsInvalidArgument(none));
    EXPECT_THAT(std::string(none.message()), HasSubstr("some of " + CoresText(all)));
    EXPECT_TRUE(absl::IsInvalidArgument(UseCores(std::to_string(last), 2)));
    EXPECT_EQ(UsableCores(), all) << "nothing of what was refused is done";
    EXPECT_TRUE(UseCores(std::to_string(last), 1).ok());
    EXPECT_THAT(UsableCores(), ElementsAre(last));
    EXPECT_THAT(MeasuredCores(1), ElementsAre(last));
    EXPECT_THAT(MeasuredCores(5), ElementsAre(last));
  }).join();
}

TEST(WorkerCores, DoNotChangeWhichDeviceItIs) {
  const std::string of_all = DescribeCpu(1, "", false).fingerprint();
  std::thread([&] {
    ASSERT_TRUE(UseCores(std::to_string(UsableCores().back()), 0).ok());
    EXPECT_EQ(DescribeCpu(1, "", false).fingerprint(), of_all);
    EXPECT_EQ(DescribeCpu(0, "", false).threads(), 1u);
  }).join();
}

}  // namespace
}  // namespace hone::measure
