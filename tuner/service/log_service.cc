#include "tuner/service/log_service.h"

#include <grpcpp/grpcpp.h>

#include <map>

#include "hone/v1/log.grpc.pb.h"
#include "support/status.h"
#include "tuner/service/grpc_status.h"
#include "tuner/service/misses.h"
#include "tuner/service/page.h"
#include "tuning_db/prune.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

v1::RecordInfo ToProto(const tuning_db::Record& record, const tuning_db::Task& task) {
  v1::RecordInfo info;
  info.set_id(record.id);
  info.set_workload(task.workload);
  info.set_target(task.target);
  info.set_signature(record.of_trial.signature);
  info.set_config(record.of_trial.config);
  info.set_purpose(std::string(tuning_db::Name(record.of_trial.purpose)));
  info.set_outcome(std::string(tuning_db::Name(record.outcome)));
  info.set_message(record.message);
  info.set_median_ns(record.median_ns);
  info.set_calibrator_ns(record.calibrator_ns);
  info.set_error_ratio(record.error_ratio);
  info.set_nest_digest(record.of_trial.nest_digest);
  info.set_artifact_digest(record.artifact_digest);
  info.set_toolchain(record.toolchain);
  info.set_device(record.device);
  info.set_regime(record.regime);
  info.set_job(record.of_trial.job);
  info.set_worker(record.worker);
  info.set_wall_time_ns(record.wall_time_ns);
  info.set_retracted(record.retracted);
  return info;
}

class LogServiceImpl final : public v1::LogService::CallbackService {
 public:
  explicit LogServiceImpl(tuning_db::Store* store) : store_(store) {}

  grpc::ServerUnaryReactor* ListRecords(grpc::CallbackServerContext* context,
                                        const v1::ListRecordsRequest* request,
                                        v1::ListRecordsResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(List(*request, *response)));
    return reactor;
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
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(tuner::ListMisses(*store_, *request, *response)));
    return reactor;
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

  absl::Status List(const v1::ListRecordsRequest& request, v1::ListRecordsResponse& response) {
    tuning_db::RecordFilter filter;
    filter.target = request.target();
    filter.workload_substring = request.workload();
    if (request.job() != 0) filter.job = request.job();
    filter.with_retracted = request.with_retracted();
    HONE_ASSIGN_OR_RETURN(const tuning_db::RecordPage page,
                          store_->ListRecords(filter, tuning_db::Order::kNewestFirst,
                                              request.page_token(), PageSize(request.page_size())));
    std::map<int64_t, tuning_db::Task> tasks;
    for (const tuning_db::Record& record : page.records) {
      const auto [task, is_new] = tasks.try_emplace(record.of_trial.task);
      if (is_new) {
        HONE_ASSIGN_OR_RETURN(task->second, store_->GetTask(task->first));
      }
      *response.add_records() = ToProto(record, task->second);
    }
    if (!page.is_last) response.set_next_page_token(page.next);
    return absl::OkStatus();
  }

  tuning_db::Store* const store_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeLogService(tuning_db::Store* store) {
  return std::make_unique<LogServiceImpl>(store);
}

}  // namespace hone::tuner
