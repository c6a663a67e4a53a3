#include "tuner/service/door.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <chrono>
#include <utility>

#include "tuner/service/rpc_counts.h"
#include "tuner/service/server_limits.h"

namespace hone::tuner {

struct Door::Impl {
  std::vector<std::unique_ptr<grpc::Service>> services;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

Door::Door(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<std::unique_ptr<Door>> Door::Open(
    std::vector<std::unique_ptr<grpc::Service>> services, RpcCounts* counts) {
  auto impl = std::make_unique<Impl>();
  impl->services = std::move(services);
  grpc::ServerBuilder builder;
  LimitServer(builder);
  if (counts != nullptr) counts->CountCallsOf(builder);
  for (const std::unique_ptr<grpc::Service>& service : impl->services) {
    builder.RegisterService(service.get());
  }
  impl->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr) return absl::InternalError("gRPC cannot start a server");
  return std::unique_ptr<Door>(new Door(std::move(impl)));
}

Door::~Door() { impl_->server->Shutdown(std::chrono::system_clock::now() + kStopGrace); }

void Door::Take(int fd) {
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = fd;
  impl_->acceptor->HandleNewConnection(&connection);
}

}  // namespace hone::tuner
