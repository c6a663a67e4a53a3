#include "tuner/service/door.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <chrono>
#include <utility>

#include "tuner/service/server_limits.h"

namespace hone::tuner {
namespace {

constexpr int kHandshakeMs = 10'000;
// Without a call. A client that calls again dials again.
constexpr int kIdleMs = 300'000;

}  // namespace

struct Door::Impl {
  std::vector<std::unique_ptr<grpc::Service>> services;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

Door::Door(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<std::unique_ptr<Door>> Door::Open(
    std::vector<std::unique_ptr<grpc::Service>> services, CallInterceptors interceptors,
    std::shared_ptr<grpc::ServerCredentials> credentials) {
  auto impl = std::make_unique<Impl>();
  impl->services = std::move(services);
  grpc::ServerBuilder builder;
  LimitServer(builder);
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  for (const std::unique_ptr<grpc::Service>& service : impl->services) {
    builder.RegisterService(service.get());
  }
  if (credentials == nullptr) {
    credentials = grpc::InsecureServerCredentials();
  } else {
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  }
  impl->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials);
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
