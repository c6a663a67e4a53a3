#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/postgres_fixture.h"
#include "tests/tuning_db/postgres_server.h"
#include "tuning_db/postgres/connection.h"
#include "tuning_db/postgres/schema.h"

namespace hone::tuning_db {
namespace {

class OnServer final : public StoreFixture {
 public:
  OnServer() {
    if (PostgresServer::Shared() != nullptr) PostgresServer::Shared()->Clear();
  }
  std::unique_ptr<Store> Open() override {
    if (PostgresServer::Shared() == nullptr) return nullptr;
    auto store = OpenPostgresStore(PostgresServer::Shared()->Address(), OpenMode::kCreate);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  bool IsDurable() const override { return true; }
  std::string WhyNot() const override { return PostgresServer::WhyNot(); }
};

INSTANTIATE_TEST_SUITE_P(Postgres, Conformance,
                         testing::Values(StoreKind{"postgres",
                                                   [] { return std::make_unique<OnServer>(); }}),
                         [](const auto& info) { return info.param.name; });

class PostgresStoreTest : public PostgresFixture {
 protected:
  std::unique_ptr<Store> Open(OpenMode mode = OpenMode::kCreate) {
    return OpenPostgresStore(server_->Address(), mode).value();
  }
};

TEST_F(PostgresStoreTest, EachLostJobIsTakenByOneOfTheDaemonsThatWantIt) {
  constexpr int kJobs = 30;
  constexpr int kDaemons = 4;
  const auto store = Open();
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  for (int n = 0; n < kJobs; ++n) {
    ASSERT_TRUE(store->SubmitJob(ExampleJob(task, "job " + std::to_string(n))).ok());
  }
  std::mutex mutex;
  std::multiset<int64_t> taken;
  std::vector<std::thread> daemons;
  for (int n = 0; n < kDaemons; ++n) {
    daemons.emplace_back([&, n] {
      const auto own = Open();
      const Ownership self = own->BeginEpoch("daemon " + std::to_string(n), INT64_MAX / 4).value();
      const std::vector<Job> jobs = own->TakeJobs(self, INT64_MAX / 4).value();
      const std::lock_guard lock(mutex);
      for (const Job& job : jobs) taken.insert(job.id);
    });
  }
  for (std::thread& daemon : daemons) daemon.join();
  EXPECT_EQ(taken.size(), static_cast<size_t>(kJobs));
  EXPECT_EQ(std::set<int64_t>(taken.begin(), taken.end()).size(), static_cast<size_t>(kJobs));
}

TEST_F(PostgresStoreTest, OpeningMakesTablesOnlyWhenTold) {
  const std::string address = server_->Address();
  EXPECT_TRUE(absl::IsNotFound(OpenPostgresStore(address, OpenMode::kReadOnly).status()));
  EXPECT_TRUE(absl::IsNotFound(OpenPostgresStore(address, OpenMode::kReadWrite).status()));
  EXPECT_TRUE(Open() != nullptr);
  const auto reader = Open(OpenMode::kReadOnly);
  EXPECT_TRUE(absl::IsFailedPrecondition(reader->EnsureTask(ExampleTask()).status()));
  EXPECT_TRUE(
      absl::IsUnavailable(OpenPostgresStore(address + "-not", OpenMode::kReadOnly).status()));
}

TEST_F(PostgresStoreTest, AddressesWithAPasswordAreRefused) {
  for (const char* address : {"postgresql://hone:secret@localhost/hone",
                              "postgresql://hone@localhost/hone?password=secret",
                              "postgresql://hone@localhost/hone?no_such_option=1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(OpenPostgresStore(address, OpenMode::kReadOnly).status()));
  }
}

TEST_F(PostgresStoreTest, VersionsOfOthersAreRefused) {
  const auto left_behind = Open();
  server_->Ask("UPDATE hone.schema_version SET version = version + 1");
  EXPECT_TRUE(absl::IsFailedPrecondition(left_behind->EnsureTask(ExampleTask()).status()));
  for (const OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite, OpenMode::kCreate}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(OpenPostgresStore(server_->Address(), mode).status()));
  }
}

TEST_F(PostgresStoreTest, AnOlderVersionIsMigratedByWritersOnly) {
  const auto db = postgres::Connection::Open(server_->Address()).value();
  ASSERT_TRUE(postgres::Migrate(*db, 1).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(
      OpenPostgresStore(server_->Address(), OpenMode::kReadOnly).status()));
  EXPECT_TRUE(OpenPostgresStore(server_->Address(), OpenMode::kReadWrite).ok());
  EXPECT_TRUE(OpenPostgresStore(server_->Address(), OpenMode::kReadOnly).ok());
}

// A role that may look reads everything, and the store does not try to write through it.
TEST_F(PostgresStoreTest, ARoleThatMayOnlyReadReads) {
  const auto store = Open();
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  SettleOne(*store, ExampleTrial(task, 0));
  server_->Ask("DROP ROLE IF EXISTS looker");
  server_->Ask("CREATE ROLE looker LOGIN");
  server_->Ask("GRANT USAGE ON SCHEMA hone TO looker");
  server_->Ask("GRANT SELECT ON ALL TABLES IN SCHEMA hone TO looker");
  std::string address = server_->Address();
  address.replace(address.find("hone@"), 5, "looker@");
  const auto looker = OpenPostgresStore(address, OpenMode::kReadOnly).value();
  EXPECT_EQ(looker->Records({}).value().size(), 1u);
  EXPECT_THAT(looker->Check().value(), testing::IsEmpty());
}

TEST_F(PostgresStoreTest, CheckNamesWhatIsBroken) {
  const auto store = Open();
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  SettleOne(*store, ExampleTrial(task, 0));
  server_->Ask("UPDATE hone.counters SET value = 7 WHERE name = 'fence'");
  server_->Ask("UPDATE hone.task_progress SET trials = 9");
  EXPECT_THAT(store->Check().value(),
              testing::ElementsAre("the fence counter 7 is not the number of leases",
                                   "2 rows of task_progress are not what the records give"));
}

// Another daemon may write for as long as it likes: who proposes does not wait for it.
TEST_F(PostgresStoreTest, AProposalForLaterReturnsWhileAnotherDaemonWrites) {
  const auto store = Open();
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  const auto other = postgres::Connection::Open(server_->Address()).value();
  ASSERT_TRUE(other->Execute(std::string("BEGIN; ") + postgres::kLockWriters).ok());
  std::promise<absl::StatusOr<std::vector<Trial>>> promise;
  auto answer = promise.get_future();
  ASSERT_TRUE(store
                  ->ProposeThen({}, {ExampleTrial(task, 0)},
                                [&](absl::StatusOr<std::vector<Trial>> rows) {
                                  promise.set_value(std::move(rows));
                                })
                  .ok());
  EXPECT_EQ(answer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  ASSERT_TRUE(other->Execute("ROLLBACK").ok());
  EXPECT_THAT(answer.get().value(), testing::SizeIs(1));
}

TEST_F(PostgresStoreTest, ChangesAreToldWhereTheProcessHadNoDescriptorLeft) {
  auto store = Open();
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::mutex mutex;
  std::condition_variable is_told;
  bool told = false;
  auto subscription = store->Subscribe([&](const Change&) {
    const std::lock_guard lock(mutex);
    told = true;
    is_told.notify_all();
  });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(store->SubmitJob(ExampleJob(task)).ok());
  {
    std::unique_lock lock(mutex);
    is_told.wait(lock, [&] { return told; });
  }
  subscription.reset();
  store.reset();  // ends, with all of its threads
}

TEST_F(PostgresStoreTest, AStepOfPruningRemovesItsEventsInOneStatement) {
  const auto store = Open();
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  for (const char* client : {"one", "other"}) {
    const int64_t job = store->SubmitJob(ExampleJob(task, client)).value().id;
    for (int n = 0; n < 5; ++n) ASSERT_TRUE(store->AppendEvent(job, "waiting", "{}").ok());
    ASSERT_TRUE(store->SetJobState(job, JobState::kDone, "").ok());
  }
  server_->Ask("CREATE TABLE hone.statements (rows bigint)");
  server_->Ask(
      "CREATE FUNCTION hone.count_statement() RETURNS trigger LANGUAGE plpgsql AS "
      "'BEGIN INSERT INTO hone.statements SELECT count(*) FROM gone; RETURN NULL; END'");
  server_->Ask(
      "CREATE TRIGGER counts AFTER DELETE ON hone.events REFERENCING OLD TABLE AS gone "
      "FOR EACH STATEMENT EXECUTE FUNCTION hone.count_statement()");
  const Pruned step = store->Prune(INT64_MAX, {}, 8).value();
  EXPECT_EQ(step.events, 7) << "the last of the first job stays";
  EXPECT_EQ(server_->Ask("SELECT string_agg(rows::text, ',') FROM hone.statements"), "7");
  EXPECT_EQ(store->Prune(INT64_MAX, step.next, 8)->events, 3);
  EXPECT_EQ(server_->Ask("SELECT count(*) FROM hone.events"), "2");
  EXPECT_THAT(store->Check().value(), testing::IsEmpty());
}

TEST_F(PostgresStoreTest, ABatchOfWhichManyAreRefusedIsRunOnceMore) {
  constexpr int kTrials = 100;
  const auto store = Open();
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  std::vector<Trial> wanted;
  for (int n = 0; n < kTrials; ++n) wanted.push_back(ExampleTrial(task, 0, n));
  const std::vector<Trial> trials = store->Propose(wanted).value();
  std::vector<Settlement> settlements;
  for (const Trial& trial : trials) {
    settlements.push_back({store->Lease(trial.id, "w").value().fence, ExampleRecord(trial.id)});
    // The server refuses it: it has no such outcome.
    if (trial.id % 2 == 0) settlements.back().record.outcome = static_cast<Outcome>(1 << 20);
  }
  const int before = std::stoi(server_->Ask("SELECT max(batch) FROM hone.writers"));
  std::promise<TrialStore::SettleAnswers> promise;
  ASSERT_TRUE(store
                  ->SettleMany(settlements,
                               [&](TrialStore::SettleAnswers answers) {
                                 promise.set_value(std::move(answers));
                               })
                  .ok());
  const auto answers = promise.get_future().get();
  for (size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(answers[i].ok(), trials[i].id % 2 != 0) << answers[i].status();
  }
  EXPECT_LE(std::stoi(server_->Ask("SELECT max(batch) FROM hone.writers")), before + 2);
  EXPECT_EQ(store->Records({}).value().size(), static_cast<size_t>(kTrials / 2));
  EXPECT_EQ(store->OpenTrials(0).value().size(), static_cast<size_t>(kTrials / 2));
  EXPECT_THAT(store->Check().value(), testing::IsEmpty());
}

}  // namespace
}  // namespace hone::tuning_db
