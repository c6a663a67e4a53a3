// Isolates candidates from the rest of the system, as far as the system allows it.
#ifndef HONE_MEASURE_SERVER_ISOLATION_H_
#define HONE_MEASURE_SERVER_ISOLATION_H_

#include <string>

namespace hone::measure {

class Isolation {
 public:
  // Isolates the calling process, the zygote, and the children that it forks later. They get
  // network, IPC, host name and mount namespaces of their own, within a user namespace if the
  // process may not have them otherwise. A right to real-time priority is kept: the zygote takes
  // the priority of a watcher (measured_cores.h), and its children may take that of a candidate.
  // What the system refuses is left out, and text() says so. The process must have one thread.
  static Isolation Enter();

  // Call it in a child with one thread that is to run a candidate. The system then kills the child
  // first when memory is short. If the worker is root and may change its user, the child becomes
  // the user nobody; false with errno if that fails.
  bool EnterChild() const;
  // Makes the user that children run as the owner of a folder. False with errno if that fails.
  bool HandOver(const std::string& folder) const;
  // What was isolated, and how the processes that a candidate on a device starts are ended with it
  // (process_keeper.h), in a sentence for the log.
  const std::string& text() const { return text_; }

 private:
  bool becomes_nobody_ = false;
  std::string text_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ISOLATION_H_
