// Trials that are cancelled while workers' results for them come.
#include "tuning_db/settle_here.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "tests/tuning_db/examples.h"
#include "tuning_db/end_jobs.h"
#include "tuning_db/memory/memory_store.h"

namespace hone::tuning_db {
namespace {

// A store in which something happens just before a call of a kind.
class InterruptedStore : public MemoryStore {
 public:
  InterruptedStore() : MemoryStore(Clock::Real()) {}

  absl::Status LeaseMany(std::vector<LeaseRequest> requests,
                         std::function<void(LeaseAnswers)> done) override {
    if (const auto happens = std::exchange(before_lease, nullptr)) happens();
    return MemoryStore::LeaseMany(std::move(requests), std::move(done));
  }
  absl::Status SettleMany(std::vector<Settlement> settlements,
                          std::function<void(SettleAnswers)> done) override {
    if (const auto happens = std::exchange(before_settle, nullptr)) happens();
    return MemoryStore::SettleMany(std::move(settlements), std::move(done));
  }

  std::function<void()> before_lease;  // once
  std::function<void()> before_settle;
};

class SettleHereTest : public ::testing::Test {
 protected:
  SettleHereTest() {
    const int64_t task = store_.EnsureTask(ExampleTask()).value();
    Job job;
    job.client_id = "job";
    job.tasks.push_back({task, kSignature, "kernel", 1, 8});
    job_ = store_.SubmitJob(job).value().id;
    trial_ = store_.Propose({}, {ExampleTrial(task, job_)}).value().at(0).id;
  }
  // A worker has measured the trial.
  void SettleAsWorker(int64_t fence) {
    ASSERT_EQ(store_.Settle(fence, ExampleRecord(trial_)).value(), SettleResult::kSettled);
  }
  Record TheRecord() {
    const std::vector<Record> records = store_.Records({}).value();
    EXPECT_EQ(records.size(), 1u);
    return records.at(0);
  }
  Record Cancelled() const {
    Record record;
    record.trial = trial_;
    record.outcome = Outcome::kCancelled;
    return record;
  }

  InterruptedStore store_;
  int64_t job_ = 0;
  int64_t trial_ = 0;
};

TEST_F(SettleHereTest, AResultThatComesFirstStaysAndTheJobIsCancelled) {
  const int64_t fence = store_.Lease(trial_, "w").value().fence;
  store_.before_lease = [&] { SettleAsWorker(fence); };
  ASSERT_TRUE(EndJob(store_, job_, "cancelled").ok());
  EXPECT_EQ(TheRecord().outcome, Outcome::kOk);
  EXPECT_EQ(store_.GetJob(job_)->state, JobState::kCancelled);
  EXPECT_TRUE(EndJob(store_, job_, "cancelled").ok()) << "who asks again gets the same answer";
}

TEST_F(SettleHereTest, ALeaseThatComesBetweenIsTakenAway) {
  int64_t fence = 0;
  store_.before_settle = [&] { fence = store_.Lease(trial_, "w").value().fence; };
  ASSERT_TRUE(EndJob(store_, job_, "cancelled").ok());
  EXPECT_EQ(TheRecord().outcome, Outcome::kCancelled);
  EXPECT_EQ(store_.Settle(fence, ExampleRecord(trial_)).value(), SettleResult::kRefused);
}

TEST_F(SettleHereTest, SaysWhetherItWasSettledHere) {
  EXPECT_TRUE(SettleHere(store_, {}, Cancelled()).value());
  EXPECT_FALSE(SettleHere(store_, {}, Cancelled()).value());
  Record of_none = Cancelled();
  of_none.trial = 7;
  EXPECT_TRUE(absl::IsNotFound(SettleHere(store_, {}, of_none).status()));
}

}  // namespace
}  // namespace hone::tuning_db
