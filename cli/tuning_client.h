// The client side of TuningService.
#ifndef HONE_CLI_TUNING_CLIENT_H_
#define HONE_CLI_TUNING_CLIENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/tuning.pb.h"
#include "tuning_db/model_final.h"

namespace hone::cli {

// A new client id, by which its client names a job.
std::string NewClientId();

// Calls one daemon at `address` (as ReadServerAddress takes it). kUnavailable when it cannot be
// reached. Not thread-safe.
class TuningClient {
 public:
  explicit TuningClient(const std::string& address);
  ~TuningClient();

  // Submits a job under this client id, or if that is empty under a new one. Sending it again after
  // a lost answer, with the same id, starts nothing twice. `request_digest` says what was asked for
  // (hone.v1.SubmitJobRequest).
  absl::StatusOr<v1::JobInfo> Submit(const v1::JobSpec& spec, const std::string& client_id = "",
                                     const std::string& request_digest = "");
  // Clones a job. The request has a client id; sending it again with the same id starts nothing
  // twice.
  absl::StatusOr<v1::JobInfo> Clone(const v1::CloneJobRequest& request);
  absl::StatusOr<v1::GetJobResponse> Get(int64_t job);
  // At most `limit` (0: all) jobs that match the filters of `wanted`, newest first, read page by
  // page, without their tasks' texts.
  absl::StatusOr<std::vector<v1::JobInfo>> List(v1::ListJobsRequest wanted, int64_t limit = 0);
  absl::StatusOr<v1::JobInfo> Cancel(int64_t job);
  absl::StatusOr<v1::JobInfo> Pause(int64_t job);
  absl::StatusOr<v1::JobInfo> Resume(int64_t job);
  // The best configs known, one for each key.
  absl::StatusOr<v1::GetConfigsResponse> GetConfigs(const v1::GetConfigsRequest& request);
  // The newest final of the model with this skeleton on this target; nullopt: there is none.
  absl::StatusOr<std::optional<tuning_db::ModelFinal>> GetModelFinal(const std::string& skeleton,
                                                                     const std::string& target);
  absl::Status AddModelFinal(const tuning_db::ModelFinal& final);
  // The callbacks of one who watches a job.
  struct Watcher {
    std::function<void(const v1::WatchJobResponse&)> on_event;
    std::function<bool()> stop;  // asked several times a second, also on another thread
    // `on_away` is called when the daemon cannot be reached, once for each time that it goes, and
    // `on_back` when it is there again.
    std::function<void(const absl::Status& why)> on_away;
    std::function<void()> on_back;
  };
  // Calls `on_event` with each event after `after_seq`, with the tasks of its job that changed,
  // until the job has ended or `stop` returns true. A lost stream is resumed after the last event
  // seen; kUnavailable if about ten tries, with a second between two, bring no further event.
  absl::Status Watch(int64_t job, int64_t after_seq, const Watcher& watcher);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_TUNING_CLIENT_H_
