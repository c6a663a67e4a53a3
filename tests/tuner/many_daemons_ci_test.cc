// Several daemons on one database: whichever is killed, whenever, the end is the same.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "support/random.h"
#include "tests/tuner/end_state.h"
#include "tests/tuner/fake_farm.h"
#include "tests/tuning_db/postgres_fixture.h"
#include "tuning_db/store.h"

namespace hone::tuner {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kLimit(100);

// Daemons with a worker each on an empty database, and what the database says of them.
class FarmOfDaemons : public FakeFarm {
 public:
  FarmOfDaemons(const tuning_db::PostgresServer& server, size_t count)
      : FakeFarm(count, server.Address()), count_(count) {
    for (size_t i = 0; i < count; ++i) {
      StartDaemon(i);
      StartWorker(i);
    }
    store_ = OpenStore();
  }

  tuning_db::Store& store() { return *store_; }
  size_t OwnerOf(int64_t job) {
    const std::string owner = store_->GetJob(job).value().owner;
    size_t i = 0;
    while (i + 1 < count_ && !owner.starts_with(Address(i) + " on ")) ++i;
    return i;
  }
  void AwaitTakeOver(int64_t job, size_t from) {
    const auto end = steady_clock::now() + kLimit;
    while (OwnerOf(job) == from && !HasEnded(job)) {
      ASSERT_LT(steady_clock::now(), end) << "nobody takes the job over";
      std::this_thread::sleep_for(milliseconds(5));
    }
  }
  // Until the job has ended, or so many trials are settled.
  void AwaitTrials(int64_t job, size_t count) {
    const auto end = steady_clock::now() + kLimit;
    while (steady_clock::now() < end) {
      if (HasEnded(job) || Settled() >= count) return;
      std::this_thread::sleep_for(milliseconds(5));
    }
    FAIL() << Settled() << " trials are settled, not " << count;
  }
  void AwaitEnd(int64_t job) { AwaitTrials(job, SIZE_MAX); }
  bool HasEnded(int64_t job) { return tuning_db::HasEnded(store_->GetJob(job).value().state); }
  size_t Settled() {
    size_t count = 0;
    const auto progress = store_->Progress(1).value();
    for (const auto& task : progress) count += static_cast<size_t>(task.trials);
    return count;
  }

