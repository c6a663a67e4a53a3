// What was measured: records, finals, imports, misses.
#include <cmath>
#include <limits>

#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/expect_record.h"
#include "tuning_db/open_misses.h"
#include "tuning_db/resolve.h"

namespace hone::tuning_db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(Conformance, RecordKeepsEveryField) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  const Trial trial = store_->Propose({ExampleTrial(task, job)}).value().at(0);
  const Trial leased = store_->Lease(trial.id, "w").value();
  const Record record = ExampleRecord(trial.id, 1234.5);
  ASSERT_EQ(store_->Settle(leased.fence, record).value(), SettleResult::kSettled);
  Reopen();
  const auto records = store_->Records({}).value();
  ASSERT_THAT(records, SizeIs(1));
  const Record& read = records[0];
  EXPECT_EQ(read.trial, trial.id);
  EXPECT_EQ(read.outcome, Outcome::kOk);
  EXPECT_EQ(read.median_ns, 1234.5);
  ExpectSameMeasurement(read, record);
  EXPECT_EQ(read.of_trial.id, trial.id);
  EXPECT_EQ(read.of_trial.task, task);
  EXPECT_EQ(read.of_trial.job, job);
  EXPECT_EQ(read.of_trial.config, trial.config);
  EXPECT_EQ(read.of_trial.config_digest, trial.config_digest);
  EXPECT_EQ(read.of_trial.nest_digest, trial.nest_digest);
  EXPECT_EQ(read.of_trial.signature, kSignature);
  EXPECT_EQ(read.of_trial.state, TrialState::kSettled);
  EXPECT_EQ(read.of_trial.fence, leased.fence);
}

TEST_P(Conformance, FailuresAreRecordsAndFiguresMayBeInfinite) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const auto rows = store_->Propose({ExampleTrial(task, 0, 1), ExampleTrial(task, 0, 2)}).value();
  Record wrong;
  wrong.trial = rows[0].id;
  wrong.outcome = Outcome::kWrongOutput;
  wrong.message = std::string("element 3: expected 1, found \xff nan; see \"log\"\n");
  wrong.error_ratio = std::numeric_limits<double>::infinity();
  ASSERT_EQ(store_->Settle(store_->Lease(rows[0].id, "w").value().fence, wrong).value(),
            SettleResult::kSettled);
  wrong.trial = rows[1].id;
  wrong.error_ratio = std::nan("");
  ASSERT_EQ(store_->Settle(store_->Lease(rows[1].id, "w").value().fence, wrong).value(),
            SettleResult::kSettled);
  const auto records = store_->Records({}).value();
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].outcome, Outcome::kWrongOutput);
  EXPECT_EQ(records[0].message, wrong.message);
  EXPECT_THAT(records[0].samples_ns, IsEmpty());
  EXPECT_TRUE(std::isinf(records[0].error_ratio));
  EXPECT_TRUE(std::isnan(records[1].error_ratio));
}

TEST_P(Conformance, SettlingAndFinalsAreEventsOfTheirJob) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  const Trial trial = SettleOne(*store_, ExampleTrial(task, job));
  EXPECT_EQ(store_->Settle(trial.fence, ExampleRecord(trial.id)).value(), SettleResult::kDuplicate);
  ASSERT_TRUE(store_->AddFinal(ExampleFinal(task, job)).ok());
  const int64_t unwanted = store_->EnsureTask(ExampleTask(1)).value();
  SettleOne(*store_, ExampleTrial(unwanted, 0, 9));  // of no job, and wanted by none: no event
  const auto events = store_->ListEvents(job, 0, 0).value();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].kind, "trial_settled");
  EXPECT_THAT(events[0].payload, HasSubstr(R"("outcome":"ok")"));
  EXPECT_EQ(events[1].kind, "final");
  EXPECT_THAT(events[1].payload, HasSubstr(R"("ratio_to_default":2.0)"));
}

