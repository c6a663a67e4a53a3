// Which buffers a launch reads and writes. Dependences between launches are derived from it.
#ifndef HONE_COMPILER_LOOP_LAUNCH_ACCESS_H_
#define HONE_COMPILER_LOOP_LAUNCH_ACCESS_H_

#include <set>

#include "compiler/loop/stmt.h"

namespace hone::loop {

using BufferSet = std::set<const BufferNode*>;

// Buffers of all scopes. A value type that points into the launch.
struct LaunchAccess {
  BufferSet read;     // loaded from; a prefetch reads nothing
  BufferSet written;  // stored to

  void Add(const LaunchAccess& other);
  // Whether this launch reads what `earlier` writes, or writes what `earlier` reads or writes, in
  // memory that outlives a thread: global and shared buffers.
  bool DependsOn(const LaunchAccess& earlier) const;
};

LaunchAccess AccessOf(const Launch& launch);
LaunchAccess AccessOf(const Stmt& body);

// The buffers that launches of the phase read.
BufferSet ReadIn(const Nest& nest, Phase phase);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_LAUNCH_ACCESS_H_
