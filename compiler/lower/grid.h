// Finds the grid of a launch.
#ifndef HONE_COMPILER_LOWER_GRID_H_
#define HONE_COMPILER_LOWER_GRID_H_

#include <vector>

#include "compiler/loop/stmt.h"
#include "compiler/lower/lowered_launch.h"

namespace hone::lower {

// Removes the outermost perfectly nested parallel loops with constant bounds from the body and
// returns them.
std::vector<GridLoop> TakeGrid(loop::Stmt* body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_GRID_H_
