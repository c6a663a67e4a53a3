// Texts that no store takes, and messages that every store keeps as they are.
#include <future>

#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const std::string kNul("a\0b", 3);
// Characters of one to four bytes, among them the last before and the first after surrogates.
constexpr char kStrange[] = "\x7f \u00df \ud7ff \ue000 \uffff \U00010000 \U0010ffff";

std::vector<std::string> TextsOfNoStore() {
  return {kNul,
          "\xff",
          "cut \xc3",
          "\x80",
          "longer than needed \xc0\x80",
          "\xe0\x9f\xbf",
          "\xf0\x8f\xbf\xbf",
          "a surrogate \xed\xa0\x80",
          "beyond Unicode \xf4\x90\x80\x80",
          "\xf5\x80\x80\x80"};
}

// Every call that writes, with `text` in one place after the other. Its answers.
std::vector<absl::Status> WriteEverywhere(Store& store, const std::string& text) {
  const int64_t task = store.EnsureTask(ExampleTask()).value();
  const int64_t job = store.SubmitJob(ExampleJob(task, "job")).value().id;
  std::vector<absl::Status> answers;
  const auto with = [&](const auto& value, auto member) {
    auto changed = value;
    changed.*member = text;
    return changed;
  };
  answers.push_back(store.BeginEpoch(text, 1).status());
  for (const auto member : {&Task::workload, &Task::workload_digest, &Task::target}) {
    answers.push_back(store.EnsureTask(with(ExampleTask(), member)).status());
  }
  for (const auto member :
       {&Job::client_id, &Job::model, &Job::target, &Job::search, &Job::submitter, &Job::owner}) {
    answers.push_back(store.SubmitJob(with(ExampleJob(task, "new"), member)).status());
  }
  Job job_of_text = ExampleJob(task, "new");
  job_of_text.tasks[0].name = text;
  answers.push_back(store.SubmitJob(job_of_text).status());
  answers.push_back(store.AppendEvent(job, text, "{}").status());
  answers.push_back(store.AppendEvent(job, "waiting", text).status());
  for (const auto member : {&Trial::signature, &Trial::config, &Trial::nest_digest}) {
    const Trial trial = with(ExampleTrial(task, job, 7), member);
    answers.push_back(store.Propose({trial}).status());
    answers.push_back(store.Import(trial, ExampleRecord(0)).status());
  }
  const Trial trial = store.Propose({ExampleTrial(task, job, 1)}).value().at(0);
  answers.push_back(store.Lease({.trial = trial.id, .worker = text}).status());
  answers.push_back(store.Lease({.trial = trial.id, .worker = "w", .device = text}).status());
  const int64_t fence = store.Lease(trial.id, "w").value().fence;
  for (const auto member : {&Record::toolchain, &Record::device, &Record::regime, &Record::worker,
                            &Record::artifact_digest}) {
    answers.push_back(store.Settle(fence, with(ExampleRecord(trial.id), member)).status());
  }
  for (const auto member : {&Final::signature, &Final::toolchain, &Final::device}) {
    answers.push_back(store.AddFinal(with(ExampleFinal(task, job), member)).status());
  }
  for (const auto member : {&ModelFinal::skeleton, &ModelFinal::target, &ModelFinal::model}) {
    answers.push_back(store.AddModelFinal(with(ExampleModelFinal("s"), member)).status());
  }
  for (const auto member : {&Miss::workload, &Miss::signature, &Miss::model}) {
    answers.push_back(store.RecordMisses({with(Miss{.workload = "w",
                                                    .workload_digest = "d",
                                                    .signature = "s",
                                                    .target = "t",
                                                    .tier = "default",
                                                    .model = "m"},
                                               member)}));
  }
  answers.push_back(store.SetDeviceRest({text, "gpu", 1, 1, 1, ""}));
  answers.push_back(store.SetDeviceRest({"w", text, 1, 1, 1, ""}));
  answers.push_back(store.SetQuarantine({"w", text, "r", "b"}).status());
  answers.push_back(store.SetQuarantine({"w", "d", text, "b"}).status());
  answers.push_back(store.SetQuarantine({"w", "d", "r", text}).status());
  answers.push_back(store.SetQuarantine({"w" + text, "d", "r", "b"}).status());
  answers.push_back(store.EndQuarantines("w", text).status());
  answers.push_back(store.ListJobs({.submitter = text}, Order::kOldestFirst, "", 0).status());
  answers.push_back(store.Records({.workload_substring = text}).status());
  answers.push_back(store.Finals({.workload_substring = text}).status());
  return answers;
}

