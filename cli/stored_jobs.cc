#include "cli/stored_jobs.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "support/status.h"
#include "support/user_name.h"
#include "tuner/job_changes.h"
#include "tuner/request_digest.h"
#include "tuning_db/clone_job.h"
#include "tuning_db/end_jobs.h"
#include "tuning_db/pause_jobs.h"

namespace hone::cli {
namespace {

absl::Status HeldBy(const std::string& database, const tuning_db::Writer& writer, int64_t job) {
  return absl::FailedPreconditionError(fmt::format(
      "expected to write {}, found it in use by {}; end that, which cancels its own jobs, or "
      "change job {} when it has ended",
      database, Describe(writer), job));
}

absl::StatusOr<std::unique_ptr<tuning_db::Store>> OpenToWrite(const std::string& database,
                                                              int64_t job) {
  auto store = tuning_db::OpenStore(database, tuning_db::OpenMode::kReadWrite);
  if (!tuning_db::IsHeld(database, store.status())) return store;
  HONE_ASSIGN_OR_RETURN(const std::optional<tuning_db::Writer> writer,
                        tuning_db::WriterOf(database));
  return HeldBy(database, writer.value_or(tuning_db::Writer()), job);
}

}  // namespace

absl::StatusOr<StoredJobs> StoredJobs::Open(const std::string& database) {
  HONE_ASSIGN_OR_RETURN(const std::optional<tuning_db::Writer> writer,
                        tuning_db::WriterOf(database));
  HONE_ASSIGN_OR_RETURN(auto store, tuning_db::OpenStore(database, tuning_db::OpenMode::kReadOnly));
  return StoredJobs(std::move(store), writer && writer->client != 0);
}

absl::StatusOr<std::vector<v1::JobInfo>> StoredJobs::List(const v1::ListJobsRequest& wanted,
                                                          int64_t limit) {
  // What a job's state is told as is found when it is read: the store does not filter by it.
  HONE_ASSIGN_OR_RETURN(tuning_db::JobPage page,
                        store_->ListJobs({.submitter = wanted.submitter(),
                                          .target = wanted.target(),
                                          .model = wanted.model(),
                                          .submitted_since_ns = wanted.submitted_since_ns()},
                                         tuning_db::Order::kNewestFirst, "", 0));
  for (tuning_db::Job& job : page.jobs) SeeClient(job);
  HONE_ASSIGN_OR_RETURN(std::vector<v1::JobInfo> jobs, reporter_->Report(page.jobs));
  std::erase_if(jobs, [&](const v1::JobInfo& job) {
    return !wanted.states().empty() &&
           std::ranges::find(wanted.states(), job.state()) == wanted.states().end();
  });
  if (limit > 0 && static_cast<int64_t>(jobs.size()) > limit) {
    jobs.erase(jobs.begin() + limit, jobs.end());
  }
  return jobs;
}

absl::StatusOr<v1::JobInfo> StoredJobs::Get(int64_t id) {
  HONE_ASSIGN_OR_RETURN(tuning_db::Job job, store_->GetJob(id));
  SeeClient(job);
  return reporter_->Report(job, tuner::JobReporter::Spec::kWhole);
}

void StoredJobs::SeeClient(tuning_db::Job& job) const {
  // Nobody can go on with it, though nobody has written so yet (decision 0014).
  if (!job.is_private || has_client_ || HasEnded(job.state)) return;
  job.state = tuning_db::JobState::kCancelled;
  job.message = tuning_db::kClientHasEnded;
}

absl::Status CancelStored(const std::string& database, int64_t job) {
  HONE_ASSIGN_OR_RETURN(const auto store, OpenToWrite(database, job));
  return tuning_db::EndJob(*store, job, "cancelled");
}

absl::Status PauseStored(const std::string& database, int64_t job) {
  HONE_ASSIGN_OR_RETURN(const auto store, OpenToWrite(database, job));
  return tuning_db::PauseJob(*store, {}, job).status();
}

absl::Status ResumeStored(const std::string& database, int64_t job) {
  HONE_ASSIGN_OR_RETURN(const auto store, OpenToWrite(database, job));
  return tuning_db::ResumeJob(*store, {}, job).status();
}

absl::StatusOr<int64_t> CloneStored(const std::string& database,
                                    const v1::CloneJobRequest& request) {
  HONE_ASSIGN_OR_RETURN(const auto store, OpenToWrite(database, request.id()));
  HONE_ASSIGN_OR_RETURN(const tuning_db::Job of, store->GetJob(request.id()));
  tuning_db::Job clone = tuning_db::CloneOf(of, tuner::ChangesOf(request));
  clone.client_id = request.client_id();
  clone.request_digest = tuner::DigestOf(request);
  clone.submitter = UserName(geteuid());
  HONE_ASSIGN_OR_RETURN(const tuning_db::Job stored, store->SubmitJob(clone));
  return stored.id;
}

}  // namespace hone::cli
