// A launch in the form that back-ends take.
#ifndef HONE_COMPILER_LOWER_LOWERED_LAUNCH_H_
#define HONE_COMPILER_LOWER_LOWERED_LAUNCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/loop/launch_access.h"
#include "compiler/loop/stmt.h"
#include "compiler/lower/dots.h"
#include "compiler/lower/tile_plan.h"
#include "compiler/lower/transpositions.h"
#include "compiler/lower/warpgroups.h"
#include "compiler/lower/warps.h"

namespace hone::lower {

// A parallel loop with constant bounds.
struct GridLoop {
  loop::Expr var;
  int64_t min = 0;
  int64_t extent = 0;
};

// Copies share structure.
struct LoweredLaunch {
  std::string name;
  loop::Phase phase = loop::Phase::kRun;
  // The grid, outermost loop first; `body` runs for each of its indices. Back-ends may
  // emit every vectorised loop of the body as vectors and every unrolled one as copies of its body,
  // and emit a parallel loop of the body as a serial one.
  std::vector<GridLoop> grid;
  // The number of a thread among those that work together on one index of the grid. Each of them
  // runs `body`, and they wait for each other at its barriers. nullopt: one thread works on each
  // index.
  std::optional<GridLoop> thread;
  loop::Stmt body;
  // Shared buffers whose elements threads may copy in the background (copy_groups.h): a store to
  // one of them may be done as late as kCommit and kBarrier of `body` allow.
  loop::BufferSet copied;
  DotPlan dots;  // the dot loops of `body` that are instructions
  TranspositionPlan transpositions;
  TilePlan tiles;            // what `body` does in tile registers
  WarpPlan warps;            // the tile operations that warps of `thread` do, if any
  WarpgroupPlan warpgroups;  // those of `warps` that four warps do together, if any
  // Threads wait for the end of all launches ahead of this one before they touch what those may
  // have written, so that this one may start early (dependents.h).
  bool waits = false;
  // Behind this statement of `body` those that depend on a launch that waits may start; null: where
  // its blocks end.
  const loop::StmtNode* end_of_sums = nullptr;
  bool serial = false;          // one thread is enough, or the grid has one index
  bool barrier_before = false;  // it depends on a launch since the last barrier (barriers.h)

  // The number of indices of the grid; 0 if one of its loops is empty.
  int64_t GridIndices() const;
};

// Prints the grid and the decisions about the launch, then its body.
std::string ToText(const LoweredLaunch& launch);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_LOWERED_LAUNCH_H_
