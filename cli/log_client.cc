#include "cli/log_client.h"

#include <grpcpp/grpcpp.h>

#include "cli/daemon_stub.h"
#include "hone/v1/log.grpc.pb.h"
#include "support/status.h"
#include "tuner/miss_messages.h"

namespace hone::cli {

namespace {

// The daemon reads all of them for each page.
constexpr uint32_t kMissesAPage = 1000;

}  // namespace

struct LogClient::Connection : DaemonStub<v1::LogService> {
  using DaemonStub::DaemonStub;
};

LogClient::LogClient(const std::string& address) : connection_(new Connection(address)) {}

LogClient::~LogClient() = default;

absl::StatusOr<v1::ListRecordsResponse> LogClient::ListRecords(
    const v1::ListRecordsRequest& request) {
  return connection_->Call(&Connection::Stub::ListRecords, request);
}

absl::StatusOr<v1::GetRecordResponse> LogClient::GetRecord(const v1::GetRecordRequest& request) {
  return connection_->Call(&Connection::Stub::GetRecord, request);
}

absl::StatusOr<v1::ListFinalsResponse> LogClient::ListFinals(const v1::ListFinalsRequest& request) {
  return connection_->Call(&Connection::Stub::ListFinals, request);
}

absl::StatusOr<v1::GetLogStatsResponse> LogClient::GetLogStats(
    const v1::GetLogStatsRequest& request) {
  return connection_->Call(&Connection::Stub::GetLogStats, request);
}

absl::StatusOr<v1::ExportLogResponse> LogClient::ExportLog(const v1::ExportLogRequest& request) {
  return connection_->Call(&Connection::Stub::ExportLog, request);
}

absl::StatusOr<v1::ImportLogResponse> LogClient::Import(const std::string& lines) {
  v1::ImportLogRequest request;
  request.set_lines(lines);
  return connection_->Call(&Connection::Stub::ImportLog, request);
}

absl::Status LogClient::Retract(int64_t record, const std::string& reason) {
  v1::RetractRecordRequest request;
  request.set_record(record);
  request.set_reason(reason);
  return connection_->Call(&Connection::Stub::RetractRecord, request).status();
}

absl::Status LogClient::RecordMisses(const std::vector<tuning_db::Miss>& misses) {
  v1::RecordMissesRequest request;
  for (const tuning_db::Miss& miss : misses) *request.add_misses() = tuner::ToProto(miss);
  return connection_->Call(&Connection::Stub::RecordMisses, request).status();
}

absl::StatusOr<std::vector<tuning_db::Miss>> LogClient::Misses(const std::string& target) {
  std::vector<tuning_db::Miss> misses;
  v1::ListMissesRequest request;
  request.set_target(target);
  request.set_page_size(kMissesAPage);
  do {
    HONE_ASSIGN_OR_RETURN(const v1::ListMissesResponse page,
                          connection_->Call(&Connection::Stub::ListMisses, request));
    for (const v1::MissInfo& info : page.misses()) misses.push_back(tuner::ToMiss(info));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return misses;
}

absl::StatusOr<tuning_db::Pruned> LogClient::Prune(int64_t before_wall_ns,
                                                   const tuning_db::PrunePlace& place) {
  v1::PruneRequest request;
  request.set_before_wall_ns(before_wall_ns);
  request.mutable_place()->set_job(place.job);
  request.mutable_place()->set_seq(place.seq);
  request.mutable_place()->set_events_done(place.events_done);
  request.mutable_place()->set_record(place.record);
  HONE_ASSIGN_OR_RETURN(const v1::PruneResponse response,
                        connection_->Call(&Connection::Stub::Prune, request));
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
