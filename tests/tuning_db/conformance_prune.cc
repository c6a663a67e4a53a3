// Retention: what goes, and that nothing else changes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <optional>

#include "support/median.h"
#include "support/random.h"
#include "tests/tuning_db/conformance.h"
#include "tuning_db/prune.h"
#include "tuning_db/resolve.h"

namespace hone::tuning_db {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kOldNs = 1'000;
constexpr int64_t kLimitNs = 5'000;
constexpr int64_t kNewNs = 9'000;

Record RecordAt(int64_t trial, int64_t wall_time_ns) {
  Record record = ExampleRecord(trial);
  record.wall_time_ns = wall_time_ns;
  return record;
}

void SettleAt(Store& store, const Trial& wanted, int64_t wall_time_ns) {
  const int64_t id = store.Propose({wanted}).value().at(0).id;
  const int64_t fence = store.Lease(id, "w").value().fence;
  ASSERT_EQ(store.Settle(fence, RecordAt(id, wall_time_ns)).value(), SettleResult::kSettled);
}

// Configs of records that have all of their samples.
std::vector<std::string> WithSamples(Store& store) {
  std::vector<std::string> configs;
  const std::vector<Record> records = store.Records({.with_retracted = true}).value();
  for (const Record& record : records) {
    if (record.samples_ns.size() > 1) configs.push_back(record.of_trial.config);
  }
  return configs;
}

TEST_P(Conformance, PruningTakesOldSamplesThatNoFinalNeeds) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  SettleAt(*store_, ExampleTrial(task, 0, 1), kOldNs);
  SettleAt(*store_, ExampleTrial(task, 0, 2), kNewNs);
  SettleAt(*store_, ExampleTrial(task, 0, 3), kOldNs);
  Trial compared = ExampleTrial(task, 0);
  compared.config = ExampleFinal(task, 0).entries[1].config;
  compared.config_digest = Sha256Hex(compared.config);
  SettleAt(*store_, compared, kOldNs);
  Trial other = ExampleTrial(task, 0, 4);
  other.signature = "NC->NC";
  SettleAt(*store_, other, kOldNs);
  Trial calibrates = ExampleTrial(task, 0, 5);
  calibrates.purpose = Purpose::kCalibrate;
  SettleAt(*store_, calibrates, kOldNs);
  EXPECT_EQ(PruneAll(*store_, kLimitNs)->samples, 0) << "the best config is found from them";
  store_->AddFinal(ExampleFinal(task, 0)).value();
  EXPECT_EQ(PruneAll(*store_, kLimitNs)->samples, 2);
  EXPECT_EQ(PruneAll(*store_, kLimitNs)->samples, 0) << "they are gone";
  Reopen();
  EXPECT_THAT(WithSamples(*store_), ElementsAre(ExampleTrial(task, 0, 2).config, compared.config,
                                                other.config, calibrates.config));
  const Record pruned = store_->Records({}).value().at(0);
  EXPECT_THAT(pruned.samples_ns, ElementsAre(ExampleRecord(0).samples_ns.back()))
      << "the least stays, by which it is ranked";
  EXPECT_EQ(pruned.median_ns, ExampleRecord(0).median_ns);
}

TEST_P(Conformance, PruningLeavesWhatAnOpenJobWants) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  ASSERT_TRUE(store_->SetJobState(job, JobState::kRunning, "").ok());
  SettleAt(*store_, ExampleTrial(task, job, 1), kOldNs);
  store_->AddFinal(ExampleFinal(task, job)).value();
  const PruneTotals before = PruneAll(*store_, INT64_MAX).value();
  EXPECT_EQ(before.samples, 0);
  EXPECT_EQ(before.events, 0);
  ASSERT_TRUE(store_->SetJobState(job, JobState::kDone, "").ok());
  const PruneTotals after = PruneAll(*store_, INT64_MAX).value();
  EXPECT_EQ(after.samples, 1);
  EXPECT_EQ(after.events, 3) << "running, settled, final";
  const std::vector<Event> events = store_->ListEvents(job, 0, 0).value();
  ASSERT_THAT(events, testing::SizeIs(1));
  EXPECT_EQ(events[0].seq, 4);
  EXPECT_EQ(events[0].kind, "state") << "that it has ended";
}

TEST_P(Conformance, PruningTakesTheOldestEventsOnly) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  SettleAt(*store_, ExampleTrial(task, job, 1), kOldNs);
  SettleAt(*store_, ExampleTrial(task, job, 2), kNewNs);
  SettleAt(*store_, ExampleTrial(task, job, 3), kOldNs);
  ASSERT_TRUE(store_->SetJobState(job, JobState::kDone, "").ok());
  EXPECT_EQ(PruneAll(*store_, kLimitNs)->events, 1) << "those that stay have no gaps";
  Reopen();
  EXPECT_EQ(store_->ListEvents(job, 0, 0)->at(0).seq, 2);
}

