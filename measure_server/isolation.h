// Isolates candidates from the rest of the system, as far as the system allows it.
#ifndef HONE_MEASURE_SERVER_ISOLATION_H_
#define HONE_MEASURE_SERVER_ISOLATION_H_

#include <string>

namespace hone::measure {

class Isolation {
 public:
  // For the calling process, the zygote, and its children: namespaces of their own for network,
  // IPC, host name and mounts, in a user namespace where that is what it takes. Real-time priority,
  // where it is allowed, stays: the zygote gets that of a watcher (measured_cores.h), and children
  // may take a candidate's. In a single-threaded process. What the system refuses is left out; the
  // text says so, and how what candidates on devices start ends with them (process_keeper.h).
  static Isolation Enter();

  // In a child with one thread that is to run a candidate: first to be ended when memory is short,
  // and another user than the worker's where the worker is root. False with errno.
  bool EnterChild() const;
  // The folder becomes that of the children's user; it is the worker's. False with errno.
  bool HandOver(const std::string& folder) const;
  // A sentence for the log.
  const std::string& text() const { return text_; }

 private:
  bool becomes_nobody_ = false;
  std::string text_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ISOLATION_H_
