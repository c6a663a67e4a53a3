#include "tuner/service/log_service.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <utility>

#include "hone/v1/log.grpc.pb.h"
#include "support/status.h"
#include "tuner/log_reader.h"
#include "tuner/log_transfer.h"
#include "tuner/service/grpc_status.h"
#include "tuner/service/misses.h"
#include "tuning_db/prune.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

// So many calls that take long wait for their turn at most.
constexpr int kMostLongCalls = 64;

class LogServiceImpl final : public v1::LogService::CallbackService {
 public:
  LogServiceImpl(tuning_db::Store* store, Executor* slow)
      : store_(store), reader_(store), slow_(slow) {}

  grpc::ServerUnaryReactor* ListRecords(grpc::CallbackServerContext* context,
                                        const v1::ListRecordsRequest* request,
                                        v1::ListRecordsResponse* response) override {
    return Answer(context, reader_.ListRecords(*request), *response);
  }

  grpc::ServerUnaryReactor* GetRecord(grpc::CallbackServerContext* context,
                                      const v1::GetRecordRequest* request,
                                      v1::GetRecordResponse* response) override {
    return Answer(context, reader_.GetRecord(*request), *response);
  }

  grpc::ServerUnaryReactor* ListFinals(grpc::CallbackServerContext* context,
                                       const v1::ListFinalsRequest* request,
                                       v1::ListFinalsResponse* response) override {
    return Answer(context, reader_.ListFinals(*request), *response);
  }

  grpc::ServerUnaryReactor* GetLogStats(grpc::CallbackServerContext* context,
                                        const v1::GetLogStatsRequest* request,
                                        v1::GetLogStatsResponse* response) override {
    return AnswerLater(
        context, [this, request] { return reader_.GetLogStats(*request); }, response);
  }

  grpc::ServerUnaryReactor* ExportLog(grpc::CallbackServerContext* context,
                                      const v1::ExportLogRequest* request,
                                      v1::ExportLogResponse* response) override {
    return AnswerLater(
        context, [this, request] { return tuner::ExportLog(*store_, *request); }, response);
  }

  grpc::ServerUnaryReactor* ImportLog(grpc::CallbackServerContext* context,
                                      const v1::ImportLogRequest* request,
                                      v1::ImportLogResponse* response) override {
    return AnswerLater(
        context, [this, request] { return tuner::ImportLog(*store_, *request); }, response);
  }

  grpc::ServerUnaryReactor* RetractRecord(grpc::CallbackServerContext* context,
                                          const v1::RetractRecordRequest* request,
                                          v1::RetractRecordResponse*) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(store_->Retract(request->record(), request->reason())));
    return reactor;
  }

  grpc::ServerUnaryReactor* RecordMisses(grpc::CallbackServerContext* context,
                                         const v1::RecordMissesRequest* request,
                                         v1::RecordMissesResponse*) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(tuner::RecordMisses(*store_, *request)));
    return reactor;
  }

  grpc::ServerUnaryReactor* ListMisses(grpc::CallbackServerContext* context,
                                       const v1::ListMissesRequest* request,
                                       v1::ListMissesResponse* response) override {
    return Answer(context, tuner::ListMisses(*store_, *request), *response);
  }

  grpc::ServerUnaryReactor* Prune(grpc::CallbackServerContext* context,
                                  const v1::PruneRequest* request,
                                  v1::PruneResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(PruneStep(*request, *response)));
    return reactor;
  }

 private:
  absl::Status PruneStep(const v1::PruneRequest& request, v1::PruneResponse& response) {
    const v1::PrunePlace& from = request.place();
    const tuning_db::PrunePlace place{.job = from.job(),
                                      .seq = from.seq(),
                                      .events_done = from.events_done(),
                                      .record = from.record()};
    HONE_ASSIGN_OR_RETURN(
        const tuning_db::Pruned pruned,
        store_->Prune(request.before_wall_ns(), place, tuning_db::kPruneStepRows));
    response.set_events(pruned.events);
    response.set_samples(pruned.samples);
    response.set_is_last(pruned.is_last);
    v1::PrunePlace& next = *response.mutable_next();
    next.set_job(pruned.next.job);
    next.set_seq(pruned.next.seq);
    next.set_events_done(pruned.next.events_done);
    next.set_record(pruned.next.record);
    return absl::OkStatus();
  }

  template <typename Response>
  static grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                          absl::StatusOr<Response> answer, Response& response) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    if (answer.ok()) response = *std::move(answer);
    reactor->Finish(ToGrpc(answer.status()));
    return reactor;
  }

  // Where the answer takes long: on an executor, so that other calls are answered meanwhile.
  template <typename Ask, typename Response>
  grpc::ServerUnaryReactor* AnswerLater(grpc::CallbackServerContext* context, const Ask& ask,
                                        Response* response) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    if (waiting_.fetch_add(1) >= kMostLongCalls) {
      --waiting_;
      reactor->Finish(ToGrpc(absl::ResourceExhaustedError(
          "expected few who ask for all of the log at a time, found too many; ask again in a "
          "moment")));
      return reactor;
    }
    slow_->Post([this, reactor, ask, response] {
      absl::StatusOr<Response> answer = ask();
      --waiting_;
      if (answer.ok()) *response = *std::move(answer);
      reactor->Finish(ToGrpc(answer.status()));
    });
    return reactor;
  }

  tuning_db::Store* const store_;
  const LogReader reader_;
  Executor* const slow_;
  std::atomic<int> waiting_ = 0;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeLogService(tuning_db::Store* store, Executor* slow) {
  return std::make_unique<LogServiceImpl>(store, slow);
}

}  // namespace hone::tuner