TEST_P(Conformance, AStepOfPruningLooksAtNoMoreThanItIsTold) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  for (int n = 0; n < 5; ++n) SettleAt(*store_, ExampleTrial(task, 0, n), kOldNs);
  store_->AddFinal(ExampleFinal(task, 0)).value();
  PrunePlace place{.events_done = true};
  const Pruned first = store_->Prune(kLimitNs, place, 2).value();
  EXPECT_EQ(first.samples, 2);
  EXPECT_FALSE(first.is_last);
  const Pruned second = store_->Prune(kLimitNs, first.next, 20).value();
  EXPECT_EQ(second.samples, 3);
  EXPECT_TRUE(second.is_last);
}

// Everything that is asked of the log but samples and events.
std::string AnswersOf(Store& store, int64_t jobs) {
  std::string answers;
  const auto add = [&](const auto&... parts) { ((answers += fmt::format("{} ", parts)), ...); };
  for (int n = 0; n < 3; ++n) {
    for (const char* signature : {kSignature, "NC->NC"}) {
      const Best best =
          Resolve(store, ExampleTask(n).target, {{ExampleTask(n).workload_digest, signature}})
              .value()
              .at(0);
      add(Name(best.tier), best.config, best.best_ns, best.default_ns, best.ratio, "\n");
      const auto calibration =
          CalibrationOf(store, ExampleTask(n).workload_digest, signature, ExampleTask(n).target)
              .value();
      for (const ConfigCost& cost : calibration) add(cost.config, cost.cost, "\n");
    }
  }
  const std::vector<TaskFinal> finals = store.Finals({}).value();
  for (const auto& [task, final] : finals) {
    add(final.id, final.distinct_trials);
    for (const FinalEntry& entry : final.entries) add(entry.config, entry.median_ns);
  }
  for (int64_t job = 1; job <= jobs; ++job) {
    const std::vector<TaskProgress> progress = store.Progress(job).value();
    for (const TaskProgress& of_task : progress) {
      add(of_task.trials, of_task.job_trials, of_task.job_failures, of_task.best_ns,
          of_task.default_ns, of_task.final ? of_task.final->winner_ns : 0, "\n");
    }
    add(Name(store.GetJob(job)->state), "\n");
  }
  const std::vector<Record> records = store.Records({.with_retracted = true}).value();
  for (const Record& record : records) {
    add(record.id, record.trial, record.of_trial.config, Name(record.outcome), record.median_ns,
        record.wall_time_ns, record.retracted, "\n");
  }
  return answers;
}

