// How the clients of the daemon's services call them.
#ifndef HONE_CLI_DAEMON_STUB_H_
#define HONE_CLI_DAEMON_STUB_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/daemon_channel.h"
#include "support/status.h"

namespace hone::cli {

// One service of the daemon at `address`. `Service` is what gRPC generates for it, such as
// v1::LogService; who uses this includes that header. Not thread-safe.
template <typename Service>
class DaemonStub {
 public:
  using Stub = typename Service::Stub;

  explicit DaemonStub(const std::string& address)
      : address_(address), stub_(Service::NewStub(DialDaemon(address))) {}

  const std::string& address() const { return address_; }
  Stub* operator->() const { return stub_.get(); }

  // Calls a method that answers at once. kUnavailable says that nobody answers at the address.
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const Request& request) const {
    Response response;
    HONE_RETURN_IF_ERROR(CallDaemon(address_, [&](grpc::ClientContext* context) {
      return (stub_.get()->*method)(context, request, &response);
    }));
    return response;
  }

 private:
  const std::string address_;
  const std::unique_ptr<Stub> stub_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_DAEMON_STUB_H_
