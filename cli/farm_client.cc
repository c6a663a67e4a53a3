#include "cli/farm_client.h"

#include <grpcpp/grpcpp.h>

#include "cli/daemon_channel.h"
#include "hone/v1/farm.grpc.pb.h"
#include "support/status.h"

namespace hone::cli {

struct FarmClient::Connection {
  std::unique_ptr<v1::FarmService::Stub> stub;
};

FarmClient::FarmClient(const std::string& address)
    : address_(address),
      connection_(new Connection{v1::FarmService::NewStub(DialDaemon(address))}) {}

FarmClient::~FarmClient() = default;

absl::StatusOr<std::vector<v1::WorkerInfo>> FarmClient::Workers() {
  std::vector<v1::WorkerInfo> workers;
  v1::ListWorkersRequest request;
  do {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::ListWorkersResponse page;
    HONE_RETURN_IF_ERROR(
        FromGrpc(connection_->stub->ListWorkers(&context, request, &page), address_));
    workers.insert(workers.end(), page.workers().begin(), page.workers().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return workers;
}

absl::Status FarmClient::Drain(const std::string& worker) {
  v1::DrainWorkerRequest request;
  request.set_worker(worker);
  grpc::ClientContext context;
  SetDeadline(context);
  v1::DrainWorkerResponse response;
  return FromGrpc(connection_->stub->DrainWorker(&context, request, &response), address_);
}

}  // namespace hone::cli
