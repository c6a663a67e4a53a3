#include "tuner/service/farm_service.h"

#include <grpcpp/grpcpp.h>

#include <deque>
#include <mutex>
#include <utility>

#include "hone/v1/farm.grpc.pb.h"
#include "tuner/service/grpc_status.h"
#include "tuner/service/page.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

// The stream of one worker. Lives until gRPC and the dispatcher are done with it.
class WorkStream final : public grpc::ServerBidiReactor<v1::WorkRequest, v1::WorkResponse>,
                         public WorkerLink,
                         public std::enable_shared_from_this<WorkStream> {
 public:
  static WorkStream* Start(Dispatcher* dispatcher) {
    auto stream = std::make_shared<WorkStream>(dispatcher);
    stream->self_ = stream;
    stream->StartRead(&stream->incoming_);
    return stream.get();
  }
  explicit WorkStream(Dispatcher* dispatcher) : dispatcher_(dispatcher) {}

  // ---- WorkerLink ----
  void Send(v1::WorkResponse message) override {
    const v1::WorkResponse* first = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      queue_.push_back(std::move(message));
      if (writing_) return;
      writing_ = true;
      first = &queue_.front();
    }
    StartWrite(first);
  }

  void Close(absl::Status status) override {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      closing_ = true;
      status_ = ToGrpc(status);
      if (writing_) return;
    }
    Finish(status_);
  }

  // ---- the reactor ----
  void OnReadDone(bool ok) override {
    if (!ok) {
      End();
      return;
    }
    dispatcher_->Receive(shared_from_this(), std::move(incoming_));
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    const v1::WorkResponse* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      queue_.pop_front();
      if (!ok) queue_.clear();
      if (!queue_.empty()) {
        next = &queue_.front();
      } else {
        writing_ = false;
        if (!closing_) return;
      }
    }
    if (next != nullptr) {
      StartWrite(next);
    } else {
      Finish(status_);
    }
  }

  void OnCancel() override { End(); }

  void OnDone() override { const std::shared_ptr<WorkStream> self = std::move(self_); }

 private:
  void End() {
    dispatcher_->Closed(shared_from_this());
    Close(absl::OkStatus());
  }

  Dispatcher* const dispatcher_;
  std::shared_ptr<WorkStream> self_;  // until OnDone
  v1::WorkRequest incoming_;

  std::mutex mutex_;  // guards all below
  std::deque<v1::WorkResponse> queue_;
  bool writing_ = false;
  bool closing_ = false;
  grpc::Status status_;
};

class FarmServiceImpl final : public v1::FarmService::CallbackService {
 public:
  explicit FarmServiceImpl(Dispatcher* dispatcher) : dispatcher_(dispatcher) {}

  grpc::ServerBidiReactor<v1::WorkRequest, v1::WorkResponse>* Work(
      grpc::CallbackServerContext*) override {
    return WorkStream::Start(dispatcher_);
  }

  grpc::ServerUnaryReactor* ListWorkers(grpc::CallbackServerContext* context,
                                        const v1::ListWorkersRequest* request,
                                        v1::ListWorkersResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    dispatcher_->ListWorkers([reactor, response, after = request->page_token(),
                              size = PageSize(request->page_size())](
                                 std::vector<v1::WorkerInfo> workers) {
      for (v1::WorkerInfo& worker : workers) {
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

 private:
  Dispatcher* const dispatcher_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeFarmService(Dispatcher* dispatcher) {
  return std::make_unique<FarmServiceImpl>(dispatcher);
}

}  // namespace hone::tuner
