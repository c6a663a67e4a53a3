// Programs that end with the one that started them.
#ifndef HONE_SUPPORT_PARENT_DEATH_H_
#define HONE_SUPPORT_PARENT_DEATH_H_

#include <sys/types.h>

namespace hone {

// Has the kernel send `signal` to this process when its parent ends. False where the parent has
// ended already: the kernel says nothing of that, and nobody else will. `parent` is the parent's
// number as it told us itself; 0: it did not, and that it ended before this call is then not seen.
bool EndWithParent(int signal, pid_t parent);

}  // namespace hone

#endif  // HONE_SUPPORT_PARENT_DEATH_H_
