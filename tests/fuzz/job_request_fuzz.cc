// What a client may ask of a daemon's job desk. Workloads have a target of their own (workload).
#include <google/protobuf/util/message_differencer.h>

#include "hone/v1/tuning.pb.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/text_messages.h"
#include "tests/tuner/fakes.h"
#include "tuner/service/job_desk.h"

namespace {

using namespace hone;
using namespace hone::tuner;

class Desk {
 public:
  Desk() : desk_(Parts()) {}

  absl::StatusOr<tuning_db::Job> Submit(const hone::v1::SubmitJobRequest& request) {
    return Ask([&](JobDesk::Done done) { desk_.Submit(request, submitter_, std::move(done)); });
  }
  absl::StatusOr<tuning_db::Job> Clone(const hone::v1::CloneJobRequest& request) {
    return Ask([&](JobDesk::Done done) { desk_.Clone(request, submitter_, std::move(done)); });
  }
  tuning_db::Store& store() { return *store_; }

 private:
  JobDesk::Parts Parts() {
    JobDesk::Parts parts;
    parts.store = store_.get();
    parts.lowerer = &lowerer_;
    parts.search = [this](const std::string& name) { return name == "fake" ? &search_ : nullptr; };
    parts.targets = [] { return std::vector<std::string>{kFakeTarget}; };
    parts.submitted = [](int64_t, const TaskContexts&) {};
    parts.executor = &executor_;
    parts.ownership = {"daemon", 1};
    parts.quota = {.most_jobs = 4, .most_tasks = 16, .most_bytes = 4096};
    return parts;
  }
  template <typename Call>
  absl::StatusOr<tuning_db::Job> Ask(const Call& call) {
    int answers = 0;
    absl::StatusOr<tuning_db::Job> answer = absl::UnknownError("no answer");
    call([&](absl::StatusOr<tuning_db::Job> job) {
      ++answers;
      answer = std::move(job);
    });
    while (executor_.RunOne()) {
    }
    fuzz::Require(answers == 1, "each request is answered once");
    return answer;
  }

  std::unique_ptr<tuning_db::Store> store_ = tuning_db::MakeMemoryStore();
  FakeLowerer lowerer_;
  FakeSearch search_;
  ManualExecutor executor_;
  const Submitter submitter_ = {.name = "ann", .has_quota = true};
  JobDesk desk_;
};

void Require(const tuning_db::Job& job) {
  fuzz::Require(!job.tasks.empty() && job.tasks.size() <= 16, "a job has tasks, within the quota");
  for (const tuning_db::JobTask& task : job.tasks) {
    fuzz::Require(task.trials >= 1 && task.trials <= kMostTrials, "a budget is within its bounds");
    fuzz::Require(task.weight > 0, "a kernel weighs something");
  }
  fuzz::Require(job.deadline_ns >= 0 && job.elsewhere_ns >= 0, "times are not below zero");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Desk desk;
  for (const std::string_view text : fuzz::MessageTexts(fuzz::Text(data, size))) {
    const auto request = fuzz::TextMessage<hone::v1::SubmitJobRequest>(text);
    const auto job = desk.Submit(request);
    if (job.ok()) {
      Require(*job);
      const auto again = desk.Submit(request);
      fuzz::Require(again.ok() && again->id == job->id, "the same again is the same job");
    }
    const auto clone = desk.Clone(fuzz::TextMessage<hone::v1::CloneJobRequest>(text));
    if (clone.ok()) Require(*clone);
  }
  fuzz::Require(desk.store().Jobs()->size() <= 4, "jobs are within the quota");
  return 0;
}
