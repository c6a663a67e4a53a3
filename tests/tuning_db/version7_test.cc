// A database as the version before the farm left it: schema 7.
#include "tests/tuning_db/version7.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/digest.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/temp_folder.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class Version7Test : public testing::Test {
 protected:
  void SetUp() override { FillVersion7(path_); }

  TempFolder folder_;
  const std::string path_ = folder_ / "hone.db";
};

TEST_F(Version7Test, IsMigratedAndLosesNothing) {
  const auto opened = OpenSqliteStore(path_, OpenMode::kReadWrite);
  ASSERT_TRUE(opened.ok()) << opened.status();
  Store& store = **opened;
  EXPECT_THAT(store.Check().value(), IsEmpty());
  EXPECT_EQ(store.FindTask(ExampleTask().workload_digest, ExampleTask().target)->value().id, 1);

  const auto records = store.Records({}).value();
  ASSERT_THAT(records, SizeIs(2));
  const Trial trial = ExampleTrial(1, 1, 1);
  EXPECT_EQ(records[0].median_ns, 1234);
  EXPECT_EQ(records[0].samples_ns, ExampleRecord(1, 1234).samples_ns);
  EXPECT_EQ(records[0].artifact_digest, Sha256Hex("artifact"));
  EXPECT_EQ(records[0].regime, "warm");
  EXPECT_EQ(records[0].worker, "worker-1");
  EXPECT_EQ(records[0].of_trial.config, trial.config);
  EXPECT_EQ(records[0].of_trial.config_digest, trial.config_digest);
  EXPECT_EQ(records[0].of_trial.nest_digest, trial.nest_digest);
  EXPECT_EQ(records[1].outcome, Outcome::kCrash);
  EXPECT_EQ(records[1].message, "signal 11");
  EXPECT_EQ(records[1].regime, "");
  EXPECT_EQ(records[1].artifact_digest, "");

  const auto open = store.OpenTrials(1).value();
  ASSERT_THAT(open, SizeIs(2));
  EXPECT_EQ(open[0].state, TrialState::kLeased);
  EXPECT_EQ(open[0].worker, "worker-1");
  EXPECT_EQ(open[0].strikes, 0);
  EXPECT_EQ(store.Settle(3, ExampleRecord(3)).value(), SettleResult::kSettled)
      << "its lease is still good";
  EXPECT_EQ(open[1].worker, "");
}

TEST_F(Version7Test, ItsJobGoesOnAndMayBePaused) {
  const auto store = OpenSqliteStore(path_, OpenMode::kReadWrite).value();
  const Job job = store->GetJob(1).value();
  EXPECT_EQ(job.client_id, "c");
  EXPECT_EQ(job.model, "m");
  EXPECT_EQ(job.target, "llvm");
  EXPECT_EQ(job.owner, "d");
  EXPECT_EQ(job.epoch, 5);
  EXPECT_EQ(job.state, JobState::kRunning);
  EXPECT_EQ(job.submitter, "") << "unknown";
  EXPECT_THAT(job.tasks, SizeIs(1));
  EXPECT_TRUE(store->SetJobState(1, JobState::kPaused, "").ok());
  Job another = job;
  another.client_id = "d";
  EXPECT_EQ(store->SubmitJob(another)->id, 2);
}

TEST_F(Version7Test, ItsPagesHaveChecksumsFromThenOn) {
  ASSERT_TRUE(OpenSqliteStore(path_, OpenMode::kReadWrite).ok());
  std::string bytes = folder_.Contents()[path_];
  bytes[bytes.size() - 1000] = static_cast<char>(bytes[bytes.size() - 1000] ^ 1);
  WriteBytes(path_, bytes);
  const auto store = OpenSqliteStore(path_, OpenMode::kReadOnly);
  EXPECT_FALSE(store.ok() && (*store)->Check().ok());
}

TEST_F(Version7Test, ItsEventsAndProgressAreKept) {
  const auto opened = OpenSqliteStore(path_, OpenMode::kReadWrite);
  ASSERT_TRUE(opened.ok()) << opened.status();
  Store& store = **opened;
  std::vector<std::string> kinds;
  const std::vector<Event> events = store.ListEvents(1, 0, 0).value();
  for (const Event& event : events) kinds.push_back(event.kind);
  EXPECT_THAT(kinds, ElementsAre("state", "trial_settled", "trial_settled", "final"));
  EXPECT_THAT(events.at(2).payload, testing::HasSubstr("signal 11"));
  const TaskProgress progress = store.Progress(1).value().at(0);
  EXPECT_EQ(progress.trials, 2);
  EXPECT_EQ(progress.job_failures, 1);
  EXPECT_EQ(progress.best_ns, 1234);
  EXPECT_EQ(progress.final->distinct_trials, 64);
  EXPECT_THAT(store.ListMisses(ExampleTask().target).value(), SizeIs(1));
  EXPECT_GT(store.BeginEpoch("daemon", 1).value().epoch, 5) << "above those of all jobs";
}

}  // namespace
}  // namespace hone::tuning_db
