// A launch in the form that back-ends take.
#ifndef HONE_COMPILER_LOWER_LOWERED_LAUNCH_H_
#define HONE_COMPILER_LOWER_LOWERED_LAUNCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/loop/stmt.h"
#include "compiler/lower/tile_plan.h"
#include "compiler/lower/warps.h"

namespace hone::lower {

// A parallel loop of constant bounds.
struct GridLoop {
  loop::Expr var;
  int64_t min = 0;
  int64_t extent = 0;
};

// Copies share structure.
struct LoweredLaunch {
  std::string name;
  loop::Phase phase = loop::Phase::kRun;
  // The grid, outermost loop first; `body` runs for each of its indices. Back-ends emit a
  // vectorised loop of the body as vectors if its extent is known and not too large, and a parallel
  // loop of the body as a serial one.
  std::vector<GridLoop> grid;
  // The number of a thread among those that work on one index of the grid together: `body` is the
  // program of each of them, and they meet at its barriers. None: one thread does an index.
  std::optional<GridLoop> thread;
  loop::Stmt body;
  TilePlan tiles;               // of loops and allocations of `body`
  WarpPlan warps;               // the same, where the warps of `thread` do tile operations
  bool serial = false;          // one thread is enough, or the grid has one index
  bool barrier_before = false;  // it depends on a launch since the last barrier (barriers.h)

  // The number of indices of the grid; 0 if one of its loops is empty.
  int64_t GridIndices() const;
};

// Prints the grid and the decisions about the launch, then its body.
std::string ToText(const LoweredLaunch& launch);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_LOWERED_LAUNCH_H_
