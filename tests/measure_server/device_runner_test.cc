// What a device's thread asks of its measurer, and when.
#include "measure_server/device_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "tests/measure_server/router_fixture.h"

namespace hone::measure {
namespace {

using ::testing::ElementsAre;

// Keeps what it is asked for, and measures when it is told to.
class SteppedMeasurer : public Measurer {
 public:
  v1::MeasureResult Measure(const Job& job) override {
    std::unique_lock lock(mutex_);
    asked_.push_back("measure " + std::to_string(job.assignment.fence()));
    changed_.notify_all();
    changed_.wait(lock, [&] { return steps_ > 0; });
    steps_ -= 1;
    return FailedResult(job.assignment, v1::MEASURE_OUTCOME_OK, "");
  }
  void LoadAhead(const Job& job) override { Keep("load", job.assignment.fence()); }
  void Forget(int64_t fence) override { Keep("forget", fence); }
  void Cancel(int64_t) override {}
  bool is_lost() const override { return false; }

  void Step() {
    const std::lock_guard lock(mutex_);
    steps_ += 1;
    changed_.notify_all();
  }
  // What was asked for, once `last` was.
  std::vector<std::string> AskedUntil(const std::string& last) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !asked_.empty() && asked_.back() == last; });
    return asked_;
  }

 private:
  void Keep(const char* what, int64_t fence) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(what + (" " + std::to_string(fence)));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int steps_ = 0;
  std::vector<std::string> asked_;
};

class DeviceRunnerTest : public RouterTest {
 protected:
  void Start(uint32_t ahead) {
    auto measurer = std::make_unique<SteppedMeasurer>();
    measurer_ = measurer.get();
    v1::Device device;
    device.set_id("cpu0");
    runner_.emplace(device, std::move(measurer), ahead);
    runner_->Start(&router_);
  }
  void End() {
    router_.Stop();
    measurer_->Step();
    runner_.reset();
  }

  SteppedMeasurer* measurer_ = nullptr;
  std::optional<DeviceRunner> runner_;
};

TEST_F(DeviceRunnerTest, LoadsTheNextOnesAndForgetsThoseThatWillNotCome) {
  for (const int64_t fence : {1, 2, 3, 4}) Assign(fence);
  SendArtifact();
  Start(/*ahead=*/2);
  EXPECT_THAT(measurer_->AskedUntil("measure 1"), ElementsAre("load 2", "load 3", "measure 1"));
  Revoke(3);
  measurer_->Step();
  EXPECT_THAT(measurer_->AskedUntil("measure 2"),
              ElementsAre("load 2", "load 3", "measure 1", "forget 3", "load 4", "measure 2"));
  End();
}

// A final, and what was tried before.
TEST_F(DeviceRunnerTest, SomeHaveTheDeviceForThemselves) {
  Assign(1);
  Assign(2, [](v1::Assignment& assignment) { assignment.set_rounds(5); });
  Assign(3, [](v1::Assignment& assignment) { assignment.set_attempt(2); });
  Assign(4);
  Assign(5);
  SendArtifact();
  Start(/*ahead=*/3);
  EXPECT_THAT(measurer_->AskedUntil("measure 1"), ElementsAre("load 4", "measure 1"));
  measurer_->Step();
  EXPECT_THAT(measurer_->AskedUntil("measure 2"),
              ElementsAre("load 4", "measure 1", "forget 4", "measure 2"));
  measurer_->Step();
  EXPECT_THAT(measurer_->AskedUntil("measure 3"),
              ElementsAre("load 4", "measure 1", "forget 4", "measure 2", "measure 3"));
  measurer_->Step();
  EXPECT_THAT(measurer_->AskedUntil("measure 4"),
              ElementsAre("load 4", "measure 1", "forget 4", "measure 2", "measure 3", "load 5",
                          "measure 4"));
  End();
}

TEST_F(DeviceRunnerTest, LoadsNothingAheadUnlessAsked) {
  for (const int64_t fence : {1, 2}) Assign(fence);
  SendArtifact();
  Start(/*ahead=*/0);
  EXPECT_THAT(measurer_->AskedUntil("measure 1"), ElementsAre("measure 1"));
  measurer_->Step();
  EXPECT_THAT(measurer_->AskedUntil("measure 2"), ElementsAre("measure 1", "measure 2"));
  End();
}

}  // namespace
}  // namespace hone::measure
