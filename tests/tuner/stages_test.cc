// The stages of the tuning loop, each alone: no daemon, no dispatcher.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "support/digest.h"
#include "tests/tuner/fakes.h"
#include "tuner/jobs/build_stage.h"
#include "tuner/jobs/measure_stage.h"
#include "tuner/jobs/task_state.h"
#include "tuner/jobs/task_table.h"
#include "tuner/jobs/trial_settler.h"
#include "tuner/search_names.h"

namespace hone::tuner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tuning_db::Outcome;
using tuning_db::Purpose;
using tuning_db::SettleResult;
using tuning_db::Trial;
using tuning_db::TrialState;

// Keeps what it is asked to measure; the test reports.
class RecordingMeasurer : public Measurer {
 public:
  void Measure(MeasureRequest request, MeasureCallback done) override {
    asked.push_back(std::move(request));
    done_.push_back(std::move(done));
  }
  void Cancel(int64_t trial) override { cancelled.push_back(trial); }
  // For the n-th request; says how settling it went.
  SettleResult Report(size_t n, const MeasureReport& report) {
    SettleResult how = SettleResult::kDuplicate;
    done_.at(n)(report, [&](const absl::StatusOr<SettleResult>& settled) { how = *settled; });
    return how;
  }

  std::vector<MeasureRequest> asked;
  std::vector<int64_t> cancelled;

 private:
  std::vector<MeasureCallback> done_;
};

class StagesTest : public ::testing::Test {
 protected:
  StagesTest()
      : loop_{TuningOptions(), Parts()},
        tasks_(loop_),
        settler_(loop_, tasks_),
        builds_(loop_, tasks_, OfBuilds()),
        measures_(loop_, tasks_, settler_, OfMeasures()) {
    job_.job.search = "fake";
    job_.job.id = 1;
  }

  TuningParts Parts() {
    TuningParts parts;
    parts.store = store_.get();
    parts.lowerer = &lowerer_;
    parts.builder = &builder_;
    parts.measurer = &measurer_;
    parts.clock = &clock_;
    parts.executor = &executor_;
    return parts;
  }
  BuildStage::Events OfBuilds() {
    BuildStage::Events events;
    events.trial_built = [this](TaskRunner&, const Trial& trial, const Artifact& artifact) {
      built_[trial.id] = artifact;
    };
    events.trial_failed = [this](const Trial& trial, Outcome outcome, const std::string&,
                                 const std::string&) { failed_[trial.id] = outcome; };
    events.finalists_built = [](TaskRunner&) {};
    events.task_failed = [this](TaskRunner&, const std::string& why) { why_ = why; };
    events.changed = [this] { ++changes_; };
    return events;
  }
  MeasureStage::Events OfMeasures() {
    MeasureStage::Events events;
    events.final_ready = [](TaskRunner&) {};
    events.trial_lost = [this](TaskRunner&, const Trial& trial) { lost_.push_back(trial.id); };
    events.task_failed = [this](TaskRunner&, const std::string& why) { why_ = why; };
    events.changed = [this] { ++changes_; };
    return events;
  }

  // A task that a job wants this many trials of, of which so many are settled.
  TaskRunner& AddTask(int64_t trials = 8, int64_t settled = 0) {
    tuning_db::Task task;
    task.workload = "conv";
    task.workload_digest = Sha256Hex(task.workload);
    task.target = kFakeTarget;
    wanted_.task = store_->EnsureTask(task).value();
    wanted_.signature = "NC->NC";
    wanted_.trials = trials;
    for (int64_t i = 0; i < settled; ++i) {
      const Trial trial = Propose(i);
      const int64_t fence = store_->Lease(trial.id, "w").value().fence;
      tuning_db::Record record;
      record.trial = trial.id;
      record.median_ns = 1000;
      store_->Settle(fence, record).value();
    }
    TaskRunner& runner = *tasks_.Ensure(wanted_).value();
    runner.AddWant({&job_, &wanted_});
    runner.is_served = true;
    return runner;
  }
  Trial Propose(int64_t n) {
    const auto context = lowerer_.Open("conv", "NC->NC", kFakeTarget).value();
    const schedule::Config& config = context->default_config();
    Trial trial;
    trial.task = wanted_.task;
    trial.signature = wanted_.signature;
    trial.config = config.ToText();
    trial.config_digest = config.Digest();
    trial.nest_digest = context->Lower(config)->nest_digest;
    trial.round = n;
    return store_->Propose({trial}).value().at(0);
  }
  // As SearchStage and TaskFlow leave it.
  Trial Open(TaskRunner& runner) {
    const Trial trial = Propose(100);
    runner.history.Proposed(trial);
    runner.open[trial.id] = trial;
    return trial;
  }
  void RunAll() {
    while (executor_.RunOne()) {
    }
  }

