#include "compiler/schedule/generic/grid_launches.h"

#include <optional>
#include <utility>
#include <vector>

#include "compiler/schedule/generic/block_rows_schedule.h"
#include "compiler/schedule/generic/grid_rows.h"

namespace hone::schedule {
namespace {

bool IsScheduled(const loop::Stmt& loop) {
  return loop->loop_kind == loop::LoopKind::kThread ||
         loop->loop_kind == loop::LoopKind::kVectorize;
}

// The loops of a launch that stand directly in each other, outermost first, down to those that are
// threads or vectors already.
std::vector<Loop> PerfectLoops(const loop::Launch& launch) {
  std::vector<Loop> loops;
  loop::Stmt s = launch.body;
  while (s->kind == loop::StmtKind::kFor && !IsScheduled(s)) {
    loops.emplace_back(s->var->name);
    const loop::Stmt inside = s->body[0];
    s = inside;
  }
  return loops;
}

// Threads of a row, which every device has, and the columns from which on they are worth a barrier.
constexpr int64_t kThreadsOfLeftRow = 32;
constexpr int64_t kFewestLeftColumns = 64;

void ShareLeftRows(Sequence* s) {
  std::vector<Stage> stages;
  for (const loop::Buffer& buffer : s->nest().buffers) stages.emplace_back(buffer->name);
  for (const Stage& stage : stages) {
    const std::optional<GridRows> rows = ViewReduction(*s, stage);
    if (!rows || rows->columns < kFewestLeftColumns) continue;
    const int64_t run = rows->columns % (4 * kThreadsOfLeftRow) == 0 ? 4 : 1;
    Sequence shared = rows->s;
    ComputeRowsByBlocks(&shared, *rows, {.threads = kThreadsOfLeftRow, .rows = 1, .run = run});
    if (shared.ok()) *s = std::move(shared);
  }
}

}  // namespace

void MakeGrids(Sequence* s) {
  ShareLeftRows(s);
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
