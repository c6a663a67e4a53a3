// Jobs as the database's file has them: where no service could tell.
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

  // All jobs ever, oldest first, without their tasks' texts.
  absl::StatusOr<std::vector<v1::JobInfo>> List();
  absl::StatusOr<v1::JobInfo> Get(int64_t job);

 private:
  StoredJobs(std::unique_ptr<tuning_db::Store> store, bool has_client)
      : store_(std::move(store)),
        reporter_(std::make_unique<tuner::JobReporter>(store_.get())),
        has_client_(has_client) {}
  absl::StatusOr<v1::JobInfo> Report(tuning_db::Job job, tuner::JobReporter::Spec detail);

  std::unique_ptr<tuning_db::Store> store_;
  std::unique_ptr<tuner::JobReporter> reporter_;
  bool has_client_;  // somebody runs private jobs now
};

// Cancels a job that nobody works on. kFailedPrecondition where it has ended, or somebody has the
// database.
absl::Status CancelStored(const std::string& database, int64_t job);

}  // namespace hone::cli

#endif  // HONE_CLI_STORED_JOBS_H_
