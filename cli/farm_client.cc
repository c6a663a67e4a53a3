#include "cli/farm_client.h"

#include <grpcpp/grpcpp.h>

#include "cli/daemon_stub.h"
#include "hone/v1/farm.grpc.pb.h"
#include "support/status.h"

namespace hone::cli {

struct FarmClient::Connection : DaemonStub<v1::FarmService> {
  using DaemonStub::DaemonStub;
};

FarmClient::FarmClient(const std::string& address) : connection_(new Connection(address)) {}

FarmClient::~FarmClient() = default;

absl::StatusOr<ListedWorkers> FarmClient::Workers(const std::string& worker) {
  ListedWorkers listed;
  v1::ListWorkersRequest request;
  request.set_worker(worker);
  do {
    HONE_ASSIGN_OR_RETURN(const v1::ListWorkersResponse page,
                          connection_->Call(&Connection::Stub::ListWorkers, request));
    listed.workers.insert(listed.workers.end(), page.workers().begin(), page.workers().end());
    listed.of_gone.insert(listed.of_gone.end(), page.quarantines().begin(),
                          page.quarantines().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return listed;
}

absl::Status FarmClient::Drain(const std::string& worker) {
  v1::DrainWorkerRequest request;
  request.set_worker(worker);
  return connection_->Call(&Connection::Stub::DrainWorker, request).status();
}

absl::Status FarmClient::Undrain(const std::string& worker) {
  v1::UndrainWorkerRequest request;
  request.set_worker(worker);
  return connection_->Call(&Connection::Stub::UndrainWorker, request).status();
}

absl::StatusOr<v1::QuarantineWorkerResponse> FarmClient::Quarantine(
    const v1::QuarantineWorkerRequest& request) {
  return connection_->Call(&Connection::Stub::QuarantineWorker, request);
}

absl::StatusOr<v1::ReleaseWorkerResponse> FarmClient::Release(
    const v1::ReleaseWorkerRequest& request) {
  return connection_->Call(&Connection::Stub::ReleaseWorker, request);
}

}  // namespace hone::cli
