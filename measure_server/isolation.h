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

  // Call it in a child with one thread that is to run a candidate. The child becomes the first to
  // be killed when memory is short, and the user nobody if the worker is root. False with errno if
  // that fails.
  bool EnterChild() const;
  // Gives the worker's folder to the user that children run as. False with errno if that fails.
  bool HandOver(const std::string& folder) const;
  // What was isolated, in a sentence for the log.
  const std::string& text() const { return text_; }

 private:
  bool becomes_nobody_ = false;
  std::string text_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ISOLATION_H_