TEST_P(Conformance, ImportedTrialIsSettledAtOnce) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Trial trial = ExampleTrial(task, 0, 3);
  trial.round = 2;
  EXPECT_EQ(store_->Import(trial, ExampleRecord(99, 1234.5)).value(), SettleResult::kSettled);
  Reopen();
  EXPECT_THAT(store_->OpenTrials(0).value(), IsEmpty());
  const auto records = store_->Records({}).value();
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].trial, records[0].of_trial.id) << "not the one that the record came with";
  EXPECT_EQ(records[0].median_ns, 1234.5);
  EXPECT_EQ(records[0].worker, "worker-1") << "who measured it, elsewhere";
  EXPECT_EQ(records[0].of_trial.worker, "import");
  EXPECT_EQ(records[0].of_trial.state, TrialState::kSettled);
  EXPECT_EQ(records[0].of_trial.config, trial.config);
  EXPECT_EQ(records[0].of_trial.round, 2);
  EXPECT_EQ(store_->Import(trial, ExampleRecord(0, 1)).value(), SettleResult::kDuplicate);
  EXPECT_THAT(store_->Records({}).value(), SizeIs(1));
}

TEST_P(Conformance, ImportLeavesKnownTrialsAsTheyAre) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const auto rows = store_->Propose({ExampleTrial(task, 0, 1), ExampleTrial(task, 0, 2)}).value();
  const int64_t fence = store_->Lease(rows[1].id, "w").value().fence;
  for (const Trial& row : rows) {
    EXPECT_EQ(store_->Import(row, ExampleRecord(0)).value(), SettleResult::kDuplicate);
  }
  EXPECT_THAT(store_->Records({}).value(), IsEmpty());
  EXPECT_EQ(store_->Settle(fence, ExampleRecord(rows[1].id)).value(), SettleResult::kSettled);
}

TEST_P(Conformance, ABatchIsImportedWholeOrNotAtAll) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Record retracted = ExampleRecord(0, 3);
  retracted.retracted = "elsewhere";
  const std::vector<Measured> batch = {{ExampleTrial(task, 0, 1), ExampleRecord(0, 1)},
                                       {ExampleTrial(task, 0, 1), ExampleRecord(0, 2)},
                                       {ExampleTrial(task, 0, 2), retracted}};
  std::vector<Measured> bad = batch;
  bad.push_back({ExampleTrial(99, 0, 3), ExampleRecord(0)});
  EXPECT_TRUE(absl::IsNotFound(store_->ImportMany(bad).status()));
  bad.back() = {ExampleTrial(task, 0, 3), ExampleRecord(0)};
  bad.back().record.device = std::string(1, '\0');
  EXPECT_TRUE(absl::IsInvalidArgument(store_->ImportMany(bad).status()));
  EXPECT_THAT(store_->Records({}).value(), IsEmpty());
  EXPECT_THAT(
      store_->ImportMany(batch).value(),
      ElementsAre(SettleResult::kSettled, SettleResult::kDuplicate, SettleResult::kSettled));
  EXPECT_THAT(store_->ImportMany(batch).value(), testing::Each(SettleResult::kDuplicate));
  EXPECT_THAT(store_->ImportMany({}).value(), IsEmpty());
  Reopen();
  const auto records = store_->Records({}).value();
  ASSERT_THAT(records, SizeIs(2)) << "what it is retracted for elsewhere is not read";
  EXPECT_EQ(records[0].median_ns, 1);
  EXPECT_LT(records[0].of_trial.fence, records[1].of_trial.fence);
  EXPECT_THAT(store_->OpenTrials(0).value(), IsEmpty());
}

TEST_P(Conformance, ImportIntoAJobIsAnEventOfIt) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  EXPECT_EQ(store_->Import(ExampleTrial(task, job), ExampleRecord(0)).value(),
            SettleResult::kSettled);
  EXPECT_EQ(store_->ListEvents(job, 0, 0).value().at(0).kind, "trial_settled");
  EXPECT_TRUE(
      absl::IsNotFound(store_->Import(ExampleTrial(task, 99, 5), ExampleRecord(0)).status()));
}

