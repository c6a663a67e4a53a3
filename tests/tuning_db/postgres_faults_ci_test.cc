// What a server adds to what can go wrong: other writers, lost connections, a server that dies.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "support/random.h"
#include "tests/tuning_db/crash_harness.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/postgres_fixture.h"
#include "tests/tuning_db/postgres_readers.h"
#include "tuning_db/postgres/connection.h"
#include "tuning_db/postgres/schema.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

using std::chrono::milliseconds;
using testing::IsEmpty;
using testing::SizeIs;

class PostgresFaults : public PostgresFixture {
 protected:
  std::unique_ptr<Store> Open(OpenMode mode = OpenMode::kCreate) {
    auto store = OpenPostgresStore(server_->Address(), mode);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  // Trials of one job, open.
  std::vector<Trial> Propose(Store& store, int count) {
    const int64_t task = store.EnsureTask(ExampleTask()).value();
    job_ = store.SubmitJob(ExampleJob(task)).value().id;
    std::vector<Trial> trials;
    for (int n = 0; n < count; ++n) trials.push_back(ExampleTrial(task, job_, n));
    return store.Propose(trials).value();
  }

  void ExpectSound(size_t records) {
    const auto store = Open();
    EXPECT_THAT(store->Check().value(), IsEmpty());
    EXPECT_THAT(store->Records({}).value(), SizeIs(records));
  }

  // Ends every connection but its own.
  void EndConnections() {
    server_->Ask(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = 'hone' AND pid <> pg_backend_pid()");
  }
  // Until the server says that somebody waits for this.
  void WaitForWait(const std::string& event) {
    const std::string query =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = 'hone' AND wait_event = '" + event +
        "'";
    for (int i = 0; i < 3000 && server_->Ask(query) == "0"; ++i) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    EXPECT_EQ(server_->Ask(query), "1") << event;
  }

  int64_t job_ = 0;
};

// Leases and settles; each is done once, or the test fails.
void LeaseAndSettle(Store& store, const Trial& trial) {
  const auto leased = store.Lease(trial.id, "worker");
  ASSERT_TRUE(leased.ok()) << leased.status();
  EXPECT_EQ(leased->attempt, 1) << "a lease whose commit was not answered was given twice";
  const auto settled =
      store.Settle(leased->fence, ExampleRecord(trial.id, 1000.0 + static_cast<double>(trial.id)));
  ASSERT_TRUE(settled.ok()) << settled.status();
  EXPECT_EQ(*settled, SettleResult::kSettled);
}

// `count` threads that share the trials, each with a store of its own, as daemons have.
void SettleInDaemons(const std::function<std::unique_ptr<Store>()>& open,
                     const std::vector<Trial>& trials, int count) {
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (int n = 0; n < count; ++n) {
    threads.emplace_back([&] {
      const auto store = open();
      for (size_t i; (i = next++) < trials.size();) LeaseAndSettle(*store, trials[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(PostgresFaults, AReaderOfPagesMissesNothingThatManyWritersCommit) {
  constexpr size_t kTrials = 400;
  const auto trials = Propose(*Open(), kTrials);
  std::thread writers([&] { SettleInDaemons([&] { return Open(); }, trials, 4); });
  const auto reader = Open(OpenMode::kReadOnly);
  std::vector<int64_t> seen;
  std::string cursor;
  while (seen.size() < kTrials) {
    const auto page = reader->ListRecords({}, Order::kOldestFirst, cursor, 3);
    ASSERT_TRUE(page.ok()) << page.status();
    for (const Record& record : page->records) seen.push_back(record.id);
    cursor = page->next;
    // What was behind the cursor at any moment is all that will ever be.
    if (page->records.empty() || page->is_last) {
      const auto all = reader->Records({}).value();
      const auto before = std::ranges::count_if(
          all, [&](const Record& r) { return !seen.empty() && r.id <= seen.back(); });
      ASSERT_EQ(static_cast<size_t>(before), seen.size()) << "one was committed too late";
    }
  }
  writers.join();
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), kTrials);
  ExpectSound(kTrials);
}

TEST_F(PostgresFaults, ACommitThatWasNotAnsweredIsNotDoneTwice) {
  const auto store = Open();
  const Trial trial = Propose(*store, 1).at(0);
  const int64_t fence = store->Lease(trial.id, "worker").value().fence;
  // Commits are on the disk then, and wait for a standby that never comes before they are answered.
  server_->Ask("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  server_->Ask("SELECT pg_reload_conf()");
  absl::StatusOr<SettleResult> settled = absl::UnknownError("");
  std::thread settling([&] { settled = store->Settle(fence, ExampleRecord(trial.id)); });
  WaitForWait("SyncRep");
  server_->Ask("ALTER SYSTEM RESET synchronous_standby_names");
  // The connection ends before the wait does.
  EndConnections();
  server_->Ask("SELECT pg_reload_conf()");
  settling.join();
  ASSERT_TRUE(settled.ok()) << settled.status();
  EXPECT_EQ(*settled, SettleResult::kSettled) << "it was done again, and found what it had done";
  ExpectSound(1);
}

TEST_F(PostgresFaults, AChangeWhoseConnectionEndsBeforeTheCommitIsDoneOnce) {
  const auto store = Open();
  const Trial trial = Propose(*store, 1).at(0);
  const int64_t fence = store->Lease(trial.id, "worker").value().fence;
  const auto other = postgres::Connection::Open(server_->Address()).value();
  ASSERT_TRUE(other->Execute(std::string("BEGIN; ") + postgres::kLockWriters).ok());
  absl::StatusOr<SettleResult> settled = absl::UnknownError("");
  std::thread settling([&] { settled = store->Settle(fence, ExampleRecord(trial.id)); });
  WaitForWait("advisory");
  EndConnections();
  settling.join();
  ASSERT_TRUE(settled.ok()) << settled.status();
  EXPECT_EQ(*settled, SettleResult::kSettled);
  ExpectSound(1);
}

TEST_F(PostgresFaults, ConnectionsThatEndAllTheTimeChangeNothing) {
  constexpr size_t kTrials = 150;
  const auto trials = Propose(*Open(), kTrials);
  std::atomic<bool> is_done = false;
  std::thread enemy([&] {
    Random random(4);
    while (!is_done) {
      EndConnections();
      std::this_thread::sleep_for(milliseconds(5 + random.Below(40)));
    }
  });
  std::vector<std::unique_ptr<Store>> stores;
  for (int n = 0; n < 3; ++n) {
    // To open a store is not tried again.
    auto store = OpenPostgresStore(server_->Address(), OpenMode::kCreate);
    while (!store.ok()) store = OpenPostgresStore(server_->Address(), OpenMode::kCreate);
    stores.push_back(*std::move(store));
  }
  std::mutex mutex;
  SettleInDaemons(
      [&] {
        const std::lock_guard lock(mutex);
        auto store = std::move(stores.back());
        stores.pop_back();
        return store;
      },
      trials, 3);
  is_done = true;
  enemy.join();
  ExpectSound(kTrials);
}

TEST_F(PostgresFaults, TwentyKillsOfTheServerLoseNothingThatWasAcknowledged) {
  constexpr int kKills = 20;
  const auto store = Open();
  const auto other = Open();
  const auto trials = Propose(*store, 4000);
  std::atomic<size_t> next = 0;
  std::atomic<bool> is_done = false;
  std::mutex mutex;
  std::set<int64_t> acknowledged;
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&, n] {
      for (size_t i; !is_done && (i = next++) < trials.size();) {
        LeaseAndSettle(n % 2 == 0 ? *store : *other, trials[i]);
        const std::lock_guard lock(mutex);
        acknowledged.insert(trials[i].id);
      }
    });
  }
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return acknowledged.size();
  };
  Random random(9);
  for (int kill = 0; kill < kKills; ++kill) {
    const size_t before = count();
    while (count() == before) std::this_thread::sleep_for(milliseconds(1));
    std::this_thread::sleep_for(milliseconds(random.Below(60)));
    server_->Kill();
    ASSERT_TRUE(server_->Restart());
  }
  is_done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(acknowledged.size(), static_cast<size_t>(kKills));
  std::set<int64_t> stored;
  const std::vector<Record> records = Open()->Records({}).value();
  for (const Record& record : records) stored.insert(record.trial);
  EXPECT_EQ(stored, acknowledged);
  ExpectSound(acknowledged.size());
}

// Patience is not begun anew by each that comes while the server is away.
TEST_F(PostgresFaults, WhatComesDuringAnOutageWaitsNoLongerThanWhatCameFirst) {
  constexpr std::chrono::seconds kPatience(2);
  constexpr int kChanges = 50;
  const auto store = OpenPostgresStore(server_->Address(), OpenMode::kCreate, Clock::Real(),
                                       std::chrono::nanoseconds(kPatience).count())
                         .value();
  server_->Kill();
  const auto begin = std::chrono::steady_clock::now();
  for (int n = 0; n < kChanges; ++n) {
    EXPECT_TRUE(absl::IsUnavailable(store->SetDeviceRest({"w", "cpu", n + 1, 0, 0, ""})));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kChanges / 2 * kPatience);
  ASSERT_TRUE(server_->Restart());
  EXPECT_TRUE(store->SetDeviceRest({"w", "cpu", 99, 0, 0, ""}).ok());
  EXPECT_EQ(store->ListDeviceRests().value().at(0).losses, 99);
}

TEST_F(PostgresFaults, ManyReadersBesideTheWriterSeeSoundStatesOnly) {
  ExpectReadersOfPostgresSeeSoundStates(server_->Address(), std::chrono::seconds(5));
}

// Each point once: SQLite's test takes each passage.
TEST_F(PostgresFaults, KilledAtEachPointNothingIsLostAndTheScriptEndsAlike) {
  constexpr int kTrials = 2;
  CrashRun undisturbed(kTrials, 1, server_->Address());
  const std::vector<std::string> passages = Passages(undisturbed.ListPoints());
  const std::string expected = undisturbed.Summary();
  for (int version = 1; version <= postgres::NewestVersion(); ++version) {
    for (const char* when : {"before", "before_commit", "after_commit"}) {
      EXPECT_THAT(passages, testing::Contains(fmt::format("migration.{}.{}:1", version, when)));
    }
  }
  for (const std::string& passage : passages) {
    if (!passage.ends_with(":1")) continue;
    SCOPED_TRACE(passage);
    server_->Clear();
    CrashRun run(kTrials, 1, server_->Address());
    ASSERT_EQ(run.LiveUntil(passage), CrashRun::End::kKilled);
    if (passage.starts_with("migration.")) {
      // It is done or not, and the next life goes on with it.
      const int number = std::stoi(passage.substr(std::string_view("migration.").size()));
      const auto db = postgres::Connection::Open(server_->Address()).value();
      EXPECT_EQ(postgres::VersionOf(*db).value().value_or(0),
                passage.find(".after_commit") != std::string::npos ? number : number - 1);
    } else {
      run.ExpectNothingLost();
    }
    ASSERT_EQ(run.LiveUntil(""), CrashRun::End::kFinished);
    run.ExpectNothingLost();
    ASSERT_EQ(run.Summary(), expected);
  }
}

}  // namespace
}  // namespace hone::tuning_db
