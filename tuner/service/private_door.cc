#include "tuner/service/private_door.h"

#include <fmt/format.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

namespace hone::tuner {
namespace {

// 0: it has ended, or the system does not say.
pid_t ParentOf(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string stat;
  std::getline(file, stat);
  // "PID (NAME) STATE PARENT ...": the name may hold anything.
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || name_end + 4 >= stat.size()) return 0;
  return static_cast<pid_t>(std::atol(stat.c_str() + name_end + 4));
}

}  // namespace

class RefusingService final : public grpc::CallbackGenericService {
 public:
  explicit RefusingService(std::string why) : why_(std::move(why)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    class Reactor final : public grpc::ServerGenericBidiReactor {
     public:
      explicit Reactor(const std::string& why) {
        Finish(grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, why));
      }
      void OnDone() override { delete this; }
    };
    return new Reactor(why_);
  }

 private:
  const std::string why_;
};

bool IsOfClient(pid_t peer, pid_t client) { return peer == client || ParentOf(peer) == client; }

struct ClosedDoor::Impl {
  explicit Impl(std::string why) : service(std::move(why)) {}

  RefusingService service;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

ClosedDoor::ClosedDoor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<std::unique_ptr<ClosedDoor>> ClosedDoor::Open(pid_t client) {
  auto impl = std::make_unique<Impl>(
      fmt::format("this daemon is private to a `hone tune` (process {}), with which it ends; wait "
                  "for that, or run a honed and name it by --server",
                  client));
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(&impl->service);
  impl->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr) return absl::InternalError("gRPC cannot start a server");
  return std::unique_ptr<ClosedDoor>(new ClosedDoor(std::move(impl)));
}

ClosedDoor::~ClosedDoor() { impl_->server->Shutdown(std::chrono::system_clock::now()); }

void ClosedDoor::Take(int fd) {
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = fd;
  impl_->acceptor->HandleNewConnection(&connection);
}

}  // namespace hone::tuner
