#include "support/parent_death.h"

#include <sys/prctl.h>
#include <unistd.h>

namespace hone {

bool EndWithParent(int signal, pid_t parent) {
  if (parent == 0) parent = getppid();
  prctl(PR_SET_PDEATHSIG, signal);
  return getppid() == parent;
}

}  // namespace hone