TEST_P(Conformance, RecordsAreFilteredAndPaged) {
  const int64_t here = store_->EnsureTask(ExampleTask(1, "here")).value();
  const int64_t there = store_->EnsureTask(ExampleTask(2, "there")).value();
  const int64_t job = store_->SubmitJob(ExampleJob(here)).value().id;
  SettleOne(*store_, ExampleTrial(here, job, 1));
  SettleOne(*store_, ExampleTrial(there, 0, 1));
  Trial confirm = ExampleTrial(here, 0, 1);
  confirm.purpose = Purpose::kConfirm;
  SettleOne(*store_, confirm);
  Trial plain = ExampleTrial(here, 0, 1);
  plain.signature = "NC->NC";
  SettleOne(*store_, plain);

  const auto ids = [&](const RecordFilter& filter) { return Ids(store_->Records(filter).value()); };
  EXPECT_THAT(ids({}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ids({.task = here}), ElementsAre(1, 3, 4));
  EXPECT_THAT(ids({.signature = "NC->NC"}), ElementsAre(4));
  EXPECT_THAT(ids({.job = job}), ElementsAre(1));
  EXPECT_THAT(ids({.purpose = Purpose::kConfirm}), ElementsAre(3));
  EXPECT_THAT(ids({.target = "there"}), ElementsAre(2));
  EXPECT_THAT(ids({.workload_substring = "(1, 2)"}), ElementsAre(2));
  EXPECT_THAT(ids({.workload_substring = "%"}), IsEmpty()) << "a substring is no pattern";
  EXPECT_THAT(ids({.outcome = Outcome::kCrash}), IsEmpty());
  EXPECT_THAT(ids({.outcome = Outcome::kOk}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ids({.device = "cpu of a test"}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ids({.device = "another"}), IsEmpty());
  const int64_t when = ExampleRecord(0).wall_time_ns;
  EXPECT_THAT(ids({.since_wall_ns = when}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ids({.since_wall_ns = when + 1}), IsEmpty());
  EXPECT_THAT(ids({.before_wall_ns = when}), IsEmpty());
  EXPECT_THAT(ids({.target = "here", .before_wall_ns = when + 1}), ElementsAre(1, 3, 4));
}

TEST_P(Conformance, RecordsComeInPagesInTheOrderOfCommits) {
  const int64_t here = store_->EnsureTask(ExampleTask(1, "here")).value();
  const int64_t there = store_->EnsureTask(ExampleTask(2, "there")).value();
  for (int n = 0; n < 3; ++n) {
    SettleOne(*store_, ExampleTrial(here, 0, n));
    SettleOne(*store_, ExampleTrial(there, 0, n));
  }
  const auto page = [&](const RecordFilter& filter, Order order, const std::string& cursor,
                        int64_t limit) {
    return store_->ListRecords(filter, order, cursor, limit).value();
  };
  RecordPage first = page({}, Order::kNewestFirst, "", 4);
  EXPECT_THAT(Ids(first.records), ElementsAre(6, 5, 4, 3));
  EXPECT_FALSE(first.is_last);
  const RecordPage second = page({}, Order::kNewestFirst, first.next, 4);
  EXPECT_THAT(Ids(second.records), ElementsAre(2, 1));
  EXPECT_TRUE(second.is_last);
  EXPECT_TRUE(page({}, Order::kNewestFirst, "", 6).is_last);

  first = page({.target = "here"}, Order::kOldestFirst, "", 2);
  EXPECT_THAT(Ids(first.records), ElementsAre(1, 3));
  const RecordPage rest = page({.target = "here"}, Order::kOldestFirst, first.next, 2);
  EXPECT_THAT(Ids(rest.records), ElementsAre(5));
  EXPECT_TRUE(rest.is_last);
  SettleOne(*store_, ExampleTrial(there, 0, 7));
  SettleOne(*store_, ExampleTrial(here, 0, 8));
  EXPECT_THAT(Ids(page({.target = "here"}, Order::kOldestFirst, rest.next, 2).records),
              ElementsAre(8))
      << "what was committed since";
  EXPECT_THAT(
      Ids(page({.task = here, .purpose = Purpose::kSearch}, Order::kNewestFirst, "", 1).records),
      ElementsAre(8));
}

TEST_P(Conformance, CursorsOfNoPageAreRefused) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  SettleOne(*store_, ExampleTrial(task, 0));
  const std::string newest = store_->ListRecords({}, Order::kNewestFirst, "", 1).value().next;
  for (const std::string& cursor : {newest, std::string("nonsense"), std::string("o"),
                                    std::string("o-1"), std::string("o1 ")}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(store_->ListRecords({}, Order::kOldestFirst, cursor, 1).status()))
        << cursor;
  }
}

TEST_P(Conformance, WhatWasRetractedCountsForNothingAndIsStillThere) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  SettleOne(*store_, ExampleTrial(task, job, 1), 2000);
  SettleOne(*store_, ExampleTrial(task, job, 2), 500);
  ASSERT_TRUE(store_->Retract(2, "its device was quarantined").ok());
  ASSERT_TRUE(store_->Retract(2, "again").ok());
  Reopen();
  EXPECT_THAT(Ids(store_->Records({}).value()), ElementsAre(1));
  const auto all = store_->Records({.with_retracted = true}).value();
  EXPECT_THAT(Ids(all), ElementsAre(1, 2));
  EXPECT_EQ(all[0].retracted, "");
  EXPECT_EQ(all[1].retracted, "its device was quarantined");
  const TaskProgress progress = store_->Progress(job).value().at(0);
  EXPECT_EQ(progress.trials, 1);
  EXPECT_EQ(progress.job_trials, 1);
  EXPECT_EQ(progress.best_ns, 2000);
  EXPECT_TRUE(absl::IsNotFound(store_->Retract(3, "why")));
  EXPECT_TRUE(absl::IsInvalidArgument(store_->Retract(1, "")));
}

TEST_P(Conformance, NewestFinalsAreOfTheTargetAndWorkload) {
  const int64_t here = store_->EnsureTask(ExampleTask(1, "here")).value();
  const int64_t there = store_->EnsureTask(ExampleTask(2, "there")).value();
  store_->AddFinal(ExampleFinal(here, 0, 10)).value();
  store_->AddFinal(ExampleFinal(there, 0, 20)).value();
  store_->AddFinal(ExampleFinal(here, 0, 30)).value();
  Final plain = ExampleFinal(here, 0, 40);
  plain.signature = "NC->NC";
  store_->AddFinal(plain).value();
  const auto trials = [&](const std::string& target, const std::string& workload) {
    std::vector<int64_t> found;
    const std::vector<TaskFinal> finals =
        store_->Finals({.target = target, .workload_substring = workload}).value();
    for (const auto& [task, final] : finals) {
      EXPECT_EQ(task.id, final.task);
      EXPECT_THAT(final.entries, SizeIs(2));
      found.push_back(final.distinct_trials);
    }
    return found;
  };
  EXPECT_THAT(trials("", ""), testing::UnorderedElementsAre(20, 30, 40));
  EXPECT_THAT(trials("here", ""), testing::UnorderedElementsAre(30, 40));
  EXPECT_THAT(trials("", "(1, 2)"), ElementsAre(20));
  EXPECT_THAT(trials("nowhere", ""), IsEmpty());
}

TEST_P(Conformance, NewestFinalIsOfTheTaskAndSignature) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t other = store_->EnsureTask(ExampleTask(1)).value();
  EXPECT_FALSE(store_->NewestFinal(task, kSignature).value().has_value());
  store_->AddFinal(ExampleFinal(task, 0, 10)).value();
  Final ended = ExampleFinal(task, 0, 64);
  ended.ended_share = 0.125;
  const int64_t newest = store_->AddFinal(ended).value();
  store_->AddFinal(ExampleFinal(other, 0, 20)).value();
  Reopen();
  const Final read = store_->NewestFinal(task, kSignature).value().value();
  EXPECT_EQ(read.id, newest);
  EXPECT_EQ(read.task, task);
  EXPECT_EQ(read.signature, kSignature);
  EXPECT_EQ(read.job, 0);
  EXPECT_EQ(read.distinct_trials, 64);
  EXPECT_EQ(read.space_size, 5000);
  EXPECT_EQ(read.ended_share, 0.125);
  EXPECT_EQ(read.winner, 1);
  EXPECT_EQ(read.default_entry, 0);
  EXPECT_EQ(read.toolchain, "llvm 19.1.7");
  EXPECT_EQ(read.device, "cpu of a test");
  EXPECT_EQ(read.wall_time_ns, 1'700'000'000'000'000'001);
  ASSERT_THAT(read.entries, SizeIs(2));
  EXPECT_EQ(read.entries[1].config, "tile=8 unroll=4");
  EXPECT_EQ(read.entries[1].nest_digest, "nest-winner");
  EXPECT_EQ(read.entries[1].artifact_digest, "artifact-winner");
  EXPECT_THAT(read.entries[1].round_ns, ElementsAre(1000, 1002));
  EXPECT_EQ(read.entries[1].median_ns, 1001);
  EXPECT_EQ(read.entries[1].ratio_to_default, 2.0);
  EXPECT_FALSE(store_->NewestFinal(task, "NCHW->NCHW").value().has_value());
}