  FakeClock clock_;
  std::unique_ptr<tuning_db::Store> store_ = tuning_db::MakeMemoryStore(clock_);
  ManualExecutor executor_;
  FakeLowerer lowerer_;
  FakeBuilder builder_{&executor_};
  RecordingMeasurer measurer_;
  ActiveJob job_;
  tuning_db::JobTask wanted_;
  LoopContext loop_;
  TaskTable tasks_;
  TrialSettler settler_;
  BuildStage builds_;
  MeasureStage measures_;
  std::map<int64_t, Artifact> built_;
  std::map<int64_t, Outcome> failed_;
  std::vector<int64_t> lost_;
  std::string why_;
  int changes_ = 0;
};

// ---- states ----

TEST_F(StagesTest, ATaskIsSearchedUntilItsBudgetIsSettledThenItsFinalIsDue) {
  TaskRunner& runner = AddTask(3, 2);
  EXPECT_EQ(StateOf(runner), TaskState::kSearching);
  const Trial trial = Open(runner);
  EXPECT_EQ(StateOf(runner), TaskState::kSearching) << "it is open";
  settler_.SettleFailure(trial, {Outcome::kCrash, ""});
  EXPECT_EQ(StateOf(runner), TaskState::kFinalDue);
  runner.final_run.emplace();
  EXPECT_EQ(StateOf(runner), TaskState::kFinal);
}

TEST_F(StagesTest, AFinalOfAnEarlierLifeGoesFirst) {
  TaskRunner& runner = AddTask(8, 1);
  runner.open_confirm.emplace();
  EXPECT_EQ(StateOf(runner), TaskState::kFinalDue);
}

TEST_F(StagesTest, ACalibrationHasNoFinal) {
  job_.job.search = kCalibratingSearch.name;
  TaskRunner& runner = AddTask(0);
  EXPECT_EQ(StateOf(runner), TaskState::kFinished);
  runner.closed = true;
  EXPECT_EQ(StateOf(runner), TaskState::kClosed);
}

TEST_F(StagesTest, ATaskThatNobodyWantsIsParkedAndAFailedOneStaysSo) {
  TaskRunner& runner = AddTask();
  runner.RemoveWants(1);
  EXPECT_EQ(StateOf(runner), TaskState::kParked);
  runner.failure = "why";
  EXPECT_EQ(StateOf(runner), TaskState::kFailed);
}

// ---- building ----

TEST_F(StagesTest, ReferenceAndAnchorAreBuiltOnce) {
  TaskRunner& runner = AddTask();
  builds_.NeedSharedArtifacts(runner);
  builds_.NeedSharedArtifacts(runner);
  EXPECT_TRUE(builds_.IsBusy());
  builds_.Dispatch();
  RunAll();
  EXPECT_TRUE(runner.HasSharedArtifacts());
  EXPECT_EQ(builder_.built, 2);
  EXPECT_FALSE(builds_.IsBusy());
  EXPECT_GT(changes_, 0);
}

TEST_F(StagesTest, ATrialIsBuiltAndItsArtifactKept) {
  TaskRunner& runner = AddTask();
  const Trial trial = Open(runner);
  builds_.BuildTrial(runner, trial);
  EXPECT_THAT(built_, IsEmpty());
  builds_.Dispatch();
  RunAll();
  ASSERT_THAT(built_, SizeIs(1));
  EXPECT_FALSE(built_[trial.id].digest.empty());
  built_.clear();
  builds_.BuildTrial(runner, trial);
  EXPECT_THAT(built_, SizeIs(1)) << "at once";
  EXPECT_EQ(builder_.built, 1);
}

TEST_F(StagesTest, NothingIsBuiltForATaskWithoutADevice) {
  TaskRunner& runner = AddTask();
  runner.is_served = false;
  builds_.BuildTrial(runner, Open(runner));
  builds_.Dispatch();
  RunAll();
  EXPECT_EQ(builder_.built, 0);
  EXPECT_FALSE(builds_.IsBusy());
}

TEST_F(StagesTest, ABuilderThatKeepsFailingFailsTheTask) {
  TaskRunner& runner = AddTask();
  builder_.is_broken = true;
  builds_.BuildTrial(runner, Open(runner));
  for (int i = 0; i < loop_.options.builder_attempts; ++i) {
    EXPECT_EQ(why_, "");
    builds_.Dispatch();
    RunAll();
  }
  EXPECT_THAT(why_, HasSubstr("failed 5 times"));
  EXPECT_THAT(failed_, IsEmpty()) << "no candidate is to blame";
}

