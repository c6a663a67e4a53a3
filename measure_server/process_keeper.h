// Keeps a process that may start others: none of these outlives it.
#ifndef HONE_MEASURE_SERVER_PROCESS_KEEPER_H_
#define HONE_MEASURE_SERVER_PROCESS_KEEPER_H_

#include <functional>

namespace hone::measure {

// To be called in a forked process with one thread, which becomes the keeper. It forks the process
// that runs `body`, and kills that one once the other end of `leash_fd` (a socket or a pipe, which
// both processes have) is closed. When that process has ended, by itself or so, the keeper ends
// everything that it started, however far removed and in whichever session, and then ends as it
// did: by the same signal, or with the same exit status.
//
// Where the system permits it, the process and what it starts are a PID namespace of their own,
// which ends as a whole, also where the keeper is killed. Elsewhere what is orphaned becomes the
// keeper's, which kills it. `body` is given a descriptor that is readable once the keeper has
// ended.
[[noreturn]] void KeepProcess(int leash_fd, const std::function<void(int keeper_fd)>& body);

// Whether a keeper that this process forks has a namespace for what it keeps. In a process with one
// thread.
bool CanKeepInNamespace();

// For a process that must not outlive its parent: it gets SIGKILL when the thread that forked it
// ends, and ends at once if that has happened before. `parent_fd` is a pidfd of the parent. To be
// called anew after the process has become another user.
void DieWithParent(int parent_fd);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_PROCESS_KEEPER_H_
