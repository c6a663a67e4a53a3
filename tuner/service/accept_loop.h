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

// gRPC's own listener stops for good where a connection finds the process without a descriptor;
// this one never does, and leaves some descriptors to files and databases: what comes beyond is
// closed at once. Thread-compatible.
class AcceptLoop {
 public:
  // `sockets` listen, do not block, and are the loop's from here on. `name` is for the log.
  static absl::StatusOr<std::unique_ptr<AcceptLoop>> Make(std::vector<int> sockets,
                                                          std::string name);
  // Stops.
  ~AcceptLoop();
  AcceptLoop(const AcceptLoop&) = delete;
  AcceptLoop& operator=(const AcceptLoop&) = delete;

  // From here on every connection is given to `take`, which owns the descriptor (non-blocking), on
  // the loop's thread.
  void Serve(std::function<void(int fd)> take);
  // No connection is taken from here on. The sockets go with the object.
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

// Lets this process have as many descriptors as its hard limit says: each connection takes one, and
// systems give 1,024.
void AllowManyDescriptors();

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_ACCEPT_LOOP_H_
