#include "tests/tuning_db/copy_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/escaping.h"
#include "tests/tuning_db/examples.h"
#include "tuning_db/postgres/copy_rows.h"
#include "tuning_db/sqlite/copy_rows.h"

namespace hone::tuning_db {
namespace {

// They are read and written by several pages.
constexpr int kRecords = 1200;

std::string TextOf(const CopiedValue& value, ColumnKind kind) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return std::to_string(kind == ColumnKind::kTime ? *number / 1000 : *number);
  }
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return absl::CEscape(*text);
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    return fmt::format("[{}]", fmt::join(*reals, " "));
  }
  return "nothing";
}

void FillTrials(Store& store, int64_t task, int64_t job) {
  Record failed = ExampleRecord(0, 0);
  failed.outcome = Outcome::kCrash;
  failed.message = "signal \xFF\x01";
  failed.samples_ns.clear();
  failed.error_ratio = std::nan("");
  failed.regime.clear();
  failed.artifact_digest = "none";
  std::vector<Measured> batch;
  for (int n = 0; n < kRecords; ++n) {
    const Record record = n % 7 == 0 ? failed : ExampleRecord(0, 1000.0 / 3 + n);
    batch.push_back({ExampleTrial(task, n % 2 == 0 ? job : 0, n), record});
  }
  ASSERT_TRUE(store.ImportMany(batch).ok());
  ASSERT_TRUE(store.Retract(5, "the device lies").ok());
  Trial confirm = ExampleTrial(task, job);
  confirm.purpose = Purpose::kConfirm;
  const int64_t trial = store.Propose({confirm}).value().at(0).id;
  Final final = ExampleFinal(task, job);
  final.entries[1].round_ns[0] = std::nan("");
  const Trial leased = store.Lease(trial, "worker-1").value();
  ASSERT_TRUE(store.SettleFinal(leased.fence, ExampleRecord(trial), final).ok());
  const auto open =
      store.Propose({ExampleTrial(task, job, 5001), ExampleTrial(task, job, 5002)}).value();
  LeaseRequest lease{.trial = open[0].id, .worker = "worker-2", .device = "cpu0", .limit_ns = 7};
  lease.assigned.candidates = {{"an artifact", "a toolchain"}};
  ASSERT_TRUE(store.Lease(lease).ok());
}

}  // namespace

void FillEachTable(Store& store) {
  const Task of_job = ExampleTask();
  const int64_t task = store.EnsureTask(of_job).value();
  const Ownership self = store.BeginEpoch("honed@host", 3'600'000'000'000).value();
  Job job = ExampleJob(task);
  job.owner = self.owner;
  job.epoch = self.epoch;
  const int64_t id = store.SubmitJob(job).value().id;
  ASSERT_TRUE(store.AppendEvent({}, id, "note", R"({"n":1})").ok());
  const int64_t ended = store.SubmitJob(ExampleJob(task, "ended")).value().id;
  ASSERT_TRUE(store.SetJobState(ended, JobState::kCancelled, "not needed").ok());
  ASSERT_NO_FATAL_FAILURE(FillTrials(store, task, id));
  ASSERT_TRUE(store.AddModelFinal(ExampleModelFinal("skeleton")).ok());
  ASSERT_TRUE(store
                  .RecordMisses({{of_job.workload, of_job.workload_digest, kSignature,
                                  of_job.target, "default", "resnet18", 3}})
                  .ok());
  ASSERT_TRUE(store
                  .AddGrant({.name = "ann", .role = "read", .token_digest = Sha256Hex("t")},
                            GrantStore::kRefuse)
                  .ok());
  ASSERT_TRUE(
      store.SetQuarantine({.worker = "w", .device = "", .reason = "why", .by = "ann"}).ok());
  ASSERT_TRUE(store
                  .SetDeviceRest({.worker = "w",
                                  .device = "cpu",
                                  .losses = 2,
                                  .rests = 1,
                                  .rest_ns = 3'600'000'000'000,
                                  .reason = "lost \xFE"})
                  .ok());
}

std::vector<std::string> RowsOf(RowSource& source) {
  std::vector<std::string> found;
  for (const CopiedTable& table : CopiedTables()) {
    EXPECT_TRUE(source.Begin(table).ok());
    const size_t before = found.size();
    for (;;) {
      const auto rows = source.Next();
      EXPECT_TRUE(rows.ok()) << rows.status();
      if (!rows.ok() || rows->empty()) break;
      for (const CopiedRow& row : *rows) {
        std::vector<std::string> values;
        for (size_t i = 0; i < row.size(); ++i) {
          values.push_back(TextOf(row[i], table.columns[i].kind));
        }
        found.push_back(fmt::format("{}: {}", table.name, fmt::join(values, ", ")));
      }
    }
    EXPECT_GT(found.size(), before) << table.name << " has no rows to be compared";
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> RowsOf(const std::string& database) {
  const auto source = IsPostgresAddress(database) ? postgres::OpenRowSource(database)
                                                  : sqlite::OpenRowSource(database);
  EXPECT_TRUE(source.ok()) << source.status();
  return source.ok() ? RowsOf(**source) : std::vector<std::string>();
}

void ExpectToGoOn(const std::string& database) {
  const auto store = OpenStore(database, OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_THAT((*store)->Check().value(), testing::IsEmpty());
  const std::vector<Trial> open = (*store)->OpenTrials(0).value();
  ASSERT_THAT(open, testing::SizeIs(2));
  const int64_t newest_fence = std::max(open[0].fence, open[1].fence);
  const Trial trial = (*store)->Propose({ExampleTrial(1, 0, 9000)}).value().at(0);
  EXPECT_GT(trial.id, open[1].id);
  EXPECT_GT((*store)->Lease(trial.id, "w")->fence, newest_fence);
  EXPECT_GT((*store)->SubmitJob(ExampleJob(1, "another"))->id, 1);
  EXPECT_THAT((*store)->Check().value(), testing::IsEmpty());
}

}  // namespace hone::tuning_db
