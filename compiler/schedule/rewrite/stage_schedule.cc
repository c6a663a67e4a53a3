#include "compiler/schedule/rewrite/stage_schedule.h"

#include <algorithm>

#include "compiler/loop/linear.h"
#include "compiler/loop/operator_cost.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/primitives/inline_stage.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/rewrite/row_loops.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::ExprKind;
using loop::Stmt;
using loop::StmtKind;

namespace {

struct ValueCost {
  int64_t nodes = 0;
  bool expensive = false;  // functions and divisions
};

ValueCost CostOf(const Expr& value) {
  ValueCost cost;
  loop::Walk(value, [&](const Expr& e) {
    ++cost.nodes;
    cost.expensive = cost.expensive || loop::CostOfOperator(e) != loop::OperatorCost::kCheap;
  });
  return cost;
}

struct Readers {
  int64_t loads = 0;
  bool in_reduction = false;  // of more loops than the stage has: read over and over
};

Readers ReadersOf(const loop::Nest& nest, const Buffer& buffer) {
  Readers readers;
  for (const loop::Launch& launch : nest.launches) {
    if (!Loads(launch.body, buffer)) continue;
    const Stmt s = loop::InsideLoops(launch.body);
    readers.in_reduction = readers.in_reduction || s->kind != StmtKind::kStore;
    loop::Walk(
        launch.body, [](const Stmt&) { return true; },
        [&](const Expr& e) {
          readers.loads += e->kind == ExprKind::kLoad && e->buffer == buffer ? 1 : 0;
        });
  }
  return readers;
}

bool WorthInlining(const loop::Nest& nest, const Buffer& buffer) {
  const absl::StatusOr<size_t> writer = WriterOf(nest, buffer);
  if (!writer.ok()) return false;
  const Stmt s = loop::InsideLoops(nest.launches[*writer].body);
  if (s->kind != StmtKind::kStore) return false;
  const ValueCost cost = CostOf(s->value);
  const Readers readers = ReadersOf(nest, buffer);
  constexpr int64_t kSmall = 12;
  constexpr int64_t kLarge = 200;
  if (cost.expensive) return readers.loads <= 1 && !readers.in_reduction;
  return readers.loads <= 1 ? cost.nodes <= kLarge : cost.nodes <= kSmall;
}

// Runs `steps` on a copy and keeps it if they all held.
bool Try(Sequence* s, const std::function<void(Sequence&)>& steps) {
  Sequence attempt = *s;
  steps(attempt);
  if (!attempt.ok()) return false;
  *s = std::move(attempt);
  return true;
}

// Loops that vectors and the grid are made of, after the stage was brought into memory order.
struct Shaped {
  std::vector<Loop> outer;  // outermost first
  Loop inner;
  int64_t inner_extent = 1;
  size_t axis = 0;  // of the inner one
};

// Orders the loops of a stage of a single store as its buffer lies in memory; a blocked axis is
// split by its innermost block. The innermost has several iterations if any has: axes of one index
// behind it are nowhere in memory.
Shaped FollowLayout(Sequence& s, const Buffer& buffer, const StageNest& stage) {
  std::vector<Loop> order;
  std::vector<Layout::Dim> dims = buffer->layout.dims();
  const size_t innermost = InnermostDim(buffer->layout, buffer->shape);
  std::rotate(dims.begin() + static_cast<ptrdiff_t>(innermost),
              dims.begin() + static_cast<ptrdiff_t>(innermost) + 1, dims.end());
  std::vector<int64_t> blocks(buffer->shape.size(), 1);
  for (const Layout::Dim& dim : dims) blocks[dim.axis] = buffer->layout.BlockOf(dim.axis);
  std::vector<Loop> lanes(buffer->shape.size());
  for (const Layout::Dim& dim : dims) {
    const Loop loop = stage.LoopOf(static_cast<size_t>(dim.axis));
    if (dim.factor == 0) {
      if (blocks[dim.axis] > 1) {
        s.Split(loop, blocks[dim.axis], Tail::kExact, loop, loop.Lane());
        lanes[dim.axis] = loop.Lane();
      }
      order.push_back(loop);
    } else if (std::find(order.begin(), order.end(), lanes[dim.axis]) == order.end()) {
      order.push_back(lanes[dim.axis]);
    }
  }
  if (order.size() > 1) s.Reorder(order);
  Shaped shaped;
  shaped.inner = order.back();
  shaped.axis = static_cast<size_t>(dims.back().axis);
  shaped.inner_extent = dims.back().factor != 0 ? blocks[shaped.axis] : buffer->shape[shaped.axis];
  order.pop_back();
  shaped.outer = std::move(order);
  return shaped;
}

void MakeGrid(Sequence* s, const std::vector<Loop>& loops, int64_t count) {
  for (int64_t i = 0; i < count && i < static_cast<int64_t>(loops.size()); ++i) {
    if (!Try(s, [&](Sequence& t) { t.Parallel(loops[i]); })) return;
  }
}

// inner => inner (tiles), its vectors at once, their lanes; all of constant extents, a last,
// shorter tile apart.
void TileInner(Sequence& s, const Shaped& shaped, const StageOptions& options) {
  const Loop& inner = shaped.inner;
  const int64_t lanes = std::min(options.lanes, shaped.inner_extent);
  const int64_t unroll = std::min(options.unroll, CeilDiv(shaped.inner_extent, lanes));
  s.Split(inner, lanes * unroll, Tail::kClip, inner, inner.Tile());
  s.Split(inner.Tile(), lanes, Tail::kClip, inner.Vectors(), inner.Lanes());
}

bool HasTail(const Shaped& shaped, const StageOptions& options) {
  const int64_t lanes = std::min(options.lanes, shaped.inner_extent);
  return shaped.inner_extent % lanes != 0 ||
         shaped.inner_extent %
                 (lanes * std::min(options.unroll, CeilDiv(shaped.inner_extent, lanes))) !=
             0;
}

// The loop along which the value is read in order; `block` of its elements at a time where the
// layout has blocks, else 0.
struct Across {
  Loop loop;
  int64_t extent = 0;
  int64_t block = 0;
  int64_t element_bytes = 4;
};

std::optional<Across> AcrossOf(const Expr& load, const StageNest& stage) {
  if (load->operands.empty()) return std::nullopt;
  const loop::BufferNode& read = *load->buffer;
  const Layout::Dim last = read.layout.dims()[InnermostDim(read.layout, read.shape)];
  const auto axis = static_cast<size_t>(last.axis);
  for (const Stmt& loop : stage.loops) {
    if (loop::Linear::Of(load->operands[axis]).CoefficientOf(loop->var) != 1) continue;
    for (size_t i = 0; i < load->operands.size(); ++i) {
      if (i != axis && loop::UsesVar(load->operands[i], loop->var)) return std::nullopt;
    }
    int64_t extent = 0;
    if (!loop::IsConstInt(loop->extent, &extent)) return std::nullopt;
    return Across{Loop(loop->var->name), extent, last.factor, SizeBytes(load->dtype)};
  }
  return std::nullopt;
}

// The first of the loops that are not the one the stage's buffer is written along.
std::optional<Across> AcrossOf(const Buffer& buffer, const StageNest& stage) {
  if (buffer->shape.size() < 2 || stage.body->kind != StmtKind::kStore) return std::nullopt;
  const size_t along = InnermostAxis(buffer->layout, buffer->shape);
  std::optional<Across> across;
  loop::Walk(stage.body->value, [&](const Expr& e) {
    if (across || e->kind != ExprKind::kLoad) return;
    across = AcrossOf(e, stage);
    if (across && across->loop == stage.LoopOf(along)) across.reset();
  });
  return across;
}

// Tiles of the lanes by as many elements of the loop that is read in order; several of them that
// are read side by side before the next ones along the lanes.
bool ScheduleTurned(Sequence* s, const Stage& stage, const Shaped& shaped, const Across& across,
                    const StageOptions& given) {
  if (std::find(shaped.outer.begin(), shaped.outer.end(), across.loop) == shaped.outer.end()) {
    return false;
  }
  constexpr int64_t kLaneBytes = 4;  // options count lanes of these
  StageOptions options = given;
  options.lanes = options.lanes * kLaneBytes / std::max(kLaneBytes, across.element_bytes);
  if (options.lanes < 2) return false;
  const int64_t rows = across.block != 0 ? across.block : options.lanes;
  const int64_t strip = across.block != 0 ? 1 : std::min(options.strip, across.extent / rows);
  return Try(s, [&](Sequence& t) {
    const Loop row = across.loop.Row();
    const Loop tiles = across.loop.Strip();
    std::vector<Loop> order = shaped.outer;
    order.push_back(shaped.inner);
    if (strip > 1) {
      t.Split(across.loop, strip * rows, Tail::kClip, across.loop, tiles);
      t.Split(tiles, rows, Tail::kClip, tiles, row);
      order.push_back(tiles);
    } else {
      t.Split(across.loop, rows, Tail::kClip, across.loop, row);
    }
    TileInner(t, shaped, options);
    order.insert(order.end(), {shaped.inner.Vectors(), row, shaped.inner.Lanes()});
    t.Reorder(order);
    MakeGrid(&t, shaped.outer, options.grid);
    if (across.extent % (std::max<int64_t>(strip, 1) * rows) != 0) t.PeelAll(across.loop, 0, 1);
    if (strip > 1 && across.extent % rows != 0) t.PeelAll(tiles, 0, 1);
    if (HasTail(shaped, options)) {
      t.PeelAll(shaped.inner, 0, 1);
      t.PeelAll(shaped.inner.Vectors(), 0, 1);
    }
    t.SimplifyStage(stage);
    t.VectorizeAll(shaped.inner.Lanes());
    t.UnrollAll(row);
    t.UnrollAll(shaped.inner.Vectors());
  });
}

// Fewer elements side by side are no vector.
constexpr int64_t kFewest = 4;

// Lanes are neighbours of the loop that is read in order, and what is written side by side is
// unrolled: vectors of each are interleaved in registers.
bool ScheduleAcross(Sequence* s, const Stage& stage, const Shaped& shaped, const Across& across,
                    const StageOptions& options) {
  if (across.block != 0 || across.extent < options.lanes) return false;
  return Try(s, [&](Sequence& t) {
    const Loop lanes = across.loop.Lanes();
    t.Split(across.loop, options.lanes, Tail::kClip, across.loop, lanes);
    std::vector<Loop> order = shaped.outer;
    order.push_back(shaped.inner);
    order.push_back(lanes);
    t.Reorder(order);
    MakeGrid(&t, shaped.outer, options.grid);
    if (across.extent % options.lanes != 0) t.PeelAll(across.loop, 0, 1);
    t.SimplifyStage(stage);
    t.VectorizeAll(lanes);
    t.UnrollAll(shaped.inner);
  });
}

// Lanes are made of what TileInner left.
void MakeLanes(Sequence& s, const Shaped& shaped, const StageOptions& options) {
  if (HasTail(shaped, options)) {
    s.PeelAll(shaped.inner, 0, 1);
    s.PeelAll(shaped.inner.Vectors(), 0, 1);
  }
  s.VectorizeAll(shaped.inner.Lanes());
  s.UnrollAll(shaped.inner.Vectors());
}

void ScheduleStore(Sequence* s, const Buffer& buffer, const StageNest& stage,
                   const StageOptions& options) {
  Shaped shaped;
  if (!Try(s, [&](Sequence& t) { shaped = FollowLayout(t, buffer, stage); })) return;
  const std::optional<Across> across = AcrossOf(buffer, stage);
  if (options.turn && options.lanes > 1 && across) {
    const auto turn = shaped.inner_extent < kFewest ? ScheduleAcross : ScheduleTurned;
    if (turn(s, Stage(buffer->name), shaped, *across, options)) return;
  }
  // The grid first: peeling breaks the perfect nest of what is inside it only.
  MakeGrid(s, shaped.outer, options.grid);
  if (shaped.outer.empty()) MakeGrid(s, {shaped.inner}, 0);
  if (options.lanes > 1) {
    Try(s, [&](Sequence& t) {
      TileInner(t, shaped, options);
      if (shaped.outer.empty()) t.ParallelIfPresent(shaped.inner);
      MakeLanes(t, shaped, options);
    });
  } else if (shaped.outer.empty()) {
    MakeGrid(s, {shaped.inner}, 1);
  }
}

// The reduction's own loops, computed in `shaped`: the stage's innermost spatial one is the lanes.
void VectorizeSums(Sequence& t, const Stage& stage, const Stage& sums, const Shaped& shaped,
                   const StageOptions& options) {
  if (!t.ok()) return;
  const Loop spatial = sums.Axis(shaped.axis);
  t.Decompose(spatial);
  std::vector<Loop> order;
  for (size_t r = 0; t.Has(sums.Reduction(r)); ++r) order.push_back(sums.Reduction(r));
  const int64_t lanes = std::min(options.lanes, shaped.inner_extent);
  for (const Loop& loop : {spatial.Init(), spatial}) {
    t.Split(loop, lanes, Tail::kClip, loop.Vectors(), loop.Lanes());
  }
  order.push_back(spatial.Vectors());
  order.push_back(spatial.Lanes());
  t.ReorderPresent(order);
  if (HasTail(shaped, options)) {
    t.PeelAll(shaped.inner, 0, 1);
    for (const Loop& loop : {shaped.inner, spatial, spatial.Init()}) {
      t.PeelAll(loop.Vectors(), 0, 1);
    }
  } else {
    t.SimplifyStage(stage);
  }
  for (const Loop& loop : {shaped.inner, spatial}) {
    t.VectorizeAll(loop.Lanes());
    t.UnrollAll(loop.Vectors());
  }
}

// A sum in registers: lanes of the result where that is asked for and possible, else one at a time.
void ScheduleReduction(Sequence* s, const Stage& result, const StageOptions& options) {
  const auto schedule = [&](Sequence& t, bool vector) {
    const Stage sums = t.CacheWrite(result);
    if (!t.ok()) return;
    const Buffer buffer = BufferOf(t.nest(), result.buffer());
    const absl::StatusOr<size_t> writer = WriterOf(t.nest(), buffer);
    if (!writer.ok()) return t.Fail(writer.status());
    const absl::StatusOr<StageNest> stage = MatchStage(t.nest(), *writer, buffer);
    if (!stage.ok()) return t.Fail(stage.status());
    const Shaped shaped = FollowLayout(t, buffer, *stage);
    for (int64_t i = 0; i < options.grid && i < static_cast<int64_t>(shaped.outer.size()); ++i) {
      t.Parallel(shaped.outer[i]);
    }
    if (vector) {
      TileInner(t, shaped, options);
      const bool only_lanes = buffer->layout.ElementCount(buffer->shape) == shaped.inner_extent;
      if (only_lanes && !HasTail(shaped, options)) t.ParallelIfPresent(shaped.inner);
    } else if (shaped.outer.empty()) {
      t.Parallel(shaped.inner);
    }
    t.ComputeAt(sums, shaped.inner);
    if (vector) VectorizeSums(t, result, sums, shaped, options);
  };
  if (options.vector_reduction && options.lanes > 1) {
    if (Try(s, [&](Sequence& t) { schedule(t, true); })) return;
  }
  Try(s, [&](Sequence& t) { schedule(t, false); });
}

// A stage that reads what it stored before, as running sums do, or of several stores: no loop
// changes its place, and those that keep no order become the grid and lanes.
void ScheduleInOrder(Sequence* s, const loop::Launch& launch, const StageOptions& options) {
  std::vector<Loop> outer;
  int64_t extent = 0;
  Stmt body = launch.body;
  for (; body->kind == StmtKind::kFor && loop::IsConstInt(body->extent, &extent);
       body = body->body[0]) {
    if (body->body[0]->kind != StmtKind::kStore) outer.emplace_back(body->var->name);
  }
  MakeGrid(s, outer, options.grid);
  if (options.lanes < 2) return;
  for (const Stmt& innermost : InnermostLoops(launch.body)) {
    Shaped shaped;
    shaped.inner = Loop(innermost->var->name);
    if (!loop::IsConstInt(innermost->extent, &shaped.inner_extent)) continue;
    Try(s, [&](Sequence& t) {
      TileInner(t, shaped, options);
      MakeLanes(t, shaped, options);
    });
  }
}

}  // namespace

