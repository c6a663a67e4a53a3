// gRPC does not tell a call which connection it came by: so there is a server for each user who
// dials, and its services know whose calls they answer.
#ifndef HONE_TUNER_SERVICE_USER_SERVERS_H_
#define HONE_TUNER_SERVICE_USER_SERVERS_H_

#include <grpcpp/grpcpp.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace hone::tuner {

// Thread-safe.
class UserServers {
 public:
  using Services = std::vector<std::unique_ptr<grpc::Service>>;
  // The services of one user, by whom the user is ("uid:1000").
  explicit UserServers(std::function<Services(const std::string& identity)> make_services);
  ~UserServers();

  // Makes the user's server ready, where it is not.
  absl::Status Open(uid_t user);
  // A connection of the user; owns the descriptor.
  void Take(int fd, uid_t user);
  // None takes calls from here on; those that are open have so long to end.
  void Shutdown(std::chrono::nanoseconds grace);

 private:
  struct Of;
  absl::Status OpenLocked(uid_t user);

  const std::function<Services(const std::string& identity)> make_services_;
  std::mutex mutex_;  // guards all below
  std::map<uid_t, std::unique_ptr<Of>> servers_;
  bool is_shut_down_ = false;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_USER_SERVERS_H_
