// Serves a network: a gRPC server on a TCP port, over TLS.
#ifndef HONE_TUNER_SERVICE_TLS_DOOR_H_
#define HONE_TUNER_SERVICE_TLS_DOOR_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tuner/service/call_interceptors.h"
#include "tuner/service/door.h"
#include "tuner/service/gatekeeper.h"
#include "tuner/service/tcp_listener.h"
#include "tuner/tls_options.h"

namespace hone::tuner {

// The gatekeeper sees every call before a service does. Key and certificate files are read again
// when they change. Thread-safe.
class TlsDoor {
 public:
  // kInvalidArgument for files that are missing, that others may read (the key), or that do not
  // belong together; kUnavailable for a port that cannot be had. The gatekeeper outlives it.
  static absl::StatusOr<std::unique_ptr<TlsDoor>> Open(
      const TlsOptions& options, Gatekeeper* gatekeeper,
      std::vector<std::unique_ptr<grpc::Service>> services, CallInterceptors interceptors = {});

  // The port that is served.
  int port() const { return listener_->port(); }

 private:
  TlsDoor(std::unique_ptr<Door> door, std::unique_ptr<TcpListener> listener)
      : door_(std::move(door)), listener_(std::move(listener)) {}

  // Declared so that the listener stops before the door is closed.
  const std::unique_ptr<Door> door_;
  const std::unique_ptr<TcpListener> listener_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_TLS_DOOR_H_
