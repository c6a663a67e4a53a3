// Makes calls to one service of a daemon.
#ifndef HONE_CLI_DAEMON_STUB_H_
#define HONE_CLI_DAEMON_STUB_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "support/status.h"
#include "transport/dial.h"
#include "transport/server_address.h"

namespace hone::cli {

// The time limit of calls that are answered at once.
inline constexpr std::chrono::seconds kCallLimit(30);

// A stub of one service of the daemon at `address`, which is as ReadServerAddress takes it.
// `Service` is the class that gRPC generates for it, such as v1::LogService, whose header the
// caller includes. Not thread-safe.
template <typename Service>
class DaemonStub {
 public:
  using Stub = typename Service::Stub;

  // A text that is not an address is taken as the path of a socket, which nobody serves.
  explicit DaemonStub(const std::string& address)
      : connection_(ReadServerAddress(address).value_or(
            ServerAddress{.socket = address, .host_port = {}, .certificate = {}, .token = {}})),
        stub_(Service::NewStub(connection_.channel())) {}

  Stub* operator->() const { return stub_.get(); }
  const DaemonConnection& connection() const { return connection_; }

  // Calls a method that answers at once. Errors: DaemonConnection::StatusOf.
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const Request& request,
                                std::chrono::seconds limit = kCallLimit) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + limit);
    Response response;
    HONE_RETURN_IF_ERROR(
        connection_.StatusOf((stub_.get()->*method)(&context, request, &response)));
    return response;
  }

 private:
  const DaemonConnection connection_;
  const std::unique_ptr<Stub> stub_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_DAEMON_STUB_H_
