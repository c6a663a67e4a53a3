#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "tests/tuning_db/crash_harness.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/temp_folder.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr int kThreads = 4;
constexpr int kTrialsSettled = 24;

void InThreads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n) threads.emplace_back(body, n);
  for (std::thread& thread : threads) thread.join();
}

// Everybody proposes and measures everything, as after a split of the farm.
void CompeteForTrials(Store& store) {
  const int64_t task = store.EnsureTask(ExampleTask()).value();
  const int64_t job = store.SubmitJob(ExampleJob(task)).value().id;
  std::atomic<int> settled = 0;
  std::mutex mutex;
  std::set<int64_t> fences;
  std::atomic<int> leases = 0;
  InThreads([&](int thread) {
    for (int n = 0; n < kTrialsSettled; ++n) {
      const Trial trial =
          store.Propose({ExampleTrial(task, job, (n + thread) % kTrialsSettled)}).value()[0];
      const auto leased = store.Lease(trial.id, "worker");
      if (!leased.ok()) {
        EXPECT_TRUE(absl::IsFailedPrecondition(leased.status())) << leased.status();
        continue;  // somebody settled it
      }
      ++leases;
      {
        const std::lock_guard lock(mutex);
        fences.insert(leased->fence);
      }
      const auto result = store.Settle(leased->fence, ExampleRecord(trial.id));
      ASSERT_TRUE(result.ok()) << result.status();
      settled += *result == SettleResult::kSettled;
      EXPECT_TRUE(store.OpenTrials(job).ok());
      EXPECT_TRUE(store.ListRecords({.task = task}, Order::kOldestFirst, "", 3).ok());
    }
  });
  EXPECT_EQ(settled, kTrialsSettled);
  EXPECT_EQ(fences.size(), static_cast<size_t>(leases)) << "a fence was given twice";
  EXPECT_THAT(store.OpenTrials(0).value(), IsEmpty());
  EXPECT_THAT(store.Records({}).value(), SizeIs(kTrialsSettled));
  EXPECT_THAT(store.ListEvents(job, 0, 0).value(), SizeIs(kTrialsSettled));
  EXPECT_THAT(store.Check().value(), IsEmpty());
}

// Everybody imports the same log, and delivers the same final.
void CompeteForImportsAndAFinal(Store& store) {
  const int64_t task = store.EnsureTask(ExampleTask()).value();
  Trial confirm = ExampleTrial(task, 0);
  confirm.purpose = Purpose::kConfirm;
  const int64_t trial = store.Propose({confirm}).value()[0].id;
  const int64_t fence = store.Lease(trial, "worker").value().fence;
  std::atomic<int> imported = 0;
  std::atomic<int> finals = 0;
  InThreads([&](int thread) {
    for (int n = 0; n < kTrialsSettled; n += 3) {
      std::vector<Measured> batch;
      for (int i = 0; i < 5; ++i) {
        batch.push_back(
            {ExampleTrial(task, 0, (n + i + thread) % kTrialsSettled), ExampleRecord(0)});
      }
      const std::vector<SettleResult> results = store.ImportMany(batch).value();
      imported += static_cast<int>(std::ranges::count(results, SettleResult::kSettled));
    }
    finals += store.SettleFinal(fence, ExampleRecord(trial), ExampleFinal(task, 0)).value() ==
              SettleResult::kSettled;
  });
  EXPECT_EQ(imported, kTrialsSettled);
  EXPECT_EQ(finals, 1);
  EXPECT_EQ(store.NewestFinal(task, kSignature).value().value().id, 1);
  EXPECT_THAT(store.Records({}).value(), SizeIs(kTrialsSettled + 1));
  EXPECT_THAT(store.Check().value(), IsEmpty());
}

TEST(Concurrency, MemoryStoreImportsAndAddsFinalsOnce) {
  CompeteForImportsAndAFinal(*MakeMemoryStore());
}

TEST(Concurrency, SqliteStoreImportsAndAddsFinalsOnce) {
  const TempFolder folder;
  CompeteForImportsAndAFinal(*OpenSqliteStore(folder / "hone.db", OpenMode::kCreate).value());
}

TEST(Concurrency, MemoryStoreSettlesEachTrialOnce) { CompeteForTrials(*MakeMemoryStore()); }

TEST(Concurrency, SqliteStoreSettlesEachTrialOnce) {
  const TempFolder folder;
  CompeteForTrials(*OpenSqliteStore(folder / "hone.db", OpenMode::kCreate).value());
}

TEST(Concurrency, OneOfManyWritersOpensTheFile) {
  const TempFolder folder;
  std::mutex mutex;
  std::vector<std::unique_ptr<Store>> opened;
  InThreads([&](int) {
    auto store = OpenSqliteStore(folder / "hone.db", OpenMode::kCreate);
    if (!store.ok()) {
      EXPECT_TRUE(absl::IsUnavailable(store.status())) << store.status();
      return;
    }
    const std::lock_guard lock(mutex);
    opened.push_back(*std::move(store));
  });
  EXPECT_THAT(opened, SizeIs(1));
}

// Readers here, the writer in a process of its own.
TEST(Concurrency, ReadersOfAnotherProcessSeeSoundStatesOnly) {
  CrashRun writer(/*trials=*/40, /*threads=*/2);
  std::atomic<bool> is_over = false;
  std::thread writing([&] {
    EXPECT_EQ(writer.LiveUntil(""), CrashRun::End::kFinished);
    is_over = true;
  });
  InThreads([&](int) {
    size_t seen = 0;
    while (!is_over) {
      const auto store = OpenSqliteStore(writer.database(), OpenMode::kReadOnly);
      if (absl::IsNotFound(store.status())) continue;  // not made yet
      ASSERT_TRUE(store.ok()) << store.status();
      const auto records = (*store)->Records({});
      ASSERT_TRUE(records.ok()) << records.status();
      EXPECT_GE(records->size(), seen);
      seen = records->size();
      EXPECT_THAT((*store)->Check().value(), IsEmpty());
    }
  });
  writing.join();
  writer.ExpectNothingLost();
}

}  // namespace
}  // namespace hone::tuning_db
