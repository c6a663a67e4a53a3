#include "cli/log_client.h"

#include <grpcpp/grpcpp.h>

#include "cli/daemon_channel.h"
#include "hone/v1/log.grpc.pb.h"
#include "support/status.h"

namespace hone::cli {

struct LogClient::Connection {
  std::unique_ptr<v1::LogService::Stub> stub;
};

LogClient::LogClient(const std::string& address)
    : address_(address),
      connection_(new Connection{v1::LogService::NewStub(DialDaemon(address))}) {}

LogClient::~LogClient() = default;

absl::Status LogClient::Retract(int64_t record, const std::string& reason) {
  v1::RetractRecordRequest request;
  request.set_record(record);
  request.set_reason(reason);
  grpc::ClientContext context;
  SetDeadline(context);
  v1::RetractRecordResponse response;
  return FromGrpc(connection_->stub->RetractRecord(&context, request, &response), address_);
}

absl::StatusOr<tuning_db::Pruned> LogClient::Prune(int64_t before_wall_ns,
                                                   const tuning_db::PrunePlace& place) {
  v1::PruneRequest request;
  request.set_before_wall_ns(before_wall_ns);
  request.mutable_place()->set_job(place.job);
  request.mutable_place()->set_seq(place.seq);
  request.mutable_place()->set_events_done(place.events_done);
  request.mutable_place()->set_record(place.record);
  grpc::ClientContext context;
  SetDeadline(context);
  v1::PruneResponse response;
  HONE_RETURN_IF_ERROR(FromGrpc(connection_->stub->Prune(&context, request, &response), address_));
  const v1::PrunePlace& next = response.next();
  return tuning_db::Pruned{.events = response.events(),
                           .samples = response.samples(),
                           .next = {.job = next.job(),
                                    .seq = next.seq(),
                                    .events_done = next.events_done(),
                                    .record = next.record()},
                           .is_last = response.is_last()};
}

}  // namespace hone::cli
