#include "measure_server/timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace hone::measure {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// A run takes 1000 ns; which chunks are disturbed is up to the test.
class ScriptedWork : public TimedWork {
 public:
  explicit ScriptedWork(std::function<bool(int)> is_clean) : is_clean_(std::move(is_clean)) {}

  Chunk RunChunk(int64_t runs) override {
    const bool is_clean = !calibrated_ || is_clean_(chunks);
    const double excess = is_clean ? 0 : disturbance(chunks);
    const Chunk chunk{static_cast<double>(runs) * run_ns * (1 + excess), is_clean, excess};
    if (calibrated_) chunks += 1;
    last_runs = runs;
    return chunk;
  }
  double Calibrate() override {
    calibrated_ = true;  // the warm-up is over
    return 10'000;
  }

  double run_ns = 1000;
  std::function<double(int)> disturbance = [](int) { return 0.5; };
  int chunks = 0;
  int64_t last_runs = 0;

 private:
  std::function<bool(int)> is_clean_;
  bool calibrated_ = false;
};

Timing Time(TimedWork& work, const Plan& plan) { return TimingOf(RunRound(work, plan), plan); }

TEST(TimingTest, TakesAsManyCleanChunksAsWanted) {
  ScriptedWork work([](int) { return true; });
  const Timing timing = Time(work, Plan{});
  EXPECT_THAT(timing.samples_ns, testing::AllOf(SizeIs(10), Each(1000)));
  EXPECT_THAT(timing.calibrator_ns, SizeIs(10));
  EXPECT_EQ(work.last_runs, 1000);
}

TEST(TimingTest, DropsDisturbedChunks) {
  ScriptedWork work([](int chunk) { return chunk % 3 == 0; });
  const Timing timing = Time(work, Plan{});
  EXPECT_THAT(timing.samples_ns, testing::AllOf(SizeIs(10), Each(1000)));
  EXPECT_EQ(timing.dirty_chunks, 18u);
  EXPECT_EQ(timing.clean_chunks, 10u);
  EXPECT_FALSE(timing.is_noisy);
}

TEST(TimingTest, FillsUpWithTheLeastDisturbedWhereTheMachineIsNoisy) {
  ScriptedWork work([](int chunk) { return chunk == 5 || chunk == 30; });
  work.disturbance = [](int chunk) { return 0.125 * (40 - chunk); };  // the last is the least
  const Timing timing = Time(work, Plan{});
  EXPECT_EQ(work.chunks, 40);
  EXPECT_EQ(timing.clean_chunks, 2u);
  EXPECT_EQ(timing.dirty_chunks, 38u);
  EXPECT_TRUE(timing.is_noisy);
  EXPECT_THAT(timing.samples_ns,
              ElementsAre(1000, 1000, 1125, 1250, 1375, 1500, 1625, 1750, 1875, 2000));
  EXPECT_THAT(timing.calibrator_ns, SizeIs(10));
}

TEST(TimingTest, ANoisyMachineStillGivesAFullTiming) {
  ScriptedWork work([](int) { return false; });
  const Timing timing = Time(work, Plan{});
  EXPECT_EQ(work.chunks, 40);
  EXPECT_EQ(timing.clean_chunks, 0u);
  EXPECT_THAT(timing.samples_ns, testing::AllOf(SizeIs(10), Each(1500)));
  EXPECT_TRUE(timing.is_noisy);
}

TEST(TimingTest, StopsEarlyWhenClearlyBeaten) {
  Plan plan;
  plan.stop_above_ns = 900;
  ScriptedWork slow([](int) { return true; });
  EXPECT_THAT(Time(slow, plan).samples_ns, SizeIs(3));
  ScriptedWork fast([](int) { return true; });
  fast.run_ns = 800;
  EXPECT_THAT(Time(fast, plan).samples_ns, SizeIs(10));
}

TEST(TimingTest, ALogIsWholeWhereItsPlanEndsAndNotBefore) {
  Plan plan;
  plan.stop_above_ns = 900;
  for (const double run_ns : {800.0, 1000.0}) {
    ScriptedWork work([](int chunk) { return chunk % 2 == 0; });
    work.run_ns = run_ns;
    RoundLog log = RunRound(work, plan);
    EXPECT_TRUE(IsWhole(log, plan));
    log.chunks.push_back(log.chunks.back());
    EXPECT_FALSE(IsWhole(log, plan));
    log.chunks.resize(log.chunks.size() - 2);
    EXPECT_FALSE(IsWhole(log, plan));
  }
}

TEST(TimingTest, ASlowKernelHasOneRunAChunk) {
  ScriptedWork work([](int) { return true; });
  work.run_ns = 5e9;
  Time(work, Plan{});
  EXPECT_EQ(work.last_runs, 1);
}

}  // namespace
}  // namespace hone::measure
