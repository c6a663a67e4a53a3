// Takes connections at listening sockets, on a thread of its own.
#ifndef HONE_TUNER_SERVICE_ACCEPT_LOOP_H_
#define HONE_TUNER_SERVICE_ACCEPT_LOOP_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "support/log_budget.h"

namespace hone::tuner {

// gRPC's own listener stops for good when the process has no descriptor left for a new connection.
// This one never stops, and leaves some descriptors to files and databases: connections beyond
// those are closed at once. Thread-compatible.
class AcceptLoop {
 public:
  // `sockets` must be listening and non-blocking; the loop owns them. `name` is for the log.
  static absl::StatusOr<std::unique_ptr<AcceptLoop>> Make(std::vector<int> sockets,
                                                          std::string name);
  // Stops.
  ~AcceptLoop();
  AcceptLoop(const AcceptLoop&) = delete;
  AcceptLoop& operator=(const AcceptLoop&) = delete;

  // From here on, gives every connection to `take`, on the loop's thread. `take` owns the
  // descriptor, which is non-blocking.
  void Serve(std::function<void(int fd)> take);
  // Takes no more connections. The sockets are closed with the object.
  void Stop();

 private:
  AcceptLoop(std::vector<int> sockets, int stop_fd, std::string name)
      : sockets_(std::move(sockets)), stop_fd_(stop_fd), name_(std::move(name)) {}
  void Loop();
  void AcceptOne(int socket);
  void Complain(const std::string& what);

  const std::vector<int> sockets_;
  const int stop_fd_;  // an event: readable once it is to stop
  const std::string name_;
  std::function<void(int)> take_;
  LogBudget complaints_{1, 10'000'000'000};
  std::thread thread_;
};

// Raises this process's limit of descriptors to its hard limit: each connection takes one, and
// systems allow 1,024 by default.
void AllowManyDescriptors();

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_ACCEPT_LOOP_H_
