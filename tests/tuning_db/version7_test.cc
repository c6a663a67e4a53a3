// A database as the version before the farm left it: schema 7.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/digest.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/temp_folder.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/schema.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// One job of one task: a settled trial with its event, one that crashed, one leased, one proposed;
// a final; a miss.
class Version7Test : public testing::Test {
 protected:
  void SetUp() override {
    WriteBytes(path_, "");  // an empty file has no room for checksums, as none had then
    Fill();
  }

  void Fill() {
    const auto db = sqlite::Connection::Open(path_, sqlite::Access::kWrite).value();
    Must(*db, "PRAGMA application_id = " + std::to_string(sqlite::kApplicationId));
    ASSERT_TRUE(sqlite::Migrate(*db, 7).ok());
    Must(*db, "PRAGMA journal_mode = WAL");
    const Task task = ExampleTask();
    int64_t id = 0;
    for (const std::string& text :
         {task.workload, task.target, std::string(kSignature), ExampleTrial(0, 0, 1).config,
          ExampleTrial(0, 0, 2).config, ExampleTrial(0, 0, 3).config, ExampleTrial(0, 0, 4).config,
          std::string("llvm 19.1.7"), std::string("cpu of a test"), std::string()}) {
      ASSERT_TRUE(db->Run("INSERT INTO texts VALUES (?, ?, ?)", ++id, Sha256Hex(text), text).ok());
    }
    ASSERT_TRUE(db->Run("INSERT INTO tasks VALUES (1, 1, ?, ?, 2)", task.workload_digest,
                        task.anchor_digest)
                    .ok());
    Must(*db,
         "INSERT INTO jobs (id, client_id, model, target, seed, priority, deadline_ns, search, "
         "owner, epoch, state, message) VALUES (1, 'c', 'm', 'llvm', 1, 0, 0, '', 'd', 5, 1, '')");
    ASSERT_TRUE(db->Run("INSERT INTO job_tasks VALUES (1, 0, 1, 3, 'conv', 1, 64)").ok());
    for (int n = 1; n <= 4; ++n) {
      const Trial trial = ExampleTrial(1, 1, n);
      const int state = n <= 2 ? 2 : n == 3 ? 1 : 0;
      const int leases = n <= 3 ? 1 : 0;
      ASSERT_TRUE(db->Run("INSERT INTO trials VALUES (?, 1, 3, ?, ?, ?, 0, 0, 1, ?, ?, ?, ?)", n,
                          3 + n, trial.config_digest, trial.nest_digest, state, leases, leases * n,
                          leases == 1 ? "worker-1" : "")
                      .ok());
    }
    const Record record = ExampleRecord(1, 1234);
    ASSERT_TRUE(db->Run("INSERT INTO records VALUES (1, 1, 0, '', ?, 1234, 100, 2000, 0.25, ?, 8, "
                        "9, 'warm', 'worker-1', ?)",
                        record.samples_ns, record.artifact_digest, record.wall_time_ns)
                    .ok());
    Must(*db,
         "INSERT INTO records VALUES (2, 2, 5, 'signal 11', x'', 0, 0, 0, NULL, '', 10, 10, '', "
         "'worker-1', 7)");
    Must(*db, "UPDATE counters SET value = 3 WHERE name = 'fence'");
    Must(*db,
         "INSERT INTO events VALUES (1, 1, 'state', '{\"state\":\"running\"}', 3), "
         "(1, 2, 'trial_settled', '{\"trial\":1}', 4), (1, 3, 'trial_settled', "
         "'{\"trial\":2}', 5), (1, 4, 'final', '{}', 6)");
    Must(*db,
         "INSERT INTO finals VALUES (1, 1, 3, 1, 64, 5000, 0, 0, 8, 9, 8, 0);"
         "INSERT INTO final_entries VALUES (1, 0, 4, 'nest', 'artifact', x'', 1001, 1.5)");
    Must(*db, "INSERT INTO misses VALUES (1, 1, 'w', 3, 2, 'default', 'resnet18', 2)");
  }

  static void Must(sqlite::Connection& db, const std::string& sql) {
    const absl::Status status = db.Execute(sql);
    ASSERT_TRUE(status.ok()) << status;
  }

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
