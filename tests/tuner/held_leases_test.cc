// Leases that a daemon takes up after their worker has dialled it: those of another daemon's jobs,
// or of a job that could not be read before.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "support/clock.h"
#include "tests/tuner/world.h"
#include "tuner/farm/assignment.h"
#include "tuner/farm/dispatcher.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using tuning_db::TrialState;

class HeldLeases : public testing::Test {
 protected:
  HeldLeases() {
    world_.Drain();  // its jobs have looked at what is open
    tuning_db::Task task;
    task.workload = "conv";
    task.target = kFakeTarget;
    tuning_db::Trial wanted;
    wanted.task = world_.store->EnsureTask(task).value();
    const int64_t id = world_.store->Propose({}, {wanted}).value().at(0).id;
    tuning_db::Assigned assigned;
    assigned.candidates = {{"a digest", "a compiler"}};
    assigned.regime = "warm";
    leased_ = world_.store
                  ->Lease({.trial = id,
                           .worker = "w1",
                           .device = "cpu0",
                           .limit_ns = 100 * kSecondNs,
                           .assigned = assigned})
                  .value();
    worker_ = &world_.AddWorker("w1", 0);
    worker_->Disconnect(false);
    world_.Drain();
  }

  // The worker dials, and has the result or not. What it sends does not arrive yet.
  void Dial(bool has_result) {
    worker_->is_mute = true;
    if (has_result) worker_->held[leased_.fence] = FakeMeasure(FromLease(leased_), {"conv\n{}"});
    worker_->Connect();
  }
  void TakeUp() {
    MeasureRequest request = FakeRequest(leased_);
    request.held = true;
    world_.dispatcher->Measure(std::move(request),
                               [this](const MeasureReport& report, const SettledCallback&) {
                                 reported_ = report.kind;
                                 ++reports_;
                               });
  }
  void Pass(int64_t ns) {
    for (const int64_t end = world_.clock.now_ns + ns; world_.clock.now_ns < end;) {
      world_.clock.now_ns += kSecondNs;
      world_.dispatcher->Tick();
      world_.Drain();
    }
  }
  bool IsLeased() {
    const auto open = world_.store->OpenTrials(0).value();
    return !open.empty() && open.at(0).state == TrialState::kLeased;
  }

  World world_{{}, {.silent_intervals = 1'000'000}};
  tuning_db::Trial leased_;
  FakeWorker* worker_ = nullptr;
  std::optional<MeasureReport::Kind> reported_;
  int reports_ = 0;
};

TEST_F(HeldLeases, OneThatItsWorkerDoesNotHaveIsReleasedAtOnce) {
  Dial(false);
  world_.Drain();
  TakeUp();
  world_.Drain();
  EXPECT_EQ(reported_, MeasureReport::Kind::kLost);
  EXPECT_FALSE(IsLeased());
}

TEST_F(HeldLeases, OneThatItsWorkerCameBackWithHasItsOwnTimeAndNotTheGrace) {
  Dial(true);
  worker_->held.clear();
  // The Hello names it, its result is lost on the way.
  ASSERT_TRUE(world_.executor.RunOne());
  ASSERT_TRUE(world_.executor.RunOne());
  world_.executor.Clear();
  TakeUp();
  world_.Drain();
  Pass(99 * kSecondNs);
  EXPECT_EQ(reported_, std::nullopt);
  EXPECT_TRUE(IsLeased());
  Pass(2 * kSecondNs);
  EXPECT_EQ(reported_, MeasureReport::Kind::kLost);
  EXPECT_FALSE(IsLeased());
}

TEST_F(HeldLeases, OneWhoseResultIsBeingStoredSaysThatItIsSettled) {
  Dial(true);
  // Hello and result are here; the store has not been asked yet.
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world_.executor.RunOne());
  TakeUp();
  world_.Drain();
  EXPECT_EQ(reported_, MeasureReport::Kind::kSettled);
  EXPECT_EQ(world_.store->Records({}).value().size(), 1u);
}

TEST_F(HeldLeases, OneThatIsBeingReleasedIsAnsweredWhenThatIsDone) {
  Dial(false);
  world_.Drain();
  TakeUp();
  TakeUp();  // while the release of the first is on its way to the store
  world_.Drain();
  EXPECT_EQ(reports_, 2);
  EXPECT_EQ(reported_, MeasureReport::Kind::kLost);
  EXPECT_FALSE(IsLeased());
}

}  // namespace
}  // namespace hone::tuner
