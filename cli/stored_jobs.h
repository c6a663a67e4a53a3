// Reads and changes jobs in the database itself, for when no service runs that could be asked.
#ifndef HONE_CLI_STORED_JOBS_H_
#define HONE_CLI_STORED_JOBS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hone/v1/tuning.pb.h"
#include "tuner/job_reporter.h"
#include "tuning_db/store.h"

namespace hone::cli {

// Reads only. Not thread-safe.
class StoredJobs {
 public:
  // Errors are those of tuning_db::OpenStore.
  static absl::StatusOr<StoredJobs> Open(const std::string& database);

  // At most `limit` (0: all) jobs that match the filters of `wanted`, newest first, without their
  // tasks' texts.
  absl::StatusOr<std::vector<v1::JobInfo>> List(const v1::ListJobsRequest& wanted, int64_t limit);
  absl::StatusOr<v1::JobInfo> Get(int64_t job);

 private:
  StoredJobs(std::unique_ptr<tuning_db::Store> store, bool has_client)
      : store_(std::move(store)),
        reporter_(std::make_unique<tuner::JobReporter>(store_.get())),
        has_client_(has_client) {}
  // Shows an unfinished private job whose client has ended as cancelled.
  void SeeClient(tuning_db::Job& job) const;

  std::unique_ptr<tuning_db::Store> store_;
  std::unique_ptr<tuner::JobReporter> reporter_;
  bool has_client_;  // somebody runs private jobs now
};

// These change jobs while no daemon works on them. kFailedPrecondition if the job has ended, or
// another process has the database.
absl::Status CancelStored(const std::string& database, int64_t job);
absl::Status PauseStored(const std::string& database, int64_t job);
absl::Status ResumeStored(const std::string& database, int64_t job);
// Does what TuningService::CloneJob does. The new job is this user's, and is queued for the next
// honed.
absl::StatusOr<int64_t> CloneStored(const std::string& database,
                                    const v1::CloneJobRequest& request);

}  // namespace hone::cli

#endif  // HONE_CLI_STORED_JOBS_H_
