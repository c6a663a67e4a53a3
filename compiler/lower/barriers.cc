#include "compiler/lower/barriers.h"

#include <algorithm>

#include "compiler/loop/launch_access.h"

namespace hone::lower {
namespace {

// Global buffers: the others are of one index of a grid.
bool Meet(const loop::BufferSet& a, const loop::BufferSet& b) {
  return std::ranges::any_of(a, [&](const loop::BufferNode* buffer) {
    return buffer->scope == loop::Scope::kGlobal && b.contains(buffer);
  });
}

}  // namespace

std::vector<bool> BarriersBefore(const std::vector<loop::Launch>& launches) {
  std::vector<bool> barriers;
  loop::LaunchAccess since;
  for (size_t i = 0; i < launches.size(); ++i) {
    if (i > 0 && launches[i - 1].phase != launches[i].phase) since = {};
    const loop::LaunchAccess own = loop::AccessOf(launches[i]);
    const bool waits = Meet(own.read, since.written) || Meet(own.written, since.written) ||
                       Meet(own.written, since.read);
    if (waits) since = {};
    since.Add(own);
    barriers.push_back(waits);
  }
  return barriers;
}

}  // namespace hone::lower
