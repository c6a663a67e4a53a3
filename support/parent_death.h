// Lets a program end when the program that started it ends.
#ifndef HONE_SUPPORT_PARENT_DEATH_H_
#define HONE_SUPPORT_PARENT_DEATH_H_

#include <sys/types.h>

namespace hone {

// Makes the kernel send `signal` to this process when its parent ends. False if the parent has
// ended already, because the kernel then sends nothing. `parent` is the process id that the parent
// itself passed on. If it is 0, a parent that ended before this call is not noticed.
bool EndWithParent(int signal, pid_t parent);

}  // namespace hone

#endif  // HONE_SUPPORT_PARENT_DEATH_H_
