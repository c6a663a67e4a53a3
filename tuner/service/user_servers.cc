#include "tuner/service/user_servers.h"

#include <fmt/format.h>
#include <grpcpp/impl/service_type.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <utility>

#include "support/daemon_address.h"
#include "support/status.h"

namespace hone::tuner {
namespace {

constexpr int kKeepaliveMs = 20'000;

}  // namespace

struct UserServers::Of {
  Services services;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

UserServers::UserServers(std::function<Services(const std::string& identity)> make_services)
    : make_services_(std::move(make_services)) {}

UserServers::~UserServers() { Shutdown(std::chrono::nanoseconds(0)); }

absl::Status UserServers::Open(uid_t user) {
  const std::lock_guard lock(mutex_);
  return OpenLocked(user);
}

absl::Status UserServers::OpenLocked(uid_t user) {
  if (is_shut_down_) return absl::UnavailableError("the daemon stops");
  if (servers_.count(user) > 0) return absl::OkStatus();
  auto of = std::make_unique<Of>();
  of->services = make_services_(fmt::format("uid:{}", user));
  grpc::ServerBuilder builder;
  // A connection whose other end is gone without a word is found out, idle or not.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kKeepaliveMs / 2);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  for (const auto& service : of->services) builder.RegisterService(service.get());
  // gRPC does not look who dials; the listener does.
  of->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  of->server = builder.BuildAndStart();
  if (of->server == nullptr) return absl::InternalError("gRPC cannot start a server");
  servers_[user] = std::move(of);
  return absl::OkStatus();
}

void UserServers::Take(int fd, uid_t user) {
  const std::lock_guard lock(mutex_);
  if (const absl::Status open = OpenLocked(user); !open.ok()) {
    spdlog::error("a connection of user {} is closed: {}", user, open.ToString());
    close(fd);
    return;
  }
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = fd;
  servers_.at(user)->acceptor->HandleNewConnection(&connection);
}

void UserServers::Shutdown(std::chrono::nanoseconds grace) {
  std::map<uid_t, std::unique_ptr<Of>> servers;
  {
    const std::lock_guard lock(mutex_);
    is_shut_down_ = true;
    servers.swap(servers_);
  }
  const auto end = std::chrono::system_clock::now() +
                   std::chrono::duration_cast<std::chrono::system_clock::duration>(grace);
  for (const auto& [user, of] : servers) of->server->Shutdown(end);
}

}  // namespace hone::tuner