TEST_P(Conformance, FinalWithoutItsWinnerIsRefused) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Final final = ExampleFinal(task, 0);
  final.winner = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(store_->AddFinal(final).status()));
  EXPECT_FALSE(store_->NewestFinal(task, kSignature).value().has_value());
}

TEST_P(Conformance, MissesAreCountedByModel) {
  const Task task = ExampleTask();
  Miss miss{task.workload, task.workload_digest, kSignature, task.target, "default", "resnet18", 1};
  ASSERT_TRUE(store_->RecordMisses({miss}).ok());
  miss.tier = "tuning";
  ASSERT_TRUE(store_->RecordMisses({miss}).ok());
  miss.model = "resnet50";
  miss.target = "elsewhere";
  ASSERT_TRUE(store_->RecordMisses({miss}).ok());
  Reopen();
  const auto misses = store_->ListMisses("").value();
  ASSERT_THAT(misses, SizeIs(2));
  EXPECT_EQ(misses[0].workload, task.workload);
  EXPECT_EQ(misses[0].workload_digest, task.workload_digest);
  EXPECT_EQ(misses[0].signature, kSignature);
  EXPECT_EQ(misses[0].target, task.target);
  EXPECT_EQ(misses[0].tier, "tuning");
  EXPECT_EQ(misses[0].model, "resnet18");
  EXPECT_EQ(misses[0].count, 2);
  EXPECT_EQ(misses[1].count, 1);
  EXPECT_THAT(store_->ListMisses("elsewhere").value(), SizeIs(1));
}

