// Decides who may connect to a private daemon, and answers those who may not.
#ifndef HONE_TUNER_SERVICE_PRIVATE_DOOR_H_
#define HONE_TUNER_SERVICE_PRIVATE_DOOR_H_

#include <sys/types.h>

#include <memory>

#include "absl/status/statusor.h"

namespace hone::tuner {

// Whether the process is the client itself or one that it started, as its worker is.
bool IsOfClient(pid_t peer, pid_t client);

// Answers every call, of whatever service, with FAILED_PRECONDITION and a sentence. Thread-safe.
class ClosedDoor {
 public:
  static absl::StatusOr<std::unique_ptr<ClosedDoor>> Open(pid_t client);
  ~ClosedDoor();
  ClosedDoor(const ClosedDoor&) = delete;
  ClosedDoor& operator=(const ClosedDoor&) = delete;

  // Answers on a connection of somebody who may not come in; owns the descriptor.
  void Take(int fd);

 private:
  struct Impl;
  explicit ClosedDoor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_PRIVATE_DOOR_H_
