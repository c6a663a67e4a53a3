#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "support/digest.h"
#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/temp_folder.h"
#include "tuning_db/sqlite/commit_queue.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/database_file.h"
#include "tuning_db/sqlite/schema.h"

namespace hone::tuning_db {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class InFile final : public StoreFixture {
 public:
  std::unique_ptr<Store> Open() override {
    auto store = OpenSqliteStore(folder_ / "hone.db", OpenMode::kCreate, {.address = "unix:/test"});
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  bool IsDurable() const override { return true; }

 private:
  TempFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Sqlite, Conformance,
                         testing::Values(StoreKind{"sqlite",
                                                   [] { return std::make_unique<InFile>(); }}),
                         [](const auto& info) { return info.param.name; });

class SqliteStoreTest : public testing::Test {
 protected:
  std::unique_ptr<Store> Open(OpenMode mode, const Writer& self = {}) {
    auto store = OpenSqliteStore(path_, mode, self);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  TempFolder folder_;
  const std::string path_ = folder_ / "hone.db";
};

TEST_F(SqliteStoreTest, OpeningMakesAFileOnlyWhenTold) {
  EXPECT_TRUE(absl::IsNotFound(OpenSqliteStore(path_, OpenMode::kReadOnly).status()));
  EXPECT_TRUE(absl::IsNotFound(OpenSqliteStore(path_, OpenMode::kReadWrite).status()));
  EXPECT_THAT(folder_.Contents(), IsEmpty());
  const std::string nested = folder_ / "share/hone/hone.db";
  EXPECT_TRUE(absl::IsNotFound(OpenSqliteStore(nested, OpenMode::kReadOnly).status()));
  EXPECT_THAT(folder_.Contents(), IsEmpty());
  EXPECT_TRUE(OpenSqliteStore(nested, OpenMode::kCreate).ok());
  EXPECT_TRUE(OpenSqliteStore(nested, OpenMode::kReadOnly).ok());
}

TEST_F(SqliteStoreTest, SecondWriterIsToldWhoTheFirstIs) {
  const auto writer = Open(OpenMode::kCreate, {.address = "unix:/run/honed.sock"});
  const auto second = OpenSqliteStore(path_, OpenMode::kReadWrite);
  ASSERT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("unix:/run/honed.sock"));
}

TEST_F(SqliteStoreTest, WriterOfNamesOnlyALiveWriter) {
  EXPECT_FALSE(WriterOf(path_).value());
  EXPECT_FALSE(WriterOf(folder_ / "no/such/folder.db").value());
  auto writer = Open(OpenMode::kCreate, {.address = "unix:/run/honed.sock"});
  EXPECT_EQ(WriterOf(path_).value()->address, "unix:/run/honed.sock");
  EXPECT_EQ(WriterOf(path_).value()->pid, getpid());
  EXPECT_EQ(WriterOf(path_).value()->client, 0) << "it serves everybody";
  writer.reset();
  EXPECT_FALSE(WriterOf(path_).value());
  // What a killed writer leaves.
  WriteBytes(path_ + ".lock", "unix:/run/dead.sock\n1\n");
  EXPECT_FALSE(WriterOf(path_).value());
  writer = Open(OpenMode::kReadWrite);
  EXPECT_EQ(WriterOf(path_).value()->address, "");
  EXPECT_THAT(Describe(*WriterOf(path_).value()), HasSubstr("process "));
}

TEST_F(SqliteStoreTest, APrivateWriterSaysWhomItServes) {
  auto writer = Open(OpenMode::kCreate, {.address = "unix:/tmp/hone-a1B2c3/socket", .client = 77});
  EXPECT_EQ(WriterOf(path_).value()->address, "unix:/tmp/hone-a1B2c3/socket");
  EXPECT_EQ(WriterOf(path_).value()->client, 77);
  const auto second = OpenSqliteStore(path_, OpenMode::kReadWrite);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("`hone tune` (process 77)"));
  writer = nullptr;
  writer = Open(OpenMode::kReadWrite, {.address = "unix:/run/honed.sock"});
  EXPECT_EQ(WriterOf(path_).value()->client, 0) << "of an earlier holder";
}

TEST_F(SqliteStoreTest, WriterOfSeesThroughLinks) {
  const auto writer = Open(OpenMode::kCreate, {.address = "unix:/run/honed.sock"});
  std::filesystem::create_symlink(path_, folder_ / "link.db");
  EXPECT_EQ(WriterOf(folder_ / "link.db").value()->address, "unix:/run/honed.sock");
  EXPECT_TRUE(
      absl::IsUnavailable(OpenSqliteStore(folder_ / "link.db", OpenMode::kReadWrite).status()));
}

TEST_F(SqliteStoreTest, ProbesDoNotKeepAWriterOut) {
  Open(OpenMode::kCreate).reset();
  std::atomic<bool> stop = false;
  std::thread prober([&] {
    while (!stop) EXPECT_TRUE(WriterOf(path_).ok());
  });
  for (int i = 0; i < 10; ++i) Open(OpenMode::kReadWrite).reset();
  stop = true;
  prober.join();
}

TEST_F(SqliteStoreTest, ReaderSeesWhatTheWriterCommittedAndChangesNothing) {
  const auto writer = Open(OpenMode::kCreate);
  const auto reader = Open(OpenMode::kReadOnly);
  const int64_t task = writer->EnsureTask(ExampleTask()).value();
  EXPECT_EQ(reader->GetTask(task).value().workload, ExampleTask().workload);
  EXPECT_EQ(reader->EnsureTask(ExampleTask()).value(), task) << "a known task needs no write";
  EXPECT_TRUE(absl::IsFailedPrecondition(reader->EnsureTask(ExampleTask(1)).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(reader->Propose({ExampleTrial(task, 0)}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(reader->Lease(1, "w").status()));
  EXPECT_THAT(reader->Check().value(), IsEmpty());
}

TEST_F(SqliteStoreTest, ReadersLeaveTheDatabaseFileAsItIs) {
  Open(OpenMode::kCreate)->EnsureTask(ExampleTask()).value();
  const std::string before = folder_.Contents()[path_];
  {
    const auto reader = Open(OpenMode::kReadOnly);
    EXPECT_TRUE(reader->FindTask(ExampleTask().workload_digest, ExampleTask().target)->has_value());
    EXPECT_THAT(reader->Check().value(), IsEmpty());
  }
  EXPECT_EQ(folder_.Contents()[path_], before);
}

// The lock by which SQLite knows, in another process, that it is not alone.
bool IsSharedLockHeld(int fd) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = 0x40000002;
  lock.l_len = 510;
  EXPECT_EQ(fcntl(fd, F_OFD_GETLK, &lock), 0);
  return lock.l_type != F_UNLCK;
}

TEST_F(SqliteStoreTest, OpeningAFileTwiceInAProcessKeepsItsLocks) {
  Open(OpenMode::kCreate).reset();
  const int fd = open(path_.c_str(), O_RDWR | O_CLOEXEC);  // closed last: closing drops locks
  {
    const auto writer = Open(OpenMode::kReadWrite);
    writer->EnsureTask(ExampleTask()).value();
    ASSERT_TRUE(IsSharedLockHeld(fd));
    Open(OpenMode::kReadOnly)->GetTask(1).value();
    EXPECT_TRUE(IsSharedLockHeld(fd)) << "opening for reading dropped the writer's locks";
    EXPECT_FALSE(OpenSqliteStore(path_, OpenMode::kReadWrite).ok());
    EXPECT_TRUE(IsSharedLockHeld(fd)) << "a refused writer dropped the writer's locks";
  }
  EXPECT_FALSE(IsSharedLockHeld(fd));
  close(fd);
}

TEST_F(SqliteStoreTest, AFailedChangeLeavesTheOthersOfItsBatch) {
  const auto store = Open(OpenMode::kCreate);
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  std::vector<std::thread> threads;
  for (int n = 0; n < 8; ++n) {
    threads.emplace_back([&, n] {
      const bool is_good = n % 2 == 0;
      const auto rows =
          store->Propose({ExampleTrial(task, 0, n), ExampleTrial(is_good ? task : 99, 0, n + 100)});
      EXPECT_EQ(rows.ok(), is_good);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store->CountTrials(task, kSignature, Purpose::kSearch).value(), 8);
}

TEST_F(SqliteStoreTest, ChangesThatWaitTogetherShareACommit) {
  sqlite::CreateDatabaseFile(path_).IgnoreError();
  const auto db = sqlite::Connection::Open(path_, sqlite::Access::kWrite).value();
  sqlite::CommitQueue queue(db.get(), 100);
  constexpr int kThreads = 6;
  std::atomic<int> arrived = 0;
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n) {
    threads.emplace_back([&] {
      ++arrived;
      // The first change holds its batch open until all have come.
      EXPECT_TRUE(queue
                      .Commit({"test",
                               [&](sqlite::Connection&) {
                                 while (arrived < kThreads) std::this_thread::yield();
                                 return absl::OkStatus();
                               }})
                      .ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(queue.batches(), kThreads) << "a sync for each change";
}

TEST_F(SqliteStoreTest, OlderVersionIsMigratedByTheWriterOnly) {
  {
    const auto db = sqlite::Connection::Open(path_, sqlite::Access::kCreate).value();
    ASSERT_TRUE(
        db->Execute("PRAGMA application_id = " + std::to_string(sqlite::kApplicationId)).ok());
    ASSERT_TRUE(sqlite::Migrate(*db, 1).ok());
    ASSERT_TRUE(
        db->Execute("PRAGMA journal_mode = WAL; INSERT INTO texts VALUES (1, 'd', 'b')").ok());
    ASSERT_TRUE(db->Execute("DELETE FROM texts").ok());
  }
  const auto reader = OpenSqliteStore(path_, OpenMode::kReadOnly);
  EXPECT_TRUE(absl::IsFailedPrecondition(reader.status()));
  EXPECT_THAT(std::string(reader.status().message()), HasSubstr("hone db migrate"));
  const auto writer = Open(OpenMode::kReadWrite);
  EXPECT_THAT(writer->ListMisses("").value(), IsEmpty());
  EXPECT_TRUE(OpenSqliteStore(path_, OpenMode::kReadOnly).ok());
}

TEST_F(SqliteStoreTest, JobsOfAnOlderVersionAreKept) {
  {
    const auto db = sqlite::Connection::Open(path_, sqlite::Access::kCreate).value();
    ASSERT_TRUE(
        db->Execute("PRAGMA application_id = " + std::to_string(sqlite::kApplicationId)).ok());
    ASSERT_TRUE(sqlite::Migrate(*db, 2).ok());
    ASSERT_TRUE(db->Execute("PRAGMA journal_mode = WAL;"
                            "INSERT INTO jobs (client_id, model, target, seed, priority, "
                            "deadline_ns, search, owner, epoch, state, message) "
                            "VALUES ('client-1', 'resnet18', 'llvm', 1, 0, 0, '', '', 0, 1, '')")
                    .ok());
  }
  const auto store = Open(OpenMode::kReadWrite);
  const Job job = store->GetJob(1).value();
  EXPECT_EQ(job.client_id, "client-1");
  EXPECT_EQ(job.constant_bytes, 0) << "unknown";
  EXPECT_EQ(job.ran_ns, 0);
  EXPECT_FALSE(job.ends_early);
  EXPECT_EQ(job.elsewhere_ns, 0);
  EXPECT_TRUE(store->SetJobRan(1, 7).ok());
  EXPECT_EQ(store->GetJob(1)->ran_ns, 7);
}

// Two spellings of one config, as a search and a template had written them.
TEST_F(SqliteStoreTest, ConfigsOfAnOlderVersionBecomeCanonical) {
  const std::string by_name = R"({"strategy":"rows","tile_w":4})";
  const std::string otherwise = R"({"tile_w":4,"strategy":"rows"})";
  const auto insert_text = [](sqlite::Connection& db, int id, const std::string& text) {
    return db.Run("INSERT INTO texts VALUES (?, ?, ?)", id, Sha256Hex(text), text).ok();
  };
  const std::string rest = "'nest', 0, 0, NULL, 0, 0, 0, '')";
  {
    const auto db = sqlite::Connection::Open(path_, sqlite::Access::kCreate).value();
    ASSERT_TRUE(
        db->Execute("PRAGMA application_id = " + std::to_string(sqlite::kApplicationId)).ok());
    ASSERT_TRUE(sqlite::Migrate(*db, 3).ok());
    ASSERT_TRUE(db->Execute("PRAGMA journal_mode = WAL").ok());
    ASSERT_TRUE(insert_text(*db, 1, "workload") && insert_text(*db, 2, "NC->NC"));
    ASSERT_TRUE(insert_text(*db, 3, otherwise) && insert_text(*db, 4, by_name));
    ASSERT_TRUE(db->Execute("INSERT INTO tasks VALUES (1, 1, 'w', 'a', 1)").ok());
    for (const auto& [text, config] : {std::pair("3", otherwise), std::pair("4", by_name)}) {
      ASSERT_TRUE(db->Execute("INSERT INTO trials VALUES (NULL, 1, 2, " + std::string(text) +
                              ", '" + Sha256Hex(config) + "', " + rest)
                      .ok());
    }
    ASSERT_TRUE(db->Execute("INSERT INTO finals VALUES (1, 1, 2, NULL, 64, 64, 0, 0, 1, 1, 0);"
                            "INSERT INTO final_entries VALUES (1, 0, 3, 'n', 'a', x'', 1, 1)")
                    .ok());
  }
  const auto store = Open(OpenMode::kReadWrite);
  const std::vector<Trial> trials = store->OpenTrials(0).value();
  ASSERT_THAT(trials, SizeIs(2)) << "nothing is lost";
  for (const Trial& trial : trials) {
    EXPECT_EQ(trial.config, by_name);
    EXPECT_EQ(trial.config_digest, Sha256Hex(by_name));
  }
  EXPECT_NE(trials[0].round, trials[1].round);
  EXPECT_EQ(store->NewestFinal(1, "NC->NC").value()->entries.at(0).config, by_name);
}

TEST_F(SqliteStoreTest, AnOlderJobIsPrivateWhereItsDaemonsSocketWasInAFolderOfMkdtemp) {
  const std::vector<std::pair<std::string, bool>> owners = {
      {"unix:/tmp/hone-aB3dE6/socket", true},
      {"unix:/run/user/1000/hone-000000/socket", true},
      {"unix:/run/user/1000/hone/honed.sock", false},
      {"unix:/tmp/hone-1000/honed.sock", false},
      {"unix:/tmp/hone-123456/honed.sock", false},
      {"unix:/srv/farm/socket", false},
      {"", false},
  };
  {
    const auto db = sqlite::Connection::Open(path_, sqlite::Access::kCreate).value();
    ASSERT_TRUE(
        db->Execute("PRAGMA application_id = " + std::to_string(sqlite::kApplicationId)).ok());
    ASSERT_TRUE(sqlite::Migrate(*db, 3).ok());
    for (const auto& [owner, is_private] : owners) {
      ASSERT_TRUE(db->Execute("INSERT INTO jobs (client_id, model, target, seed, priority, "
                              "deadline_ns, search, owner, epoch, state, message) VALUES ('of " +
                              owner + "', 'm', 'llvm', 1, 0, 0, '', '" + owner + "', 1, 1, '')")
                      .ok());
    }
    ASSERT_TRUE(db->Execute("PRAGMA journal_mode = WAL").ok());
  }
  const auto store = Open(OpenMode::kReadWrite);
  for (size_t i = 0; i < owners.size(); ++i) {
    EXPECT_EQ(store->GetJob(static_cast<int64_t>(i) + 1)->is_private, owners[i].second)
        << owners[i].first;
  }
}

TEST_F(SqliteStoreTest, CheckNamesWhatIsBroken) {
  {
    const auto store = Open(OpenMode::kCreate);
    const int64_t task = store->EnsureTask(ExampleTask()).value();
    store->Propose({ExampleTrial(task, 0, 1), ExampleTrial(task, 0, 2)}).value();
  }
  {
    const auto db = sqlite::Connection::Open(path_, sqlite::Access::kWrite).value();
    ASSERT_TRUE(db->Execute("PRAGMA foreign_keys = OFF;"
                            "UPDATE trials SET state = 2, fence = 9, attempt = 1 WHERE id = 1;"
                            "UPDATE texts SET body = 'else' WHERE id = 1;"
                            "UPDATE trials SET job = 77 WHERE id = 2")
                    .ok());
  }
  const auto complaints = Open(OpenMode::kReadOnly)->Check().value();
  EXPECT_THAT(complaints, Contains("trial 1 is settled and has no record"));
  EXPECT_THAT(complaints, Contains("fence 9 is above the fence counter"));
  EXPECT_THAT(complaints, Contains("text 1 does not have its key"));
  EXPECT_THAT(complaints, Contains("row 2 of trials refers to a row of jobs that is not there"));
}

TEST_F(SqliteStoreTest, RecordsAndEventsAreAppendOnly) {
  {
    const auto store = Open(OpenMode::kCreate);
    const int64_t task = store->EnsureTask(ExampleTask()).value();
    const int64_t job = store->SubmitJob(ExampleJob(task)).value().id;
    const int64_t trial = store->Propose({ExampleTrial(task, job)}).value().at(0).id;
    store->Settle(store->Lease(trial, "w").value().fence, ExampleRecord(trial)).value();
  }
  const auto db = sqlite::Connection::Open(path_, sqlite::Access::kWrite).value();
  for (const char* sql : {"UPDATE records SET median_ns = 1", "DELETE FROM records",
                          "UPDATE events SET payload = ''"}) {
    EXPECT_THAT(std::string(db->Execute(sql).message()), HasSubstr("append-only")) << sql;
  }
  EXPECT_THAT(std::string(db->Execute("DELETE FROM events").message()),
              HasSubstr("the last event of a job stays"));
}

TEST_F(SqliteStoreTest, CountsWhatItCommits) {
  const auto store = Open(OpenMode::kCreate);
  const CommitTotals before = store->Commits();
  ASSERT_TRUE(store->EnsureTask(ExampleTask()).ok());
  EXPECT_FALSE(store->SetJobState(99, JobState::kDone, "").ok());
  const CommitTotals after = store->Commits();
  EXPECT_EQ(after.changes - before.changes, 2u);
  EXPECT_EQ(after.failed, 0u) << "what is refused is no failure";
  EXPECT_EQ(after.seconds.count - before.seconds.count, 2u);
  EXPECT_GT(after.seconds.sum, before.seconds.sum);
}

TEST_F(SqliteStoreTest, WritesAreSyncedInWalMode) {
  Open(OpenMode::kCreate).reset();
  const auto db = sqlite::Connection::Open(path_, sqlite::Access::kWrite).value();
  EXPECT_EQ(db->Integer("PRAGMA synchronous").value(), 2) << "FULL";
  EXPECT_EQ(db->Integer("PRAGMA foreign_keys").value(), 1);
  EXPECT_EQ(db->Integer("PRAGMA application_id").value(), int64_t{sqlite::kApplicationId});
  auto mode = db->Prepare("PRAGMA journal_mode").value();
  ASSERT_TRUE(mode.Step().value());
  EXPECT_EQ(mode.Text(0), "wal");
}

TEST(DefaultPathTest, FollowsXdg) {
  setenv("HOME", "/home/somebody", 1);
  unsetenv("XDG_DATA_HOME");
  EXPECT_EQ(DefaultPath(), "/home/somebody/.local/share/hone/hone.db");
  setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(DefaultPath(), "/data/hone/hone.db");
  setenv("XDG_DATA_HOME", "relative", 1);
  EXPECT_EQ(DefaultPath(), "/home/somebody/.local/share/hone/hone.db") << "as XDG says";
}

}  // namespace
}  // namespace hone::tuning_db
