#include "tuner/service/farm_service.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "hone/v1/farm.grpc.pb.h"
#include "tuner/farm/worker_info.h"
#include "tuner/service/grpc_status.h"
#include "tuner/service/page.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

// What a worker may send at once: a result of a final is some kilobytes.
constexpr size_t kMostReceivedBytes = size_t{4} << 20;
// What may wait to be written to a worker: one that does not read is not served. Chunks of
// artifacts are bounded by the artifact server.
constexpr size_t kMostUnsent = 4096;

// The stream of one worker. Lives until gRPC and the dispatcher are done with it. The next message
// is read when the one before has been dealt with, so a worker that talks too much waits, not the
// daemon.
class WorkStream final : public grpc::ServerBidiReactor<v1::WorkRequest, v1::WorkResponse>,
                         public WorkerLink,
                         public std::enable_shared_from_this<WorkStream> {
 public:
  static WorkStream* Start(Dispatcher* dispatcher, Callers* callers,
                           grpc::CallbackServerContext* context) {
    auto stream = std::make_shared<WorkStream>(dispatcher, callers->Of(*context).identity);
    stream->self_ = stream;
    stream->live_ = callers->Hold(*context);
    dispatcher->Opened(stream);
    stream->StartRead(&stream->incoming_);
    return stream.get();
  }
  WorkStream(Dispatcher* dispatcher, std::string identity)
      : dispatcher_(dispatcher), identity_(std::move(identity)) {}

  // ---- WorkerLink ----
  void Send(v1::WorkResponse message) override { SendThen(std::move(message), nullptr); }

  void SendThen(v1::WorkResponse message, std::function<void()> written) override {
    const v1::WorkResponse* first = nullptr;
    bool is_dropped = false;
    bool is_full = false;
    {
      const std::lock_guard lock(mutex_);
      is_full = queue_.size() >= kMostUnsent;
      is_dropped = closing_ || is_full;
      if (!is_dropped) queue_.push_back({std::move(message), std::move(written)});
      if (!is_dropped && !writing_) {
        writing_ = true;
        first = &queue_.front().message;
      }
    }
    if (first != nullptr) StartWrite(first);
    if (is_dropped && written) written();
    if (is_full) {
      dispatcher_->Closed(shared_from_this());
      Close(absl::ResourceExhaustedError("the worker does not read what it is sent"));
    }
  }

  void Taken() override {
    const std::lock_guard lock(mutex_);
    if (!finished_) StartRead(&incoming_);
  }

  void Close(absl::Status status) override {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      closing_ = true;
      status_ = ToGrpc(status);
      if (writing_) return;
      finished_ = true;
    }
    Finish(status_);
  }

  std::string identity() const override { return identity_; }

  size_t queued() override {
    const std::lock_guard lock(mutex_);
    return queue_.size();
  }

  // ---- the reactor ----
  void OnReadDone(bool ok) override {
    if (!ok) {
      End();
      return;
    }
    if (incoming_.ByteSizeLong() > kMostReceivedBytes) {
      dispatcher_->Closed(shared_from_this());
      Close(absl::ResourceExhaustedError(
          fmt::format("expected messages of at most {} bytes, found one of {}", kMostReceivedBytes,
                      incoming_.ByteSizeLong())));
      return;
    }
    v1::WorkRequest message;
    message.Swap(&incoming_);
    dispatcher_->Receive(shared_from_this(), std::move(message));
  }

  void OnWriteDone(bool ok) override {
    const v1::WorkResponse* next = nullptr;
    bool finishes = false;
    std::deque<Outgoing> done;
    {
      const std::lock_guard lock(mutex_);
      if (ok) {
        done.push_back(std::move(queue_.front()));
        queue_.pop_front();
      } else {
        done.swap(queue_);
      }
      if (!queue_.empty()) {
        next = &queue_.front().message;
      } else {
        writing_ = false;
        finishes = closing_;
        finished_ = finished_ || closing_;
      }
    }
    if (next != nullptr) StartWrite(next);
    if (finishes) Finish(status_);
    for (const Outgoing& outgoing : done) {
      if (outgoing.written) outgoing.written();
    }
  }

  void OnCancel() override { End(); }

  void OnDone() override {
    const std::shared_ptr<WorkStream> self = std::move(self_);
    live_.reset();  // the context goes
  }

 private:
  struct Outgoing {
    v1::WorkResponse message;
    std::function<void()> written;  // may be empty
  };

  void End() {
    dispatcher_->Closed(shared_from_this());
    Close(absl::OkStatus());
  }

  Dispatcher* const dispatcher_;
  const std::string identity_;
  std::shared_ptr<WorkStream> self_;  // until OnDone
  std::unique_ptr<LiveCall> live_;
  v1::WorkRequest incoming_;

  std::mutex mutex_;  // guards all below
  std::deque<Outgoing> queue_;
  bool writing_ = false;
  bool closing_ = false;
  bool finished_ = false;  // Finish is called, or about to be
  grpc::Status status_;
};

