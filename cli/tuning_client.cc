#include "cli/tuning_client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "cli/daemon_stub.h"
#include "hone/v1/tuning.grpc.pb.h"
#include "support/random_id.h"
#include "support/status.h"
#include "tuner/model_final/model_final_message.h"

namespace hone::cli {
namespace {

constexpr std::chrono::milliseconds kStopInterval(100);
constexpr uint32_t kJobsAPage = 20;
constexpr int kWatchTries = 10;
constexpr int kPauseIntervals = 10;  // between two tries
constexpr size_t kClientIdBytes = 16;

// Calls `cancel` on a thread of its own once `stop` says so, until it is destroyed.
class Canceller {
 public:
  Canceller(std::function<bool()> stop, std::function<void()> cancel)
      : thread_([this, stop = std::move(stop), cancel = std::move(cancel)] {
          std::unique_lock lock(mutex_);
          while (!over_.wait_for(lock, kStopInterval, [this] { return done_; })) {
            if (stop()) return cancel();
          }
        }) {}
  ~Canceller() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    over_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace

struct TuningClient::Connection : DaemonStub<v1::TuningService> {
  using DaemonStub::DaemonStub;
};

std::string NewClientId() { return RandomId(kClientIdBytes); }

TuningClient::TuningClient(const std::string& address) : connection_(new Connection(address)) {}

TuningClient::~TuningClient() = default;

absl::StatusOr<v1::JobInfo> TuningClient::Submit(const v1::JobSpec& spec,
                                                 const std::string& client_id,
                                                 const std::string& request_digest) {
  v1::SubmitJobRequest request;
  request.set_client_id(client_id.empty() ? NewClientId() : client_id);
  *request.mutable_spec() = spec;
  request.set_request_digest(request_digest);
  HONE_ASSIGN_OR_RETURN(const v1::SubmitJobResponse response,
                        connection_->Call(&Connection::Stub::SubmitJob, request));
  return response.job();
}

absl::StatusOr<v1::JobInfo> TuningClient::Clone(const v1::CloneJobRequest& request) {
  HONE_ASSIGN_OR_RETURN(const v1::CloneJobResponse response,
                        connection_->Call(&Connection::Stub::CloneJob, request));
  return response.job();
}

absl::StatusOr<v1::GetJobResponse> TuningClient::Get(int64_t job) {
  v1::GetJobRequest request;
  request.set_id(job);
  return connection_->Call(&Connection::Stub::GetJob, request);
}

absl::StatusOr<std::vector<v1::JobInfo>> TuningClient::List(v1::ListJobsRequest wanted,
                                                            int64_t limit) {
  std::vector<v1::JobInfo> jobs;
  wanted.set_newest_first(true);
  do {
    const int64_t left = limit - static_cast<int64_t>(jobs.size());
    wanted.set_page_size(limit > 0 ? static_cast<uint32_t>(std::min<int64_t>(left, kJobsAPage))
                                   : kJobsAPage);
    HONE_ASSIGN_OR_RETURN(const v1::ListJobsResponse page,
                          connection_->Call(&Connection::Stub::ListJobs, wanted));
    jobs.insert(jobs.end(), page.jobs().begin(), page.jobs().end());
    wanted.set_page_token(page.next_page_token());
  } while (!wanted.page_token().empty() &&
           (limit == 0 || static_cast<int64_t>(jobs.size()) < limit));
  return jobs;
}

absl::StatusOr<v1::JobInfo> TuningClient::Cancel(int64_t job) {
  v1::CancelJobRequest request;
  request.set_id(job);
  HONE_ASSIGN_OR_RETURN(const v1::CancelJobResponse response,
                        connection_->Call(&Connection::Stub::CancelJob, request));
  return response.job();
}

absl::StatusOr<v1::JobInfo> TuningClient::Pause(int64_t job) {
  v1::PauseJobRequest request;
  request.set_id(job);
  HONE_ASSIGN_OR_RETURN(const v1::PauseJobResponse response,
                        connection_->Call(&Connection::Stub::PauseJob, request));
  return response.job();
}

absl::StatusOr<v1::JobInfo> TuningClient::Resume(int64_t job) {
  v1::ResumeJobRequest request;
  request.set_id(job);
  HONE_ASSIGN_OR_RETURN(const v1::ResumeJobResponse response,
                        connection_->Call(&Connection::Stub::ResumeJob, request));
  return response.job();
}

absl::StatusOr<v1::GetConfigsResponse> TuningClient::GetConfigs(
    const v1::GetConfigsRequest& request) {
  return connection_->Call(&Connection::Stub::GetConfigs, request);
}

absl::StatusOr<std::optional<tuning_db::ModelFinal>> TuningClient::GetModelFinal(
    const std::string& skeleton, const std::string& target) {
  v1::GetModelFinalRequest request;
  request.set_skeleton(skeleton);
  request.set_target(target);
  HONE_ASSIGN_OR_RETURN(const v1::GetModelFinalResponse response,
                        connection_->Call(&Connection::Stub::GetModelFinal, request));
  if (!response.has_final()) return std::optional<tuning_db::ModelFinal>();
  return std::optional(tuner::FromProto(response.final()));
}

absl::Status TuningClient::AddModelFinal(const tuning_db::ModelFinal& final) {
  v1::AddModelFinalRequest request;
  *request.mutable_final() = tuner::ToProto(final);
  return connection_->Call(&Connection::Stub::AddModelFinal, request).status();
}

absl::Status TuningClient::Watch(int64_t job, int64_t after_seq, const Watcher& watcher) {
  const std::function<bool()>& stop = watcher.stop;
  absl::Status last;
  bool is_away = false;
  for (int attempt = 0; attempt < kWatchTries; ++attempt) {
    // A job that waits has no events by which it would be seen.
    if (is_away && Get(job).ok()) {
      is_away = false;
      watcher.on_back();
    }
    v1::WatchJobRequest request;
    request.set_id(job);
    request.set_after_seq(after_seq);
    request.set_changes_only(true);
    grpc::ClientContext context;
    grpc::Status ended;
    {
      const Canceller canceller(stop, [&context] { context.TryCancel(); });
      const auto reader = (*connection_)->WatchJob(&context, request);
      v1::WatchJobResponse event;
      while (reader->Read(&event)) {
        after_seq = event.seq();
        attempt = 0;
        watcher.on_event(event);
      }
      ended = reader->Finish();
    }
    if (ended.ok() || stop()) return absl::OkStatus();
    last = connection_->connection().StatusOf(ended);
    // The daemon ends a stream whose caller has lost its right to it, and says why to the next
    // call.
    if (absl::IsCancelled(last)) {
      const absl::Status next = Get(job).status();
      return next.ok() ? last : next;
    }
    if (last.code() != absl::StatusCode::kUnavailable) return last;
    if (!std::exchange(is_away, true)) watcher.on_away(last);
    const auto& channel = connection_->connection().channel();
    for (int i = 0; i < kPauseIntervals && !stop(); ++i) {
      // gRPC connects while somebody waits for it: over TLS that takes several steps, which a
      // thread that sleeps would hold up.
      const auto end = std::chrono::system_clock::now() + kStopInterval;
      if (channel->WaitForConnected(end)) std::this_thread::sleep_until(end);
    }
  }
  return last;
}

}  // namespace hone::cli
