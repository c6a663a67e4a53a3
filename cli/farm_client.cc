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

absl::StatusOr<std::vector<v1::WorkerInfo>> FarmClient::Workers() {
  std::vector<v1::WorkerInfo> workers;
  v1::ListWorkersRequest request;
  do {
    HONE_ASSIGN_OR_RETURN(const v1::ListWorkersResponse page,
                          connection_->Call(&Connection::Stub::ListWorkers, request));
    workers.insert(workers.end(), page.workers().begin(), page.workers().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return workers;
}

absl::Status FarmClient::Drain(const std::string& worker) {
  v1::DrainWorkerRequest request;
  request.set_worker(worker);
  return connection_->Call(&Connection::Stub::DrainWorker, request).status();
}

}  // namespace hone::cli
