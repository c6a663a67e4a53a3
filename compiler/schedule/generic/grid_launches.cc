#include "compiler/schedule/generic/grid_launches.h"

#include <utility>
#include <vector>

namespace hone::schedule {
namespace {

// The loops of a launch that stand directly in each other, outermost first, down to those that are
// threads already.
std::vector<Loop> PerfectLoops(const loop::Launch& launch) {
  std::vector<Loop> loops;
  loop::Stmt s = launch.body;
  while (s->kind == loop::StmtKind::kFor && s->loop_kind != loop::LoopKind::kThread) {
    loops.emplace_back(s->var->name);
    const loop::Stmt inside = s->body[0];
    s = inside;
  }
  return loops;
}

}  // namespace

void MakeGrids(Sequence* s) {
  for (const loop::Launch& launch : loop::Nest(s->nest()).launches) {
    for (const Loop& loop : PerfectLoops(launch)) {
      Sequence longer = *s;
      longer.Parallel(loop);
      if (!longer.ok()) break;
      *s = std::move(longer);
    }
  }
}

}  // namespace hone::schedule
