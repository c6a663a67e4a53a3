// Who subscribes is told what was committed.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

// Keeps what it was told.
class Told {
 public:
  explicit Told(Store& store)
      : subscription_(store.Subscribe([this](const Change& change) {
          const std::lock_guard lock(mutex_);
          jobs_.insert(change.job);
          came_.notify_all();
        })) {}
  // Waits until a change of the job was told since this was asked last.
  void Await(int64_t job) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return jobs_.contains(job) || jobs_.contains(0); });
    jobs_.clear();
  }
  bool IsSilent() {
    const std::lock_guard lock(mutex_);
    return jobs_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::set<int64_t> jobs_;
  std::unique_ptr<Subscription> subscription_;  // ends before what it uses
};

TEST_P(Conformance, EachChangeOfAJobIsTold) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Told told(*store_);
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  told.Await(job);
  ASSERT_TRUE(store_->SetJobState(job, JobState::kRunning, "").ok());
  told.Await(job);
  ASSERT_TRUE(store_->AppendEvent(job, "waiting", "{}").ok());
  told.Await(job);
  SettleOne(*store_, ExampleTrial(task, job));
  told.Await(job);
  ASSERT_TRUE(store_->AddFinal(ExampleFinal(task, job)).ok());
  told.Await(job);
}

TEST_P(Conformance, ASettledTrialIsToldToEveryJobThatWantsIt) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  std::vector<int64_t> jobs;
  for (const char* client : {"a", "b", "c"}) {
    jobs.push_back(store_->SubmitJob(ExampleJob(task, client)).value().id);
  }
  ASSERT_TRUE(store_->SetJobState(jobs[2], JobState::kPaused, "").ok());
  std::vector<std::unique_ptr<Told>> told;
  for (size_t i = 0; i < jobs.size(); ++i) told.push_back(std::make_unique<Told>(*store_));
  SettleOne(*store_, ExampleTrial(task, jobs[0]));
  for (size_t i = 0; i < jobs.size(); ++i) told[i]->Await(jobs[i]);
  const auto progress = store_->ProgressOfJobs({jobs[2], jobs[0], jobs[1]}).value();
  for (const auto& of_job : progress) EXPECT_EQ(of_job.at(0).trials, 1);
  EXPECT_EQ(progress[0][0].job_trials, 0);
  EXPECT_EQ(progress[1][0].job_trials, 1);
  for (const int64_t job : jobs)
    EXPECT_EQ(store_->ListEvents(job, 0, 0)->back().kind, "trial_settled");
}

TEST_P(Conformance, WhoHasUnsubscribedIsToldNothing) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Told stays(*store_);
  std::atomic<int> calls = 0;
  auto subscription = store_->Subscribe([&](const Change&) { ++calls; });
  subscription.reset();
  EXPECT_TRUE(stays.IsSilent()) << "nothing has changed";
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  stays.Await(job);
  EXPECT_EQ(calls, 0);
}

// What is committed is read already, or told later.
TEST_P(Conformance, WhoSubscribesFirstAndReadsThenMissesNothing) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  constexpr int64_t kEvents = 50;
  std::thread writer([&] {
    for (int64_t i = 0; i < kEvents; ++i) {
      EXPECT_TRUE(store_->AppendEvent(job, "note", "{}").ok());
    }
  });
  Told told(*store_);
  for (int64_t seen = 0; seen < kEvents;) {
    const auto events = store_->ListEvents(job, seen, 0).value();
    if (events.empty()) {
      told.Await(job);
    } else {
      seen = events.back().seq;
    }
  }
  writer.join();
}

}  // namespace
}  // namespace hone::tuning_db