TEST_F(StagesTest, WhatIsBuiltForAParkedTaskIsDropped) {
  TaskRunner& runner = AddTask();
  builds_.BuildTrial(runner, Open(runner));
  builds_.Dispatch();
  runner.RemoveWants(1);
  RunAll();
  EXPECT_THAT(built_, IsEmpty());
}

// ---- measuring ----

class MeasuringTest : public StagesTest {
 protected:
  // Measured, under a lease.
  Trial Measure(TaskRunner& runner) {
    const Trial trial = Open(runner);
    runner.reference.state = SharedArtifact::State::kDone;
    runner.anchor.state = SharedArtifact::State::kDone;
    measures_.Push(runner, trial, {.digest = "artifact", .bytes = nullptr, .toolchain = ""});
    measures_.Dispatch(/*is_building=*/false);
    return store_->Lease(trial.id, "w").value();
  }
  static MeasureReport Measured(const Trial& trial) {
    MeasureReport report;
    report.fence = trial.fence;
    report.worker = "w";
    report.result.set_trial(trial.id);
    hone::v1::CandidateResult& candidate = *report.result.add_candidates();
    candidate.set_outcome(hone::v1::MEASURE_OUTCOME_OK);
    candidate.add_samples_ns(1000);
    return report;
  }
};

TEST_F(MeasuringTest, ATrialWaitsForReferenceAndAnchor) {
  TaskRunner& runner = AddTask();
  measures_.Push(runner, Open(runner), {});
  measures_.Dispatch(/*is_building=*/false);
  EXPECT_THAT(measurer_.asked, IsEmpty());
  runner.reference.state = SharedArtifact::State::kDone;
  runner.anchor.state = SharedArtifact::State::kDone;
  measures_.Dispatch(/*is_building=*/false);
  EXPECT_THAT(measurer_.asked, SizeIs(1));
}

TEST_F(MeasuringTest, AResultIsSettledAndKnownToItsTask) {
  job_.job.submitter = "ann";
  job_.job.priority = 3;
  TaskRunner& runner = AddTask();
  const Trial trial = Measure(runner);
  EXPECT_EQ(measurer_.asked.at(0).submitter, "ann");
  EXPECT_EQ(measurer_.asked.at(0).priority, 3);
  EXPECT_EQ(measurer_.Report(0, Measured(trial)), SettleResult::kSettled);
  RunAll();
  EXPECT_EQ(runner.history.settled(), 1);
  EXPECT_THAT(runner.open, IsEmpty());
  EXPECT_THAT(runner.measuring, IsEmpty());
  EXPECT_EQ(store_->Records({})->size(), 1u);
}

TEST_F(MeasuringTest, ALateResultIsRefusedAndTheTrialBuiltAgain) {
  TaskRunner& runner = AddTask();
  const Trial trial = Measure(runner);
  ASSERT_TRUE(store_->Release(trial.id, trial.fence).ok());
  EXPECT_EQ(measurer_.Report(0, Measured(trial)), SettleResult::kRefused);
  RunAll();
  EXPECT_THAT(lost_, ElementsAre(trial.id));
}

TEST_F(MeasuringTest, ALostTrialOfAParkedTaskStaysProposed) {
  TaskRunner& runner = AddTask();
  const Trial trial = Measure(runner);
  runner.RemoveWants(1);
  ASSERT_TRUE(store_->Release(trial.id, trial.fence).ok());
  MeasureReport report;
  report.kind = MeasureReport::Kind::kLost;
  measurer_.Report(0, report);
  RunAll();
  EXPECT_THAT(lost_, IsEmpty());
  EXPECT_THAT(runner.open, IsEmpty());
  EXPECT_EQ(store_->OpenTrials(0)->at(0).state, TrialState::kProposed);
}

TEST_F(MeasuringTest, APoisonousTrialIsSettledAsDeviceLost) {
  TaskRunner& runner = AddTask();
  const Trial trial = Measure(runner);
  MeasureReport report;
  report.kind = MeasureReport::Kind::kPoison;
  report.message = "three workers";
  measurer_.Report(0, report);
  RunAll();
  const auto records = store_->Records({}).value();
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].trial, trial.id);
  EXPECT_EQ(records[0].outcome, Outcome::kDeviceLost);
  EXPECT_THAT(runner.open, IsEmpty());
}

}  // namespace
}  // namespace hone::tuner
