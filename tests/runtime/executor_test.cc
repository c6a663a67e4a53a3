#include "runtime/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runtime/barrier_plan.h"
#include "runtime/cpu_device.h"
#include "runtime/kernel_runner.h"
#include "tests/runtime/c_module.h"
#include "tests/runtime/sample_modules.h"

namespace hone {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::Ge;
using ::testing::SizeIs;

std::vector<float> ChainInput() {
  std::vector<float> input(kChainLength);
  for (int i = 0; i < kChainLength; ++i) input[i] = static_cast<float>(i * 7 % 13);
  return input;
}

class ExecutorTest : public testing::TestWithParam<int> {
 protected:
  void Open(const std::string& source) {
    std::string error;
    module_ = Module::Open(CompileC(folder_, "module", source), &error);
    ASSERT_NE(module_, nullptr) << error;
    executor_ = Executor::Make(*module_, module_->table().functions[0], GetParam(), &error);
    ASSERT_NE(executor_, nullptr) << error;
  }
  std::vector<float> Output() {
    const auto* data = static_cast<const float*>(executor_->Output(0));
    return {data, data + kChainLength};
  }

  TestFolder folder_;
  std::unique_ptr<Module> module_;
  std::unique_ptr<Executor> executor_;
};

TEST_P(ExecutorTest, MemoryThatIsShortIsNamed) {
  std::string error;
  const auto module = Module::Open(
      CompileC(folder_, "module", "#define ARENA_BYTES 0xffffffffffffff00ull\n" + ChainModule()),
      &error);
  ASSERT_NE(module, nullptr) << error;
  EXPECT_EQ(Executor::Make(*module, module->table().functions[0], GetParam(), &error), nullptr);
  EXPECT_EQ(error, "expected 18446744073709551360 bytes for activations, found less free memory");
}

TEST_P(ExecutorTest, EveryLaunchSeesWhatTheOnesBeforeWrote) {
  Open(ChainModule());
  const std::vector<float> input = ChainInput();
  std::vector<float> expected(kChainLength);
  ChainReference(input.data(), expected.data());
  for (int run = 0; run < 200; ++run) {
    std::copy(input.begin(), input.end(), static_cast<float*>(executor_->Input(0)));
    std::fill_n(static_cast<float*>(executor_->Output(0)), kChainLength, -1.0f);
    executor_->Run();
    ASSERT_THAT(Output(), ElementsAreArray(expected)) << run;
  }
}

TEST_P(ExecutorTest, ReadsAndWritesMemoryOfTheCaller) {
  Open(ChainModule());
  Memory input(4 * kChainLength);
  Memory output(4 * kChainLength);
  const std::vector<float> values = ChainInput();
  std::copy(values.begin(), values.end(), reinterpret_cast<float*>(input.data()));
  executor_->BindInput(0, input.data());
  executor_->BindOutput(0, output.data());
  executor_->Run();
  std::vector<float> expected(kChainLength);
  ChainReference(values.data(), expected.data());
  const auto* result = reinterpret_cast<const float*>(output.data());
  EXPECT_THAT(std::vector<float>(result, result + kChainLength), ElementsAreArray(expected));
  executor_->BindOutput(0, nullptr);
  EXPECT_NE(executor_->Output(0), output.data());
}

TEST_P(ExecutorTest, ProfilesEveryCall) {
  Open(ChainModule());
  EXPECT_THAT(executor_->Profile(5), testing::AllOf(SizeIs(2), Each(Ge(0))));
  EXPECT_GE(executor_->Time(10), 0);
}

TEST_P(ExecutorTest, TimesOneCallAloneAndStillRunsAllOfThem) {
  Open(ChainModule());
  auto* input = static_cast<float*>(executor_->Input(0));
  for (int i = 0; i < kChainLength; ++i) input[i] = static_cast<float>(i);
  std::vector<float> expected(kChainLength);
  ChainReference(input, expected.data());
  for (uint32_t call = 0; call < executor_->function().call_count; ++call) {
    std::string error;
    EXPECT_GE(executor_->TimeCall(call, 10, &error), 0);
  }
  executor_->Run();
  const auto* result = static_cast<const float*>(executor_->Output(0));
  EXPECT_THAT(std::vector<float>(result, result + kChainLength), ElementsAreArray(expected));
}

TEST_P(ExecutorTest, TimesItselfWithoutKernelsAndStillRunsThem) {
  Open(ChainModule());
  auto* input = static_cast<float*>(executor_->Input(0));
  for (int i = 0; i < kChainLength; ++i) input[i] = static_cast<float>(i);
  auto* result = static_cast<float*>(executor_->Output(0));
  std::fill(result, result + kChainLength, -1.0f);
  EXPECT_GE(executor_->TimeWithoutKernels(10), 0);
  EXPECT_THAT(std::vector<float>(result, result + kChainLength), Each(-1.0f));
  std::vector<float> expected(kChainLength);
  ChainReference(input, expected.data());
  executor_->Run();
  EXPECT_THAT(std::vector<float>(result, result + kChainLength), ElementsAreArray(expected));
}

TEST_P(ExecutorTest, AllocatesNothingInARun) {
  Open(ChainModule());
  executor_->Run();
  const auto before = mallinfo2().uordblks;
  for (int run = 0; run < 50; ++run) executor_->Run();
  EXPECT_EQ(mallinfo2().uordblks, before);
}

TEST_P(ExecutorTest, RunsOneKernelOnBuffersOfTheCaller) {
  Open(ChainModule());
  CpuDevice device(std::make_shared<ThreadTeam>(GetParam()));
  std::string error;
  const auto loaded = device.Load(*module_, &error);
  ASSERT_NE(loaded, nullptr) << error;
  KernelRunner runner(module_->table(), module_->table().kernels[0], *loaded);
  ASSERT_TRUE(runner.ok());
  std::vector<float> x = ChainInput(), t(kChainLength), u(kChainLength), y(kChainLength);
  runner.Bind({x.data(), t.data(), u.data(), y.data()});
  runner.Run(HONE_PHASE_RUN);
  std::vector<float> twice(kChainLength), expected(kChainLength);
  runner.Bind({y.data(), t.data(), u.data(), twice.data()});
  runner.Run(HONE_PHASE_RUN);
  ChainReference(x.data(), expected.data());
  EXPECT_THAT(twice, ElementsAreArray(expected));
}

INSTANTIATE_TEST_SUITE_P(Threads, ExecutorTest, testing::Values(1, 2, 4));

TEST(BarrierPlanTest, LeavesOutBarriersBetweenSerialLaunches) {
  BarrierPlan plan;
  EXPECT_FALSE(plan.Next(/*wants_barrier=*/false, /*is_serial=*/true));
  EXPECT_FALSE(plan.Next(true, true));
  EXPECT_FALSE(plan.Next(true, true));
  EXPECT_TRUE(plan.Next(true, false));
}

TEST(BarrierPlanTest, OwesTheBarrierItLeftOut) {
  BarrierPlan plan;
  EXPECT_FALSE(plan.Next(false, true));
  EXPECT_FALSE(plan.Next(true, true));
  // It asks for none, since what it reads was ordered by the one left out.
  EXPECT_TRUE(plan.Next(false, false));
  EXPECT_FALSE(plan.Next(false, false));
}

TEST(BarrierPlanTest, KeepsBarriersAfterParallelLaunches) {
  BarrierPlan plan;
  EXPECT_FALSE(plan.Next(false, false));
  EXPECT_TRUE(plan.Next(true, true));
  EXPECT_FALSE(plan.Next(true, true));
  EXPECT_TRUE(plan.Next(true, false));
  EXPECT_TRUE(plan.Next(true, false));
}

TEST(ThreadTeamTest, EveryThreadRunsOnceARun) {
  for (int threads : {1, 2, 3, 5}) {
    ThreadTeam team(threads);
    std::vector<std::atomic<int>> counts(static_cast<size_t>(threads));
    for (int run = 0; run < 100; ++run) {
      team.Run(
          [](void* context, int thread) {
            ++(*static_cast<std::vector<std::atomic<int>>*>(context))[static_cast<size_t>(thread)];
          },
          &counts);
    }
    for (const std::atomic<int>& count : counts) EXPECT_EQ(count.load(), 100);
  }
}

TEST(ThreadTeamTest, WakesASleepingTeam) {
  ThreadTeam team(2);
  std::atomic<int> sum{0};
  const auto add = [](void* context, int thread) {
    static_cast<std::atomic<int>*>(context)->fetch_add(thread + 1);
  };
  for (int run = 0; run < 5; ++run) {
    team.Run(add, &sum);
    // Long enough to send the team to sleep; it must work whether it slept or not.
    for (int i = 0; i < 3000000; ++i) asm volatile("");
  }
  EXPECT_EQ(sum.load(), 15);
}

int SumOfThreads(ThreadTeam& team) {
  std::atomic<int> sum{0};
  team.Run([](void* context,
              int thread) { static_cast<std::atomic<int>*>(context)->fetch_add(thread + 1); },
           &sum);
  return sum.load();
}

#ifndef __SANITIZE_THREAD__  // which does not let a child of a fork start threads
TEST(ThreadTeamTest, GoesOnInAForkedChild) {
  ThreadTeam team(3);
  EXPECT_EQ(SumOfThreads(team), 6);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang is a failure
    bool ok = SumOfThreads(team) == 6 && SumOfThreads(team) == 6;
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      alarm(20);
      _exit(SumOfThreads(team) == 6 ? 0 : 1);
    }
    int status = 0;
    waitpid(grandchild, &status, 0);
    ok = ok && status == 0 && SumOfThreads(team) == 6;
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(SumOfThreads(team), 6);
}

