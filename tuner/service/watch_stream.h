// A stream to one client that watches a job.
#ifndef HONE_TUNER_SERVICE_WATCH_STREAM_H_
#define HONE_TUNER_SERVICE_WATCH_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "hone/v1/tuning.pb.h"
#include "tuner/service/tuning_service.h"

namespace hone::tuner {

// Sends the job's events after the sequence number that the client gave, in order. Ends once the
// job has ended and all of its events are sent. The object lives until gRPC is done with it.
class WatchStream : public grpc::ServerWriteReactor<hone::v1::WatchJobResponse>,
                    public std::enable_shared_from_this<WatchStream> {
 public:
  static grpc::ServerWriteReactor<hone::v1::WatchJobResponse>* Start(
      const TuningServiceParts& parts, grpc::CallbackServerContext& context,
      const hone::v1::WatchJobRequest& request);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  WatchStream(const TuningServiceParts& parts, const hone::v1::WatchJobRequest& request)
      : parts_(parts),
        job_(request.id()),
        changes_only_(request.changes_only()),
        last_seq_(request.after_seq()) {}

  void Wake();
  // Reads what is new and sends it; runs on the watchers' executor.
  void Read();
  void End(const grpc::Status& status);
  // Removes the tasks from `job` that are as they were last sent.
  void KeepChanges(hone::v1::JobInfo& job);

  const TuningServiceParts parts_;
  const int64_t job_;
  const bool changes_only_;
  std::shared_ptr<WatchStream> self_;  // until OnDone
  std::unique_ptr<LiveCall> live_;
  EventHub::Id subscription_;
  std::map<std::pair<std::string, std::string>, std::string> sent_;  // of Read only

  std::mutex mutex_;  // guards all below
  int64_t last_seq_;
  std::deque<hone::v1::WatchJobResponse> queue_;
  bool writing_ = false;
  bool ended_ = false;
  grpc::Status status_;  // to end with
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_WATCH_STREAM_H_