 private:
  const size_t count_;
  std::unique_ptr<tuning_db::Store> store_;
};

class ManyDaemons : public tuning_db::PostgresFixture {
 protected:
  // With `count` daemons, of which one at a time is killed and comes back.
  void KillDaemonsOfARunningJob(size_t count, int kills);
};

void ManyDaemons::KillDaemonsOfARunningJob(size_t count, int kills) {
  constexpr int64_t kTrials = 240;
  std::string expected;
  {
    FarmOfDaemons calm(*server_, 1);
    const int64_t job = calm.Submit("the job", kTrials).value();
    calm.AwaitEnd(job);
    ExpectSound(calm.store(), kTrials);
    expected = EndStateOf(calm.store());
  }
  server_->Clear();
  FarmOfDaemons farm(*server_, count);
  Random random(40 + count);
  const int64_t job = farm.Submit("the job", kTrials).value();
  std::map<std::string, int64_t> epochs;  // by owner
  int taken_over = 0;
  for (int kill = 0; kill < kills; ++kill) {
    // The last third of the job is for what happens between two looks at a busy machine.
    farm.AwaitTrials(job, static_cast<size_t>(2 * kTrials * (kill + 1) / (kills + kills / 2)));
    ASSERT_FALSE(farm.HasEnded(job)) << "the job has to run until the last kill";
    const tuning_db::Job row = farm.store().GetJob(job).value();
    EXPECT_GE(row.epoch, epochs[row.owner]) << "an older life of it owns the job again";
    epochs[row.owner] = row.epoch;
    std::this_thread::sleep_for(milliseconds(random.Below(20)));
    const size_t owner = farm.OwnerOf(job);
    const size_t victim = random.Below(2) == 0 ? owner : random.Below(count);
    farm.KillDaemon(victim);
    // Sometimes it comes back before anybody has missed it, and takes its job back.
    if (victim == owner && random.Below(2) == 0) {
      farm.AwaitTakeOver(job, owner);
      ++taken_over;
    }
    farm.StartDaemon(victim);
  }
  EXPECT_GE(taken_over, 3);
  farm.AwaitEnd(job);
  EXPECT_EQ(farm.store().GetJob(job)->state, tuning_db::JobState::kDone);
  ExpectSound(farm.store(), kTrials);
  EXPECT_EQ(EndStateOf(farm.store()), expected);
}

TEST_F(ManyDaemons, TwentyKillsOfEitherOfTwoChangeNothing) { KillDaemonsOfARunningJob(2, 20); }

TEST_F(ManyDaemons, TwentyKillsOfAnyOfThreeChangeNothing) { KillDaemonsOfARunningJob(3, 20); }

// The owner is gone for good: another takes its job over, and goes on with it.
TEST_F(ManyDaemons, TheJobOfADeadDaemonIsTakenOver) {
  constexpr int64_t kTrials = 60;
  FarmOfDaemons farm(*server_, 3);
  const int64_t job = farm.Submit("the job", kTrials, 1).value();
  const std::string first = farm.store().GetJob(job)->owner;
  farm.AwaitTrials(job, 20);
  farm.KillDaemon(1);
  farm.AwaitEnd(job);
  const tuning_db::Job row = farm.store().GetJob(job).value();
  EXPECT_EQ(row.state, tuning_db::JobState::kDone);
  EXPECT_NE(row.owner, first);
  ExpectSound(farm.store(), kTrials);
}

// Both want the same tasks: the older one's daemon tunes them, then the younger one's goes on.
TEST_F(ManyDaemons, ABudgetThatJobsOfTwoDaemonsShareIsMetExactly) {
  FarmOfDaemons farm(*server_, 2);
  const int64_t one = farm.Submit("one", 40).value();
  const int64_t other = farm.Submit("other", 70, 1).value();
  EXPECT_NE(farm.store().GetJob(one)->owner, farm.store().GetJob(other)->owner);
  farm.AwaitEnd(one);
  farm.AwaitEnd(other);
  EXPECT_EQ(farm.store().GetJob(one)->state, tuning_db::JobState::kDone);
  EXPECT_EQ(farm.store().GetJob(other)->state, tuning_db::JobState::kDone);
  ExpectSound(farm.store(), 70);
}

// What is asked of a job may be said to any of them.
TEST_F(ManyDaemons, AJobThatIsPausedThroughAnotherDaemonHoldsUpNoneOfIt) {
  namespace v1 = hone::v1;
  FarmOfDaemons farm(*server_, 2);
  const int64_t one = farm.Submit("one", 200).value();
  farm.AwaitTrials(one, 20);
  {
    grpc::ClientContext context;
    v1::PauseJobRequest request;
    request.set_id(one);
    v1::PauseJobResponse response;
    ASSERT_TRUE(farm.Stub(1)->PauseJob(&context, request, &response).ok());
    EXPECT_EQ(response.job().state(), v1::JOB_STATE_PAUSED);
  }
  const int64_t other = farm.Submit("other", 150, 1).value();
  farm.AwaitEnd(other);
  EXPECT_EQ(farm.store().GetJob(other)->state, tuning_db::JobState::kDone);
  EXPECT_EQ(farm.store().GetJob(one)->state, tuning_db::JobState::kPaused);
  {
    grpc::ClientContext context;
    v1::ResumeJobRequest request;
    request.set_id(one);
    v1::ResumeJobResponse response;
    ASSERT_TRUE(farm.Stub(1)->ResumeJob(&context, request, &response).ok());
  }
  farm.AwaitEnd(one);
  EXPECT_EQ(farm.store().GetJob(one)->state, tuning_db::JobState::kDone);
  ExpectSound(farm.store(), 200);
}

}  // namespace
}  // namespace hone::tuner