TEST_P(Conformance, MissesOfACompileAreRecordedTogetherOrNotAtAll) {
  const Task task = ExampleTask();
  const Miss one{task.workload, task.workload_digest, kSignature, task.target, "default", "m", 1};
  Miss other = one;
  other.signature = "NCHW->NCHW";
  ASSERT_TRUE(store_->RecordMisses({one, other, one}).ok());
  ASSERT_THAT(store_->ListMisses("").value(), SizeIs(2));
  EXPECT_EQ(store_->ListMisses("").value()[0].count, 2);
  other.model = std::string("\xff", 1);
  EXPECT_FALSE(store_->RecordMisses({one, other}).ok());
  EXPECT_EQ(store_->ListMisses("").value()[0].count, 2);
}

TEST_P(Conformance, AMissEndsWhenItsKernelIsTuned) {
  const Task task = ExampleTask();
  const Miss miss{task.workload, task.workload_digest, kSignature, task.target, "default", "m", 1};
  Miss of_another = miss;
  of_another.signature = "NCHW->NCHW";
  ASSERT_TRUE(store_->RecordMisses({miss, of_another}).ok());
  EXPECT_THAT(StillMissed(*store_, store_->ListMisses("").value()).value(), SizeIs(2));
  Final final = ExampleFinal(store_->EnsureTask(task).value(), 0);
  final.distinct_trials = 1;
  ASSERT_TRUE(store_->AddFinal(final).ok());
  EXPECT_THAT(StillMissed(*store_, store_->ListMisses("").value()).value(), SizeIs(2))
      << "after one trial it is `tuning`";
  final.distinct_trials = kTrialsOfTuned;
  ASSERT_TRUE(store_->AddFinal(final).ok());
  const auto still = StillMissed(*store_, store_->ListMisses("").value()).value();
  ASSERT_THAT(still, SizeIs(1));
  EXPECT_EQ(still[0].signature, of_another.signature);
}

}  // namespace
}  // namespace hone::tuning_db
