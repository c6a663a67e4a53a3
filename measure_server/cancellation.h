// Tells a session of the zygote whether the worker has cancelled it.
#ifndef HONE_MEASURE_SERVER_CANCELLATION_H_
#define HONE_MEASURE_SERVER_CANCELLATION_H_

#include <unistd.h>

#include <cstdint>

namespace hone::measure {

class Cancellation {
 public:
  // `fd` is non-blocking and gives the numbers (uint64_t) of cancelled sessions; -1: none is ever
  // cancelled.
  Cancellation(int fd, uint64_t session) : fd_(fd), session_(session) {}

  int fd() const { return fd_; }
  bool has_happened() const { return has_happened_; }
  // Reads what has come. Numbers of earlier sessions came too late and are ignored.
  void Update() {
    uint64_t session = 0;
    while (fd_ >= 0 && read(fd_, &session, sizeof(session)) == sizeof(session)) {
      has_happened_ = has_happened_ || session == session_;
    }
  }

 private:
  const int fd_;
  const uint64_t session_;
  bool has_happened_ = false;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CANCELLATION_H_
