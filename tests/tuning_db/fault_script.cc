#include "tests/tuning_db/fault_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

constexpr int64_t kScriptLeaseNs = 1'000'000'000;
constexpr int kScriptTrials = 4;

}  // namespace

std::unique_ptr<Store> FaultScript::Open() const {
  auto store = OpenSqliteStore(path_, OpenMode::kReadWrite);
  return store.ok() ? *std::move(store) : nullptr;
}

void FaultScript::Run() {
  if (const auto store = Open()) Begin(*store);
  if (const auto store = Open()) Measure(*store);
  if (const auto store = Open()) End(*store);
}

void FaultScript::Begin(Store& store) {
  const auto self = store.BeginEpoch("daemon", kScriptLeaseNs);
  if (Acknowledge(self.ok())) epoch_ = self->epoch;
  const auto task = store.EnsureTask(ExampleTask());
  if (!Acknowledge(task.ok())) return;
  task_ = *task;
  const auto job = store.SubmitJob(ExampleJob(task_));
  if (!Acknowledge(job.ok())) return;
  job_ = job->id;
  if (Acknowledge(store.SetJobState(job_, JobState::kRunning, "").ok())) {
    state_ = JobState::kRunning;
  }
}

void FaultScript::Measure(Store& store) {
  if (job_ == 0) return;
  std::vector<Trial> wanted;
  for (int n = 0; n < kScriptTrials; ++n) wanted.push_back(ExampleTrial(task_, job_, n));
  const auto rows = store.Propose(wanted);
  if (!Acknowledge(rows.ok())) return;
  proposed_ = *rows;
  for (const Trial& trial : proposed_) {
    const auto leased = store.Lease(trial.id, "w");
    if (Acknowledge(leased.ok())) fences_[trial.id] = leased->fence;
  }
  const int64_t struck = proposed_[0].id;
  if (fences_.contains(struck) &&
      Acknowledge(store.Release(struck, fences_[struck], /*is_strike=*/true).ok())) {
    strikes_ = 1;
    fences_.erase(struck);
  }
  if (Acknowledge(store.SetJobRan(job_, 7).ok())) ran_ns_ = 7;
  SettleAll(store);
}

void FaultScript::SettleAll(Store& store) {
  std::vector<Settlement> settlements;
  for (const auto& [trial, fence] : fences_) {
    settlements.push_back({.fence = fence, .record = ExampleRecord(trial)});
  }
  std::promise<TrialStore::SettleAnswers> promise;
  const absl::Status begun = store.SettleMany(
      settlements, [&](TrialStore::SettleAnswers answers) { promise.set_value(answers); });
  if (!begun.ok()) return;
  const auto answers = promise.get_future().get();
  for (size_t i = 0; i < answers.size(); ++i) {
    if (Acknowledge(answers[i].ok())) settled_[settlements[i].record.trial] = *answers[i];
  }
}

void FaultScript::End(Store& store) {
  if (job_ == 0) return;
  if (const auto final = store.AddFinal(ExampleFinal(task_, job_)); Acknowledge(final.ok())) {
    final_ = *final;
  }
  has_rest_ = Acknowledge(store.SetDeviceRest({"w", "cpu", 1, 1, kScriptLeaseNs, "lost"}).ok());
  const Task task = ExampleTask();
  has_miss_ = Acknowledge(store
                              .RecordMisses({{task.workload, task.workload_digest, kSignature,
                                              "llvm", "default", "m", 1}})
                              .ok());
  has_retraction_ = Acknowledge(store.Retract(1, "a test").ok());
  if (Acknowledge(store.SetJobState(job_, JobState::kDone, "").ok())) state_ = JobState::kDone;
}

void FaultScript::ExpectAcknowledged() const {
  auto opened = OpenSqliteStore(path_, OpenMode::kReadWrite);
  ASSERT_TRUE(opened.ok()) << opened.status();
  Store& store = **opened;
  EXPECT_THAT(store.Check().value(), testing::IsEmpty());
  if (task_ != 0) EXPECT_TRUE(store.GetTask(task_).ok());
  if (job_ != 0) {
    ASSERT_TRUE(store.GetJob(job_).ok());
    EXPECT_GE(store.GetJob(job_)->state, state_);
    EXPECT_GE(store.GetJob(job_)->ran_ns, ran_ns_);
  }
  EXPECT_GT(store.BeginEpoch("later", kScriptLeaseNs).value().epoch, epoch_);
  const auto open = store.OpenTrials(0).value();
  const auto records = store.Records({.with_retracted = true}).value();
  for (const Trial& trial : proposed_) {
    const auto is_it = [&](int64_t id) { return id == trial.id; };
    EXPECT_EQ(std::ranges::count_if(open, is_it, &Trial::id) +
                  std::ranges::count_if(records, is_it, &Record::trial),
              1)
        << "trial " << trial.id << " is open or settled, once";
  }
  for (const auto& [trial, result] : settled_) {
    EXPECT_EQ(result, SettleResult::kSettled);
    EXPECT_EQ(store.Settle(fences_.at(trial), ExampleRecord(trial)).value(),
              SettleResult::kDuplicate);
  }
  for (const Record& record : records) {
    EXPECT_EQ(record.samples_ns, ExampleRecord(0).samples_ns);
    EXPECT_EQ(record.of_trial.state, TrialState::kSettled);
  }
  if (strikes_ > 0) EXPECT_EQ(open.at(0).strikes, strikes_);
  if (final_ != 0) EXPECT_EQ(store.NewestFinal(task_, kSignature)->value().id, final_);
  if (has_rest_) EXPECT_EQ(store.ListDeviceRests()->size(), 1u);
  if (has_miss_) EXPECT_EQ(store.ListMisses("")->size(), 1u);
  if (has_retraction_) EXPECT_EQ(records.at(0).retracted, "a test");
}

}  // namespace hone::tuning_db