namespace {

// Each output whose stage could be turned, with the loop along which its value is read in order.
std::vector<std::pair<Buffer, Across>> OutputsToTurn(const loop::Nest& nest) {
  std::vector<std::pair<Buffer, Across>> outputs;
  for (const Buffer& buffer : nest.buffers) {
    if (buffer->role != loop::Role::kOutput) continue;
    const absl::StatusOr<size_t> writer = WriterOf(nest, buffer);
    if (!writer.ok()) continue;
    const absl::StatusOr<StageNest> stage = MatchStage(nest, *writer, buffer);
    if (!stage.ok()) continue;
    if (const auto across = AcrossOf(buffer, *stage)) outputs.emplace_back(buffer, *across);
  }
  return outputs;
}

}  // namespace

bool HasStageToTurn(const loop::Nest& nest) { return !OutputsToTurn(nest).empty(); }

int64_t ElementsAcrossFew(const loop::Nest& nest) {
  int64_t elements = 0;
  for (const auto& [buffer, across] : OutputsToTurn(nest)) {
    const std::vector<int64_t> physical = buffer->layout.PhysicalShape(buffer->shape);
    const int64_t side_by_side = physical[InnermostDim(buffer->layout, buffer->shape)];
    if (side_by_side > 1 && side_by_side < kFewest && across.block == 0) {
      elements = std::max(elements, across.extent);
    }
  }
  return elements;
}