class FarmServiceImpl final : public v1::FarmService::CallbackService {
 public:
  FarmServiceImpl(Dispatcher* dispatcher, Callers* callers)
      : dispatcher_(dispatcher), callers_(callers) {}

  grpc::ServerBidiReactor<v1::WorkRequest, v1::WorkResponse>* Work(
      grpc::CallbackServerContext* context) override {
    return WorkStream::Start(dispatcher_, callers_, context);
  }

  grpc::ServerUnaryReactor* ListWorkers(grpc::CallbackServerContext* context,
                                        const v1::ListWorkersRequest* request,
                                        v1::ListWorkersResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    dispatcher_->ListWorkers(request->worker(), [reactor, response, after = request->page_token(),
                                                 size = PageSize(request->page_size())](
                                                    Dispatcher::Workers listed) {
      if (after.empty()) {
        for (const tuning_db::Quarantine& quarantine : listed.of_gone) {
          *response->add_quarantines() = MessageOf(quarantine);
        }
      }
      for (v1::WorkerInfo& worker : listed.workers) {
        if (worker.worker() <= after) continue;
        if (response->workers_size() == size) {
          response->set_next_page_token(response->workers(response->workers_size() - 1).worker());
          break;
        }
        *response->add_workers() = std::move(worker);
      }
      reactor->Finish(grpc::Status::OK);
    });
    return reactor;
  }

  grpc::ServerUnaryReactor* DrainWorker(grpc::CallbackServerContext* context,
                                        const v1::DrainWorkerRequest* request,
                                        v1::DrainWorkerResponse*) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    dispatcher_->DrainWorker(request->worker(),
                             [reactor](absl::Status status) { reactor->Finish(ToGrpc(status)); });
    return reactor;
  }

  grpc::ServerUnaryReactor* UndrainWorker(grpc::CallbackServerContext* context,
                                          const v1::UndrainWorkerRequest* request,
                                          v1::UndrainWorkerResponse*) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    dispatcher_->UndrainWorker(request->worker(),
                               [reactor](absl::Status status) { reactor->Finish(ToGrpc(status)); });
    return reactor;
  }

  grpc::ServerUnaryReactor* QuarantineWorker(grpc::CallbackServerContext* context,
                                             const v1::QuarantineWorkerRequest* request,
                                             v1::QuarantineWorkerResponse* response) override {
    const tuning_db::Quarantine quarantine = {.worker = request->worker(),
                                              .device = request->device(),
                                              .reason = request->reason(),
                                              .by = callers_->Of(*context).name};
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    dispatcher_->QuarantineWorker(quarantine, AnswerTo(reactor, response));
    return reactor;
  }

  grpc::ServerUnaryReactor* ReleaseWorker(grpc::CallbackServerContext* context,
                                          const v1::ReleaseWorkerRequest* request,
                                          v1::ReleaseWorkerResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    dispatcher_->ReleaseWorker(request->worker(), request->device(), AnswerTo(reactor, response));
    return reactor;
  }

 private:
  template <typename Response>
  static std::function<void(absl::StatusOr<Response>)> AnswerTo(grpc::ServerUnaryReactor* reactor,
                                                                Response* response) {
    return [reactor, response](absl::StatusOr<Response> answer) {
      if (answer.ok()) *response = *std::move(answer);
      reactor->Finish(ToGrpc(answer.status()));
    };
  }

  Dispatcher* const dispatcher_;
  Callers* const callers_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeFarmService(Dispatcher* dispatcher, Callers* callers) {
  return std::make_unique<FarmServiceImpl>(dispatcher, callers);
}

}  // namespace hone::tuner
