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

// Everybody who comes through a door without credentials is the same to its services: gRPC does not
// say who dialled, the listener does, and each user has a door. Thread-safe.
class Door {
 public:
  // With `credentials`, strangers may dial: what they leave half-open or idle is closed.
  static absl::StatusOr<std::unique_ptr<Door>> Open(
      std::vector<std::unique_ptr<grpc::Service>> services, CallInterceptors interceptors = {},
      std::shared_ptr<grpc::ServerCredentials> credentials = nullptr);
  // Calls get a moment to end, then they are cancelled.
  ~Door();

  // Owns the descriptor from here on.
  void Take(int fd);

 private:
  struct Impl;
  explicit Door(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_DOOR_H_
