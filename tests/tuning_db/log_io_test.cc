#include "tuning_db/log_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "absl/strings/str_split.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/expect_record.h"

namespace hone::tuning_db {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void Settle(Store& store, int64_t task, int config, Record record) {
  const int64_t id = store.Propose({ExampleTrial(task, 0, config)}).value().at(0).id;
  record.trial = id;
  store.Settle(store.Lease(id, "w").value().fence, record).value();
}

std::string Export(Store& store, const RecordFilter& filter = {}) {
  std::ostringstream out;
  EXPECT_TRUE(ExportLog(store, filter, out).ok());
  return out.str();
}

std::unique_ptr<Store> ExampleStore() {
  auto store = MakeMemoryStore();
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  Settle(*store, task, 1, ExampleRecord(0, 1000.0 / 3));
  Record wrong = ExampleRecord(0, 0);
  wrong.outcome = Outcome::kWrongOutput;
  wrong.message = "found \"nan\"\nat 3";
  wrong.samples_ns.clear();
  wrong.error_ratio = std::numeric_limits<double>::infinity();
  Settle(*store, task, 2, wrong);
  store->AddFinal(ExampleFinal(task, 0)).value();
  return store;
}

TEST(LogIo, ImportGivesBackWhatWasExported) {
  const auto from = ExampleStore();
  const std::string log = Export(*from);
  const auto to = MakeMemoryStore();
  to->EnsureTask(ExampleTask(5)).value();  // so that ids differ
  std::istringstream in(log);
  const LogCounts counts = ImportLog(*to, in).value();
  EXPECT_EQ(counts.records, 2);
  EXPECT_EQ(counts.finals, 1);
  EXPECT_EQ(counts.known, 0);
  EXPECT_EQ(Export(*to), log) << "every figure, bit for bit";
  EXPECT_THAT(to->OpenTrials(0).value(), IsEmpty());
}

TEST(LogIo, ARetractionTakesTheFinalAlsoWhereBothWereImported) {
  const auto from = MakeMemoryStore();
  const int64_t task = from->EnsureTask(ExampleTask()).value();
  Trial wanted = ExampleTrial(task, 0);
  wanted.purpose = Purpose::kConfirm;
  const int64_t trial = from->Propose({wanted}).value().at(0).id;
  Record record = ExampleRecord(trial);
  Final final = ExampleFinal(task, 0);
  record.wall_time_ns = final.wall_time_ns;  // as they are settled together
  ASSERT_TRUE(from->SettleFinal(from->Lease(trial, "w").value().fence, record, final).ok());
  const auto to = MakeMemoryStore();
  const std::string log = Export(*from);
  std::istringstream in(log);
  ASSERT_TRUE(ImportLog(*to, in).ok());
  ASSERT_TRUE(to->NewestFinal(1, kSignature).value().has_value());
  ASSERT_TRUE(to->Retract(1, "the device lies").ok());
  EXPECT_FALSE(to->NewestFinal(1, kSignature).value().has_value());
  std::istringstream again(log);
  EXPECT_EQ(ImportLog(*to, again)->finals, 0);
  EXPECT_FALSE(to->NewestFinal(1, kSignature).value().has_value()) << "it is retracted here";
}

// Each field has a value that no other has, and not its default.
Record RecordOfDistinctFields() {
  Record record = ExampleRecord(0, 1234.5);
  record.message = "a message";
  record.calibrator_ns = 1.25;
  record.anchor_ns = 2.5;
  record.error_ratio = 0.125;
  record.artifact_digest = "an artifact";
  record.toolchain = "a toolchain";
  record.device = "a device";
  record.regime = "cold_constants";
  record.worker = "a worker";
  record.wall_time_ns = 987;
  return record;
}

TEST(LogIo, EveryFieldOfARecordIsCarried) {
  const auto from = MakeMemoryStore();
  Trial trial = ExampleTrial(from->EnsureTask(ExampleTask()).value(), 0, 7);
  trial.purpose = Purpose::kRerun;
  trial.round = 3;
  const Record record = RecordOfDistinctFields();
  from->Import(trial, record).value();
  const auto to = MakeMemoryStore();
  std::istringstream in(Export(*from));
  ASSERT_TRUE(ImportLog(*to, in).ok());
  const Record read = to->Records({}).value().at(0);
  ExpectSameMeasurement(read, record);
  EXPECT_EQ(read.of_trial.signature, trial.signature);
  EXPECT_EQ(read.of_trial.config, trial.config);
  EXPECT_EQ(read.of_trial.config_digest, trial.config_digest);
  EXPECT_EQ(read.of_trial.nest_digest, trial.nest_digest);
  EXPECT_EQ(read.of_trial.purpose, trial.purpose);
  EXPECT_EQ(read.of_trial.round, trial.round);
}

// Logs of before have knobs in the order in which code set them.
TEST(LogIo, ConfigsAreReadInTheirCanonicalForm) {
  const auto from = MakeMemoryStore();
  const std::string spelling = R"({"tile_w":4,"strategy":"rows"})";
  Trial trial = ExampleTrial(from->EnsureTask(ExampleTask()).value(), 0);
  trial.config = spelling;
  trial.config_digest = Sha256Hex(spelling);
  from->Import(trial, ExampleRecord(0)).value();
  Final final = ExampleFinal(trial.task, 0);
  for (FinalEntry& entry : final.entries) entry.config = spelling;
  from->AddFinal(final).value();
  const auto to = MakeMemoryStore();
  for (const int64_t known : {0, 2}) {
    std::istringstream in(Export(*from));
    const auto counts = ImportLog(*to, in);
    ASSERT_TRUE(counts.ok()) << counts.status();
    EXPECT_EQ(counts->known, known);
  }
  const std::string canonical = R"({"strategy":"rows","tile_w":4})";
  const Record read = to->Records({}).value().at(0);
  EXPECT_EQ(read.of_trial.config, canonical);
  EXPECT_EQ(read.of_trial.config_digest, Sha256Hex(canonical));
  EXPECT_EQ(to->NewestFinal(1, kSignature).value()->entries.at(0).config, canonical);
}

// A final has NaN for a round that one of its entries has no time in.
TEST(LogIo, RoundsWithoutATimeAreCarried) {
  const auto from = MakeMemoryStore();
  const int64_t task = from->EnsureTask(ExampleTask()).value();
  from->Import(ExampleTrial(task, 0), ExampleRecord(0)).value();
  Final final = ExampleFinal(task, 0);
  final.entries[1].round_ns = {std::nan(""), 1002};
  from->AddFinal(final).value();
  const auto to = MakeMemoryStore();
  std::istringstream in(Export(*from));
  EXPECT_EQ(ImportLog(*to, in)->finals, 1);
  const FinalEntry read = to->NewestFinal(1, kSignature).value()->entries.at(1);
  EXPECT_TRUE(std::isnan(read.round_ns.at(0)));
  EXPECT_EQ(read.round_ns.at(1), 1002);
}

TEST(LogIo, ImportTwiceAddsNothing) {
  const auto store = ExampleStore();
  const std::string log = Export(*store);
  std::istringstream in(log);
  EXPECT_EQ(ImportLog(*store, in)->known, 3);
  EXPECT_THAT(store->Records({}).value(), SizeIs(2));
}

// Its lines in any order: each database has its own order of commits.
std::vector<std::string> LinesOf(Store& store) {
  std::vector<std::string> lines =
      absl::StrSplit(Export(store, {.with_retracted = true}), '\n', absl::SkipEmpty());
  std::ranges::sort(lines);
  return lines;
}

void Import(Store& into, Store& from) {
  std::istringstream log(Export(from, {.with_retracted = true}));
  ASSERT_TRUE(ImportLog(into, log).ok());
}

TEST(LogIo, TwoThatImportEachOtherEndAlike) {
  const auto one = ExampleStore();
  const auto other = MakeMemoryStore();
  Import(*other, *one);
  const int64_t task = other->EnsureTask(ExampleTask(1)).value();
  Settle(*other, task, 7, ExampleRecord(0, 7));
  Settle(*one, one->EnsureTask(ExampleTask(2)).value(), 8, ExampleRecord(0, 8));
  Final newer = ExampleFinal(1, 0);
  newer.wall_time_ns += 1;
  ASSERT_TRUE(other->AddFinal(newer).ok());
  ASSERT_TRUE(one->Retract(1, "the device lies").ok());
  Import(*other, *one);
  Import(*one, *other);
  EXPECT_EQ(LinesOf(*one), LinesOf(*other));
  EXPECT_THAT(LinesOf(*one), SizeIs(1 + 4 + 1));
  EXPECT_THAT(other->Records({}).value(), SizeIs(3)) << "what was retracted there, is here";
  const std::vector<std::string> lines = LinesOf(*one);
  Import(*one, *other);
  EXPECT_EQ(LinesOf(*one), lines);
}

TEST(LogIo, PagesAreLogsThatMakeTheWhole) {
  const auto store = ExampleStore();
  const auto copy = MakeMemoryStore();
  LogPage page;
  int pages = 0;
  while (!page.is_last) {
    page = ExportLogPage(*store, {}, page.next, 1).value();
    std::istringstream log(page.lines);
    ASSERT_TRUE(ImportLog(*copy, log).ok());
    ++pages;
  }
  EXPECT_GE(pages, 3);
  EXPECT_EQ(Export(*copy), Export(*store));
  EXPECT_TRUE(absl::IsInvalidArgument(ExportLogPage(*store, {}, "x", 1).status()));
}

TEST(LogIo, APageEndsWhereItIsLong) {
  const auto store = MakeMemoryStore();
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  Record record = ExampleRecord(0);
  record.message = std::string(kLogPageBytes / 2, 'm');
  for (int n = 0; n < 4; ++n) store->Import(ExampleTrial(task, 0, n), record).value();
  const LogPage page = ExportLogPage(*store, {}, "", 1000).value();
  EXPECT_EQ(page.counts.records, 2);
  EXPECT_EQ(ExportLogPage(*store, {}, page.next, 1000)->counts.records, 2);
}

TEST(LogIo, TrialsOfARunningJobAreLeftToIt) {
  const std::string log = Export(*ExampleStore());
  const auto store = MakeMemoryStore();
  const int64_t task = store->EnsureTask(ExampleTask()).value();
  const int64_t job = store->SubmitJob(ExampleJob(task)).value().id;
  store->Propose({ExampleTrial(task, job, 1)}).value();
  std::istringstream in(log);
  EXPECT_EQ(ImportLog(*store, in)->records, 1);
  EXPECT_THAT(store->OpenTrials(job).value(), SizeIs(1));
}

TEST(LogIo, ExportFollowsTheFilter) {
  const std::string log = Export(*ExampleStore(), {.outcome = Outcome::kOk});
  EXPECT_THAT(log, HasSubstr(R"("outcome":"ok")"));
  EXPECT_THAT(log, testing::Not(HasSubstr("wrong_output")));
}

TEST(LogIo, BadLineIsNamedAndNothingIsAdded) {
  const std::string log = Export(*ExampleStore());
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = log;
    const size_t at = text.rfind(from);
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "line 1: not a tuning log"},
      {"{}\n", "line 1: not a tuning log"},
      {log + "{\"kind\"", "line 5: not a JSON object"},
      {log + "[]\n", "line 5: not a JSON object"},
      {replaced("wrong_output", "wrong"), "line 3: \"outcome\""},
      {replaced("\"samples_ns\":[", "\"samples_ns\":[\"x\""), "line 3: \"samples_ns\""},
      {replaced("\"samples_ns\":[", "\"samples_ns\":[-1"), "line 3: \"samples_ns\""},
      {replaced("\"median_ns\":", "\"median_ns\":-"), "line 4: \"entries\""},
      {replaced("\"regime\":\"warm", "\"regime\":\"warm\\u0000"),
       "line 3: expected a regime in UTF-8"},
      {replaced("nn.relu", "nn.gelu"), "line 4: \"workload_digest\" has to be the SHA-256"},
      {replaced("\"winner\":1", "\"winner\":2"), "line 4: \"winner\""},
      {replaced("\"round_ns\":", "\"no\":"), "line 4: \"entries\""},
      {replaced("\"kind\":\"final\"", "\"kind\":\"else\""), "line 4: \"kind\""}};
  for (const auto& [text, words] : cases) {
    const auto store = MakeMemoryStore();
    std::istringstream in(text);
    const auto counts = ImportLog(*store, in);
    EXPECT_TRUE(absl::IsInvalidArgument(counts.status())) << words;
    EXPECT_THAT(std::string(counts.status().message()), HasSubstr(words));
    EXPECT_THAT(store->Records({}).value(), IsEmpty());
  }
}

}  // namespace
}  // namespace hone::tuning_db
