#include "support/spare_cores.h"

#include <sched.h>

namespace hone {

bool LeaveLastCores(int count) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0 || CPU_COUNT(&cores) <= count) return false;
  for (int core = CPU_SETSIZE - 1; core >= 0 && count > 0; --core) {
    if (!CPU_ISSET(core, &cores)) continue;
    CPU_CLR(core, &cores);
    --count;
  }
  return sched_setaffinity(0, sizeof(cores), &cores) == 0;
}

}  // namespace hone
