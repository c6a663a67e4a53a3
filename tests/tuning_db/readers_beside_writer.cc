#include "tests/tuning_db/readers_beside_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/temp_folder.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

constexpr int kReaders = 32;
constexpr int kBatch = 20;
constexpr int64_t kPage = 50;

void SettleBatch(Store& store, int64_t task, int64_t job, int first) {
  std::vector<Trial> wanted;
  for (int n = first; n < first + kBatch; ++n) wanted.push_back(ExampleTrial(task, job, n));
  const std::vector<Trial> trials = store.Propose(wanted).value();
  std::vector<LeaseRequest> requests;
  for (const Trial& trial : trials) requests.push_back({.trial = trial.id, .worker = "w"});
  std::promise<TrialStore::LeaseAnswers> leased;
  ASSERT_TRUE(
      store.LeaseMany(requests, [&](auto answers) { leased.set_value(std::move(answers)); }).ok());
  std::vector<Settlement> settlements;
  const TrialStore::LeaseAnswers leases = leased.get_future().get();
  for (const auto& lease : leases) {
    settlements.push_back({.fence = lease->fence, .record = ExampleRecord(lease->id)});
  }
  std::promise<TrialStore::SettleAnswers> settled;
  ASSERT_TRUE(
      store.SettleMany(settlements, [&](auto answers) { settled.set_value(std::move(answers)); })
          .ok());
  const TrialStore::SettleAnswers answers = settled.get_future().get();
  for (const auto& answer : answers) ASSERT_EQ(answer.value(), SettleResult::kSettled);
}

// One statement is one snapshot: what tables say in it must agree.
void ExpectTablesAgree(const Counts& counts, int64_t& seen) {
  const auto& [records, settled, progress, events, leases, leased] = counts;
  EXPECT_EQ(settled, records) << "settled trials";
  EXPECT_EQ(progress, records) << "progress of the task";
  EXPECT_EQ(events, records) << "events of the job";
  EXPECT_EQ(leases, leased) << "leases of leased trials";
  EXPECT_GE(records, seen) << "older than what was seen before";
  seen = records;
}

void ExpectNewestPageIsSound(Store& store) {
  const RecordPage page = store.ListRecords({}, Order::kNewestFirst, "", kPage).value();
  for (size_t i = 0; i < page.records.size(); ++i) {
    const Record& record = page.records[i];
    EXPECT_EQ(record.of_trial.state, TrialState::kSettled);
    EXPECT_EQ(record.samples_ns, ExampleRecord(0).samples_ns);
    if (i > 0) EXPECT_EQ(record.id, page.records[i - 1].id - 1);
  }
  const TaskProgress progress = store.Progress(1).value().at(0);
  EXPECT_EQ(progress.trials, progress.job_trials) << "its only job";
}

}  // namespace

void ExpectReadersSeeSoundStates(const ReadDatabase& database, std::chrono::seconds length) {
  const auto store = database.open(OpenMode::kCreate);
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  const int64_t job = store->SubmitJob(ExampleJob(task)).value().id;
  std::atomic<bool> is_over = false;
  std::atomic<int64_t> rounds = 0;
  std::vector<std::thread> readers;
  for (int n = 0; n < kReaders; ++n) {
    readers.emplace_back([&] {
      const auto reader = database.open(OpenMode::kReadOnly);
      const auto look = database.look();
      for (int64_t seen = 0; !is_over; ++rounds) {
        ExpectTablesAgree(look(), seen);
        ExpectNewestPageIsSound(*reader);
      }
    });
  }
  const auto end = std::chrono::steady_clock::now() + length;
  int trials = 0;
  while (std::chrono::steady_clock::now() < end && !testing::Test::HasFatalFailure()) {
    SettleBatch(*store, task, job, trials);
    trials += kBatch;
  }
  is_over = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(trials, 0);
  EXPECT_GT(rounds, kReaders);
  EXPECT_THAT(store->Check().value(), testing::IsEmpty());
}

void ExpectReadersOfSqliteSeeSoundStates(std::chrono::seconds length) {
  const TempFolder folder;
  const std::string path = folder / "hone.db";
  ReadDatabase database;
  database.open = [&](OpenMode mode) { return OpenSqliteStore(path, mode).value(); };
  database.look = [&] {
    std::shared_ptr<sqlite::Connection> db =
        sqlite::Connection::Open(path, sqlite::Access::kRead).value();
    return [db] {
      auto query = db->Prepare(kCounts).value();
      EXPECT_TRUE(query.Step().value());
      Counts counts = {};
      for (int i = 0; i < static_cast<int>(counts.size()); ++i) {
        counts[static_cast<size_t>(i)] = query.Integer(i);
      }
      return counts;
    };
  };
  ExpectReadersSeeSoundStates(database, length);
}

}  // namespace hone::tuning_db
