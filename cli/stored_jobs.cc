#include "cli/stored_jobs.h"

#include <optional>
#include <utility>

#include "fmt/format.h"
#include "support/status.h"
#include "tuning_db/end_jobs.h"

namespace hone::cli {
namespace {

absl::Status HeldBy(const std::string& database, const tuning_db::Writer& writer, int64_t job) {
  return absl::FailedPreconditionError(fmt::format(
      "expected to write {}, found it in use by {}; end that, which cancels its own jobs, or "
      "cancel job {} when it has ended",
      database, Describe(writer), job));
}

}  // namespace

absl::StatusOr<StoredJobs> StoredJobs::Open(const std::string& database) {
  HONE_ASSIGN_OR_RETURN(const std::optional<tuning_db::Writer> writer,
                        tuning_db::WriterOf(database));
  HONE_ASSIGN_OR_RETURN(auto store, tuning_db::OpenStore(database, tuning_db::OpenMode::kReadOnly));
  return StoredJobs(std::move(store), writer && writer->client != 0);
}

absl::StatusOr<std::vector<v1::JobInfo>> StoredJobs::List() {
  HONE_ASSIGN_OR_RETURN(std::vector<tuning_db::Job> jobs, store_->Jobs());
  std::vector<v1::JobInfo> reports;
  for (tuning_db::Job& job : jobs) {
    HONE_ASSIGN_OR_RETURN(reports.emplace_back(),
                          Report(std::move(job), tuner::JobReporter::Spec::kWithoutTasks));
  }
  return reports;
}

absl::StatusOr<v1::JobInfo> StoredJobs::Get(int64_t id) {
  HONE_ASSIGN_OR_RETURN(tuning_db::Job job, store_->GetJob(id));
  return Report(std::move(job), tuner::JobReporter::Spec::kWhole);
}

absl::StatusOr<v1::JobInfo> StoredJobs::Report(tuning_db::Job job,
                                               tuner::JobReporter::Spec detail) {
  // Nobody can go on with it, though nobody has written so yet (decision 0014).
  if (job.is_private && !has_client_ && !HasEnded(job.state)) {
    job.state = tuning_db::JobState::kCancelled;
    job.message = tuning_db::kClientHasEnded;
  }
  return reporter_->Report(job, detail);
}

absl::Status CancelStored(const std::string& database, int64_t job) {
  const auto store = tuning_db::OpenStore(database, tuning_db::OpenMode::kReadWrite);
  if (store.ok()) return tuning_db::EndJob(**store, job, "cancelled");
  if (!absl::IsUnavailable(store.status())) return store.status();
  HONE_ASSIGN_OR_RETURN(const std::optional<tuning_db::Writer> writer,
                        tuning_db::WriterOf(database));
  return HeldBy(database, writer.value_or(tuning_db::Writer()), job);
}

}  // namespace hone::cli