TEST_P(Conformance, PruningChangesNoAnswer) {
  Random random(11);
  std::vector<int64_t> tasks;
  for (int n = 0; n < 3; ++n) tasks.push_back(store_->EnsureTask(ExampleTask(n)).value());
  int64_t jobs = 0;
  for (int round = 0; round < 12; ++round) {
    const int64_t task = tasks[random.Below(3)];
    Job job = ExampleJob(task, fmt::format("client {}", round));
    if (random.Below(2) == 0) job.tasks[0].signature = "NC->NC";
    jobs = store_->SubmitJob(job).value().id;
    for (uint64_t n = random.Below(8); n > 0; --n) {
      Trial trial = ExampleTrial(task, jobs, static_cast<int>(random.Below(12)));
      trial.signature = job.tasks[0].signature;
      trial.purpose = random.Below(6) == 0 ? Purpose::kCalibrate : Purpose::kSearch;
      trial.round = round;
      const int64_t id = store_->Propose({trial}).value().at(0).id;
      const auto lease = store_->Lease(id, "w");
      if (!lease.ok()) continue;  // it was drawn before
      Record record = ExampleRecord(id, 500 + static_cast<double>(random.Below(1000)));
      record.wall_time_ns = static_cast<int64_t>(random.Below(10'000));
      if (random.Below(5) == 0) record.outcome = Outcome::kCrash;
      ASSERT_TRUE(store_->Settle(lease->fence, record).ok());
    }
    if (random.Below(2) == 0) {
      Final final = ExampleFinal(task, jobs, static_cast<int64_t>(1 + random.Below(80)));
      final.signature = job.tasks[0].signature;
      store_->AddFinal(final).value();
    }
    if (random.Below(3) > 0) ASSERT_TRUE(store_->SetJobState(jobs, JobState::kDone, "").ok());
    const std::string before = AnswersOf(*store_, jobs);
    const auto limit_ns = static_cast<int64_t>(random.Below(12'000));
    PrunePlace place;
    for (Pruned step; !step.is_last; place = step.next) {
      step = store_->Prune(limit_ns, place, static_cast<int64_t>(1 + random.Below(5))).value();
    }
    ASSERT_EQ(AnswersOf(*store_, jobs), before);
    ASSERT_THAT(store_->Check().value(), IsEmpty());
  }
}

// Two stores that are told the same, of which one is pruned again and again.
class Twins {
 public:
  Twins(Store& pruned, Store& whole) : stores_{&pruned, &whole} {
    for (Store* store : stores_) {
      for (int n = 0; n < kTasks; ++n) store->EnsureTask(ExampleTask(n)).value();
    }
  }

  void Submit(const Job& job) {
    for (Store* store : stores_) job_ = store->SubmitJob(job).value().id;
  }
  void End() {
    for (Store* store : stores_) EXPECT_TRUE(store->SetJobState(job_, JobState::kDone, "").ok());
  }
  // Passes over a trial that was settled before.
  void Settle(Trial trial, Record record, const std::optional<Final>& final) {
    trial.job = job_;
    for (Store* store : stores_) {
      record.trial = store->Propose({trial}).value().at(0).id;
      const auto lease = store->Lease(record.trial, "w");
      if (!lease.ok()) continue;
      const auto settled = final ? store->SettleFinal(lease->fence, record, *final)
                                 : store->Settle(lease->fence, record);
      EXPECT_TRUE(settled.ok()) << settled.status();
    }
  }
  void Retract(int64_t record) {
    for (Store* store : stores_) EXPECT_TRUE(store->Retract(record, "it lies").ok());
  }
  std::vector<Record> Records(std::optional<Purpose> purpose) {
    return stores_[1]->Records({.purpose = purpose, .with_retracted = true}).value();
  }
  void ExpectEqualBests() { EXPECT_EQ(BestsOf(*stores_[0]), BestsOf(*stores_[1])); }
  int from_records() const { return from_records_; }

  static constexpr int kTasks = 2;

 private:
  std::string BestsOf(Store& store) {
    std::string bests;
    for (int n = 0; n < kTasks; ++n) {
      const Best best = BestOf(store, store.GetTask(n + 1).value(), kSignature).value();
      bests += fmt::format("{} {} {} {} {}\n", Name(best.tier), best.config, best.best_ns,
                           best.default_ns, best.ratio);
      const bool has_final = store.NewestFinal(n + 1, kSignature)->has_value();
      from_records_ += best.tier != Tier::kNone && !has_final ? 1 : 0;
    }
    return bests;
  }

  std::vector<Store*> stores_;
  int64_t job_ = 0;
  int from_records_ = 0;
};

// Also once finals are retracted, after which the best is found from the records again.
TEST_P(Conformance, PruningChangesNoBestConfigWhateverIsRetractedLater) {
  Random random(29);
  const auto whole = MakeMemoryStore();
  Twins twins(*store_, *whole);
  int64_t pruned = 0;
  for (int round = 0; round < 40; ++round) {
    const auto task = static_cast<int64_t>(1 + random.Below(Twins::kTasks));
    twins.Submit(ExampleJob(task, fmt::format("client {}", round)));
    for (uint64_t n = random.Below(4); n > 0; --n) {
      Trial trial = ExampleTrial(task, 0, static_cast<int>(random.Below(30)));
      Record record = ExampleRecord(0);
      // Whose median is the least need not have the least sample.
      for (double& sample : record.samples_ns) {
        sample = 500 + static_cast<double>(random.Below(1000));
      }
      record.median_ns = Median(record.samples_ns);
      record.wall_time_ns = static_cast<int64_t>(random.Below(10'000));
      twins.Settle(trial, record, std::nullopt);
    }
    if (random.Below(2) == 0) {
      Trial confirm = ExampleTrial(task, 0);
      confirm.purpose = Purpose::kConfirm;
      confirm.round = round;
      twins.Settle(confirm, ExampleRecord(0), ExampleFinal(task, 0, 64));
    }
    twins.End();
    pruned += PruneAll(*store_, static_cast<int64_t>(random.Below(12'000)))->samples;
    twins.ExpectEqualBests();
    const auto purpose = random.Below(3) > 0 ? Purpose::kConfirm : Purpose::kSearch;
    const std::vector<Record> records = twins.Records(purpose);
    if (!records.empty()) twins.Retract(records[random.Below(records.size())].id);
    twins.ExpectEqualBests();
    if (HasFailure()) return;
  }
  EXPECT_GT(pruned, 10);
  EXPECT_GT(twins.from_records(), 10);
}

}  // namespace
}  // namespace hone::tuning_db