TEST(ThreadTeamTest, EndsInAForkedChildThatNeverRanIt) {
  auto team = std::make_unique<ThreadTeam>(3);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    team.reset();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}
#endif

TEST(ThreadTeamTest, SaysWhereItCannotStartItsThreads) {
  ThreadTeam too_many(kMaxThreads + 1);
  EXPECT_THAT(too_many.error(), ::testing::HasSubstr("at most 1024 threads, found 1025"));
  EXPECT_EQ(too_many.threads(), 1);
  EXPECT_EQ(SumOfThreads(too_many), 1);
  EXPECT_EQ(ThreadTeam(2).error(), "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which take terabytes
TEST(ThreadTeamTest, IsATeamOfOneWhereTheSystemHasNoMoreThreads) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const rlimit little{512 << 20, 512 << 20};  // room for the stacks of some threads
    setrlimit(RLIMIT_AS, &little);
    ThreadTeam team(1000);
    const bool says = team.error().find("expected to start 1000 threads, could start") == 0;
    _exit(says && team.threads() == 1 && SumOfThreads(team) == 1 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}
#endif

TEST(ThreadTeamTest, NoneLeavesABarrierBeforeAllCame) {
  constexpr int kThreads = 3;
  ThreadTeam team(kThreads);
  struct Shared {
    ThreadTeam* team;
    std::atomic<int> arrived{0};
    std::atomic<int> early{0};
  } shared{&team};
  team.Run(
      [](void* context, int) {
        auto* s = static_cast<Shared*>(context);
        for (int round = 1; round <= 500; ++round) {
          s->arrived.fetch_add(1);
          s->team->Barrier();
          if (s->arrived.load() < round * kThreads) s->early.fetch_add(1);
          s->team->Barrier();
        }
      },
      &shared);
  EXPECT_EQ(shared.early.load(), 0);
}

}  // namespace
}  // namespace hone
