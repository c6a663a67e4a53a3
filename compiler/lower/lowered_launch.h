// A launch as back-ends take it.
#ifndef HONE_COMPILER_LOWER_LOWERED_LAUNCH_H_
#define HONE_COMPILER_LOWER_LOWERED_LAUNCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/loop/stmt.h"
#include "compiler/lower/tile_plan.h"

namespace hone::lower {

// A parallel loop of constant bounds.
struct GridLoop {
  loop::Expr var;
  int64_t min = 0;
  int64_t extent = 0;
};

// A value type; copies share structure.
struct LoweredLaunch {
  std::string name;
  loop::Phase phase = loop::Phase::kRun;
  // The grid, outermost first: each of its indices runs `body`. A vectorised loop of it is emitted
  // as vectors where its extent is known and not too large; parallel loops of it are serial.
  std::vector<GridLoop> grid;
  loop::Stmt body;
  TilePlan tiles;               // of loops and allocations of `body`
  bool serial = false;          // one thread is enough, or the grid has one index
  bool barrier_before = false;  // depends on a launch since the barrier before

  // The indices of the grid, 0 where a loop of it is empty.
  int64_t GridIndices() const;
};

// The grid and what is decided of the launch, then its body.
std::string ToText(const LoweredLaunch& launch);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_LOWERED_LAUNCH_H_
