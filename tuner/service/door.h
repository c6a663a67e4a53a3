// A gRPC server without a port: it serves connections that somebody else has taken.
#ifndef HONE_TUNER_SERVICE_DOOR_H_
#define HONE_TUNER_SERVICE_DOOR_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "tuner/service/call_interceptors.h"

namespace grpc {
class ServerCredentials;
class Service;
}  // namespace grpc

namespace hone::tuner {

// Calls through a door without credentials cannot be told apart by its services: gRPC does not say
// which user dialled, only the listener does, so each user has a door of its own. Thread-safe.
class Door {
 public:
  // With `credentials`, anybody may dial, so connections that are left half-open or idle are
  // closed.
  static absl::StatusOr<std::unique_ptr<Door>> Open(
      std::vector<std::unique_ptr<grpc::Service>> services, CallInterceptors interceptors = {},
      std::shared_ptr<grpc::ServerCredentials> credentials = nullptr);
  // Gives calls a moment to end, then cancels them.
  ~Door();

  // Serves the connection; owns the descriptor from here on.
  void Take(int fd);

 private:
  struct Impl;
  explicit Door(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_DOOR_H_
