// The daemon's door to a network: a gRPC server on a TCP port, over TLS.
#ifndef HONE_TUNER_SERVICE_TLS_DOOR_H_
#define HONE_TUNER_SERVICE_TLS_DOOR_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tuner/service/gatekeeper.h"
#include "tuner/tls_options.h"

namespace grpc {
class Service;
}

namespace hone::tuner {

class RpcCounts;

// Every call is shown to the gatekeeper before a service sees it. The files are read again when
// they change. Thread-safe.
class TlsDoor {
 public:
  // kInvalidArgument for files that are missing, that others may read (the key), or that do not
  // belong together; kUnavailable for a port that cannot be had. The gatekeeper outlives it.
  static absl::StatusOr<std::unique_ptr<TlsDoor>> Open(
      const TlsOptions& options, Gatekeeper* gatekeeper,
      std::vector<std::unique_ptr<grpc::Service>> services, RpcCounts* counts = nullptr);
  // Calls get a moment to end, then they are cancelled.
  ~TlsDoor();

  // The port that is served.
  int port() const;

 private:
  struct Impl;
  explicit TlsDoor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_TLS_DOOR_H_
