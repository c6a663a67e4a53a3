#include "compiler/lower/grid.h"

namespace hone::lower {

std::vector<GridLoop> TakeGrid(loop::Stmt* body) {
  std::vector<GridLoop> grid;
  while ((*body)->kind == loop::StmtKind::kFor && (*body)->loop_kind == loop::LoopKind::kParallel) {
    GridLoop loop{.var = (*body)->var};
    if (!loop::IsConstInt((*body)->min, &loop.min) ||
        !loop::IsConstInt((*body)->extent, &loop.extent)) {
      break;
    }
    grid.push_back(loop);
    const loop::Stmt inside = (*body)->body[0];
    *body = inside;
  }
  return grid;
}

}  // namespace hone::lower