TEST_P(Conformance, TextsThatOneStoreCannotKeepAreRefusedByAll) {
  for (const std::string& text : TextsOfNoStore()) {
    const std::vector<absl::Status> answers = WriteEverywhere(*store_, text);
    for (size_t i = 0; i < answers.size(); ++i) {
      EXPECT_TRUE(absl::IsInvalidArgument(answers[i])) << "call " << i << ": " << answers[i];
    }
    EXPECT_THAT(answers.back().ToString(), testing::HasSubstr("UTF-8"));
  }
  EXPECT_THAT(store_->Jobs().value(), SizeIs(1));
  EXPECT_THAT(store_->Records({}).value(), IsEmpty());
  EXPECT_THAT(store_->OpenTrials(0).value(), SizeIs(1));
  EXPECT_THAT(store_->ListDeviceRests().value(), IsEmpty());
  EXPECT_THAT(store_->ListMisses("").value(), IsEmpty());
  EXPECT_THAT(store_->Finals({}).value(), IsEmpty());
}

TEST_P(Conformance, ARefusedTextLeavesTheOthersOfItsBatch) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const auto trials = store_->Propose({ExampleTrial(task, 0, 1), ExampleTrial(task, 0, 2)}).value();
  std::vector<Settlement> settlements;
  for (const Trial& trial : trials) {
    settlements.push_back({store_->Lease(trial.id, "w").value().fence, ExampleRecord(trial.id)});
  }
  settlements[0].record.toolchain = "gcc \xff";
  std::promise<TrialStore::SettleAnswers> promise;
  const auto done = [&](TrialStore::SettleAnswers answers) {
    promise.set_value(std::move(answers));
  };
  ASSERT_TRUE(store_->SettleMany(settlements, done).ok());
  const auto answers = promise.get_future().get();
  EXPECT_TRUE(absl::IsInvalidArgument(answers[0].status())) << answers[0].status();
  ASSERT_TRUE(answers[1].ok()) << answers[1].status();
  EXPECT_EQ(*answers[1], SettleResult::kSettled);
  EXPECT_THAT(store_->OpenTrials(0).value(), SizeIs(1));
}

TEST_P(Conformance, CharactersOfAllLanguagesAreKept) {
  Task task = ExampleTask();
  task.target = kStrange;
  const int64_t id = store_->EnsureTask(task).value();
  Job job = ExampleJob(id);
  job.model = job.submitter = kStrange;
  const int64_t job_id = store_->SubmitJob(job).value().id;
  ASSERT_TRUE(store_->SetDeviceRest({kStrange, kStrange, 1, 1, 1, kStrange}).ok());
  Reopen();
  EXPECT_EQ(store_->GetTask(id)->target, kStrange);
  EXPECT_EQ(store_->GetJob(job_id)->model, kStrange);
  EXPECT_THAT(store_->ListJobs({.submitter = kStrange}, Order::kOldestFirst, "", 0)->jobs,
              SizeIs(1));
  EXPECT_EQ(store_->ListDeviceRests()->at(0).worker, kStrange);
}

// What a worker says of a failure may hold whatever its candidate has written.
TEST_P(Conformance, MessagesAreKeptWhateverTheirBytes) {
  std::string message;
  for (const std::string& text : TextsOfNoStore()) message += text + " ";
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  const int64_t trial = store_->Propose({ExampleTrial(task, job)}).value().at(0).id;
  Record record = ExampleRecord(trial);
  record.outcome = Outcome::kCrash;
  record.message = message;
  ASSERT_TRUE(store_->Settle(store_->Lease(trial, "w").value().fence, record).ok());
  ASSERT_TRUE(store_->SetDeviceRest({"w", "gpu", 1, 1, 1, message}).ok());
  ASSERT_TRUE(store_->SetJobState(job, JobState::kFailed, message).ok());
  Reopen();
  EXPECT_EQ(store_->Records({})->at(0).message, message);
  EXPECT_EQ(store_->ListDeviceRests()->at(0).reason, message);
  EXPECT_EQ(store_->GetJob(job)->message, message);
  EXPECT_THAT(store_->ListEvents(job, 0, 0).value(), SizeIs(2));
}

}  // namespace
}  // namespace hone::tuning_db
