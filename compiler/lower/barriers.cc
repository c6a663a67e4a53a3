#include "compiler/lower/barriers.h"

#include "compiler/loop/launch_access.h"

namespace hone::lower {

std::vector<bool> BarriersBefore(const std::vector<loop::Launch>& launches) {
  std::vector<bool> barriers;
  loop::LaunchAccess since;
  for (size_t i = 0; i < launches.size(); ++i) {
    if (i > 0 && launches[i - 1].phase != launches[i].phase) since = {};
    const loop::LaunchAccess own = loop::AccessOf(launches[i]);
    const bool waits = own.DependsOn(since);
    if (waits) since = {};
    since.Add(own);
    barriers.push_back(waits);
  }
  return barriers;
}

}  // namespace hone::lower