void InlineCheapStages(Sequence* s, const std::set<std::string>& kept) {
  std::vector<std::string> names;
  for (const loop::Launch& launch : s->nest().launches) names.push_back(launch.name);
  for (const std::string& name : names) {
    const Buffer buffer = BufferOf(s->nest(), name);
    const Stage stage(name);
    if (buffer == nullptr || kept.contains(name) || !CanInline(s->nest(), stage)) continue;
    if (WorthInlining(s->nest(), buffer)) s->Inline(stage);
  }
}

void JoinAxes(Sequence* s) {
  for (const Buffer& buffer : loop::Nest(s->nest()).buffers) {
    for (size_t axes = buffer->shape.size(); axes > 1; --axes) {
      if (!Try(s, [&](Sequence& t) { t.JoinLastAxes(buffer->name); })) break;
    }
  }
}

void ScheduleStage(Sequence* s, const Stage& filled, const StageOptions& options) {
  const Buffer buffer = BufferOf(s->nest(), filled.buffer());
  if (buffer == nullptr || buffer->shape.empty()) return;
  const absl::StatusOr<size_t> writer = WriterOf(s->nest(), buffer);
  if (!writer.ok()) return;
  const absl::StatusOr<StageNest> stage = MatchStage(s->nest(), *writer, buffer);
  if (!stage.ok()) {
    return ScheduleInOrder(s, loop::Launch(s->nest().launches[*writer]), options);
  }
  if (stage->body->kind == StmtKind::kStore) {
    ScheduleStore(s, buffer, *stage, options);
  } else if (!buffer->layout.HasPadLanes(buffer->shape)) {
    ScheduleReduction(s, filled, options);
  }
}

void ScheduleStages(Sequence* s, const StageOptions& options) {
  std::vector<Stage> stages;
  for (const Buffer& buffer : s->nest().buffers) {
    if (buffer->role == loop::Role::kWorkspace || buffer->role == loop::Role::kOutput) {
      stages.emplace_back(buffer->name);
    }
  }
  for (const Stage& stage : stages) ScheduleStage(s, stage, options);
  s->Simplify();
}

}  // namespace hone::schedule
