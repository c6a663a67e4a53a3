// Runs a process that may start others, and ends all of those when it ends.
#ifndef HONE_MEASURE_SERVER_PROCESS_KEEPER_H_
#define HONE_MEASURE_SERVER_PROCESS_KEEPER_H_

#include <functional>

namespace hone::measure {

// Call this in a forked process with one thread, which becomes the keeper. The keeper forks the
// kept process, which runs `body`, and kills it once the other end of `leash_fd` is closed. That is
// a socket or a pipe; the keeper and the kept process both have this end. When the kept process has
// ended, by itself or killed, the keeper kills every process that it started, however indirectly
// and in whichever session. The keeper then ends as the kept process did: by the same signal, or
// with the same exit status.
//
// If the system permits it, the kept process and those that it starts are in a PID namespace of
// their own, which ends as a whole, even if the keeper is killed. Otherwise their orphans become
// children of the keeper, which kills them. `body` is given a descriptor that is readable once the
// keeper has ended.
[[noreturn]] void KeepProcess(int leash_fd, const std::function<void(int keeper_fd)>& body);

// Whether the system permits a keeper that this process forks to have such a PID namespace. Call
// this in a process with one thread.
bool CanKeepInNamespace();

// Call this in a process that must not outlive its parent. The process then gets SIGKILL when the
// thread that forked it ends, and ends at once if its parent has ended already. `parent_fd` is a
// pidfd of the parent. Call this again after the process has become another user, since that ends
// the effect of the first call.
void DieWithParent(int parent_fd);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_PROCESS_KEEPER_H_
