#include "compiler/schedule/generic/warp_tile_schedule.h"

#include <algorithm>
#include <utility>

#include "compiler/loop/operator_cost.h"
#include "compiler/loop/visit.h"
#include "compiler/machine/tensor_cores.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/generic/block_cover.h"
#include "compiler/schedule/generic/memory_order.h"
#include "compiler/schedule/generic/result_vectors.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "runtime/module_abi.h"

namespace hone::schedule {
namespace {

using machine::kWarpProduct;

// Bytes of a row of terms, and lanes, of one tile operation, where there are as many.
constexpr int64_t kMostOperationBytes = 64;
constexpr int64_t kMostOperationLanes = 2 * kWarpProduct.lanes;
constexpr int64_t kTermsOfDot = 2;
// How many iterations of a thread are written out at most: more code would not be faster, and would
// compile long. Where each computes functions such as tanh for a vector, that is long soon.
constexpr int64_t kMostUnrolled = 16;
constexpr int64_t kMostUnrolledFunctions = 2;
// Elements behind each row of sums, so that what a warp's threads store at once goes to different
// banks: pairs to four rows, of half a warp; single sums to eight rows, of a warp, where rows are
// lanes. Rows stay aligned for loads of four.
constexpr int64_t kPairSlack = 8;
constexpr int64_t kSingleSlack = 4;

// The steps of the loops of a sum between two copies.
std::vector<int64_t> CopiedSteps(const GridSums& sums, const WarpAxes& axes, const WarpTile& tile) {
  std::vector<int64_t> extents = sums.steps;
  std::fill_n(extents.begin(), axes.step_loop, 1);
  extents[axes.step_loop] = tile.steps;
  return extents;
}

// The steps of the loops of a sum, with whole copies alone.
std::vector<int64_t> CoveredSteps(const GridSums& sums, const WarpAxes& axes,
                                  const WarpTile& tile) {
  std::vector<int64_t> extents = sums.steps;
  int64_t& copied = extents[axes.step_loop];
  copied = CeilDiv(copied, tile.steps) * tile.steps;
  return extents;
}

// The layout in which that axis comes last; empty where it does in row-major data.
std::string WithAxisLast(size_t rank, size_t axis) {
  if (axis + 1 == rank) return "";
  const std::string letters = AxisLetters(static_cast<int>(rank));
  std::string layout = letters;
  layout.erase(axis, 1);
  return layout + letters[axis];
}

// Terms are the last dimension; empty where they are in row-major data.
std::string TermsLast(const GridFactor& factor, size_t term_dim) {
  return WithAxisLast(factor.dims.size(), term_dim);
}

// The stage that a block copies the factor by. `stages`: the factors that stages of the nest fill.
// Constants are laid out anew once.
Stage CopyOf(Sequence* s, const Stage& summed, const GridFactor& factor, size_t term_dim,
             const std::set<std::string>& stages) {
  if (stages.contains(factor.buffer)) return Stage(factor.buffer);
  const absl::StatusOr<loop::Buffer> buffer = FindBuffer(s->nest(), factor.buffer);
  const bool is_constant = buffer.ok() && (*buffer)->role == loop::Role::kConstant;
  const std::string layout = TermsLast(factor, term_dim);
  if (!is_constant || layout.empty()) return s->CacheRead(factor.buffer, summed);
  const int rank = static_cast<int>(factor.dims.size());
  return s->CacheRead(s->Pack(factor.buffer, *Layout::Parse(layout, rank)).buffer(), summed);
}

// The loops of a stage over what a block computes of the sums.
struct WarpLoops {
  std::vector<Loop> warps;  // those that are there
  std::vector<Loop> tiles;  // of a warp
  Loop row, lane;           // of a tile operation

  std::vector<Loop> All() const {
    std::vector<Loop> all = warps;
    all.insert(all.end(), tiles.begin(), tiles.end());
    all.push_back(row);
    all.push_back(lane);
    return all;
  }
};

// Splits a loop over `warps` times `tiles` times `own` iterations.
Loop SplitOfWarps(Sequence* s, Loop loop, int64_t warps, int64_t tiles, int64_t own,
                  WarpLoops* loops) {
  if (warps > 1) {
    const SplitLoops split = s->Split(loop, tiles * own, Tail::kExact);
    loops->warps.push_back(split.outer);
    loop = split.inner;
  }
  if (tiles > 1) {
    const SplitLoops split = s->Split(loop, own, Tail::kExact);
    loops->tiles.push_back(split.outer);
    loop = split.inner;
  }
  return loop;
}

WarpLoops SplitAmongWarps(Sequence* s, const Stage& stage, const WarpAxes& axes,
                          const WarpTile& tile) {
  WarpLoops loops;
  if (axes.lines && tile.warps_lines > 1) loops.warps.push_back(stage.Axis(*axes.lines));
  const int64_t lanes =
      tile.lanes % kMostOperationLanes == 0 ? kMostOperationLanes : kWarpProduct.lanes;
  loops.row = SplitOfWarps(s, stage.Axis(axes.rows), tile.warps_rows, tile.rows / kWarpProduct.rows,
                           kWarpProduct.rows, &loops);
  loops.lane =
      SplitOfWarps(s, stage.Axis(axes.lanes), tile.warps_lanes, tile.lanes / lanes, lanes, &loops);
  return loops;
}

// All but the rows.
void MarkTiles(Sequence* s, const WarpLoops& loops) {
  s->Vectorize(loops.lane);
  for (const Loop& loop : loops.tiles) s->Unroll(loop);
  for (const Loop& loop : loops.warps) s->Threads(loop);
}

std::optional<int64_t> ConstantExtent(const Sequence& s, const Loop& loop) {
  const absl::StatusOr<Site> site = FindLoop(s.nest(), loop);
  int64_t extent = 0;
  if (!site.ok() || !loop::IsConstInt(site->stmt->extent, &extent)) return std::nullopt;
  return extent;
}

bool ComputesFunctions(const Sequence& s, const Loop& loop) {
  const absl::StatusOr<Site> site = FindLoop(s.nest(), loop);
  bool found = false;
  if (!site.ok()) return found;
  loop::Walk(
      loop::Stmt(site->stmt), [](const loop::Stmt&) { return true; },
      [&](const loop::Expr& e) {
        found = found || loop::CostOfOperator(e) == loop::OperatorCost::kFunction;
      });
  return found;
}

// Unrolls the innermost of the loops, so that a thread has several loads under way: `most`
// iterations at most.
void UnrollInnermost(Sequence* s, const std::vector<Loop>& loops, int64_t most) {
  int64_t unrolled = 1;
  for (size_t i = loops.size(); i-- > 0;) {
    const std::optional<int64_t> extent = ConstantExtent(*s, loops[i]);
    if (!extent || unrolled * *extent > most) return;
    unrolled *= *extent;
    s->Unroll(loops[i]);
  }
}

// How many iterations each of so many threads gets, of which some may get none: a divisor, with
// which loops can be unrolled, where a quarter of the threads at most are idle for that.
int64_t IterationsOfThread(int64_t extent, int64_t threads) {
  const int64_t fewest = CeilDiv(extent, threads);
  for (int64_t count = fewest; 3 * count <= 4 * fewest; ++count) {
    if (extent % count == 0) return count;
  }
  return fewest;
}

// Divides the loops of a stage, in this order, among all threads of the block: the last ones are
// theirs as far as there are threads enough, so that threads side by side touch neighbours.
// `inside`: loops that stay within. `may_idle`: see IterationsOfThread. Returns those of each
// thread, but for `inside`.
std::vector<Loop> ShareLoops(Sequence* s, const std::vector<Loop>& loops, int64_t threads,
                             const std::vector<Loop>& inside = {}, bool may_idle = false) {
  std::vector<Loop> of_threads, own;
  int64_t left = threads;
  for (size_t i = loops.size(); i-- > 0;) {
    const Loop loop = loops[i];
    if (!s->Has(loop)) continue;
    const std::optional<int64_t> extent = ConstantExtent(*s, loop);
    if (!extent || left == 1) {
      own.insert(own.begin(), loop);
    } else if (*extent <= left) {
      of_threads.insert(of_threads.begin(), loop);
      left /= *extent;
    } else {
      const int64_t of_thread =
          may_idle ? IterationsOfThread(*extent, left) : CeilDiv(*extent, left);
      const Tail tail = *extent % of_thread == 0 ? Tail::kExact : Tail::kClip;
      const SplitLoops split = s->Split(loop, of_thread, tail);
      of_threads.insert(of_threads.begin(), split.outer);
      own.insert(own.begin(), split.inner);
      left = 1;
    }
  }
  std::vector<Loop> order = of_threads;
  order.insert(order.end(), own.begin(), own.end());
  order.insert(order.end(), inside.begin(), inside.end());
  s->Reorder(order);
  for (const Loop& loop : of_threads) s->Threads(loop);
  const bool has_functions = !own.empty() && !inside.empty() && ComputesFunctions(*s, own.back());
  UnrollInnermost(s, own, has_functions ? kMostUnrolledFunctions : kMostUnrolled);
  return own;
}

// Unrolls a few iterations of the innermost loop where UnrollInnermost left it whole.
void UnrollSome(Sequence* s, const std::vector<Loop>& loops) {
  constexpr int64_t kUnrolledVectors = 4;
  if (loops.empty() || ComputesFunctions(*s, loops.back())) return;
  const std::optional<int64_t> extent = ConstantExtent(*s, loops.back());
  if (!extent || *extent <= kMostUnrolled || *extent % kUnrolledVectors != 0) return;
  s->Unroll(s->Split(loops.back(), kUnrolledVectors, Tail::kExact).inner);
}

// Computes the copy of a factor in the loop's body. Threads load some neighbouring terms at once
// where these are neighbours there.
void PlaceCopy(Sequence* s, const Stage& copy, const Loop& loop, const GridFactor& factor,
               size_t term_dim, bool has_terms_last, int64_t terms_at_once, const WarpTile& tile) {
  const int64_t threads = tile.Threads();
  const size_t rank = factor.dims.size();
  ComputeAtOptions options;
  options.scope = loop::Scope::kShared;
  options.slack.assign(rank, 0);
  options.slack[term_dim] = tile.term_slack;
  options.layout = TermsLast(factor, term_dim);
  s->ComputeAt(copy, loop, options);
  if (!has_terms_last) {
    ShareLoops(s, copy.Axes(rank), threads);
    return;
  }
  std::vector<Loop> loops = copy.Axes(rank);
  loops.erase(loops.begin() + static_cast<ptrdiff_t>(term_dim));
  const SplitLoops terms = s->Split(copy.Axis(term_dim), terms_at_once, Tail::kExact);
  loops.push_back(terms.outer);
  ShareLoops(s, loops, threads, {terms.inner});
  s->Vectorize(terms.inner);
}

// Loops of the sums: in whose body the terms of the same copies are; over the rows of a tile
// operation; over neighbouring terms, of 16-bit floats.
struct SumLoops {
  Loop copied, row;
  std::optional<Loop> dot;
};

// The sums of a block's warps.
SumLoops ScheduleWarpSums(Sequence* s, const Stage& stage, const GridSums& sums,
                          const WarpAxes& axes, const WarpTile& tile) {
  s->Decompose(s->FirstOf(stage.Axes(sums.extents.size())));
  const WarpLoops zeros = SplitAmongWarps(s, stage.Init(), axes, tile);
  s->ReorderPresent(zeros.All());
  const WarpLoops terms = SplitAmongWarps(s, stage, axes, tile);
  const SplitLoops steps = s->Split(stage.Reduction(axes.step_loop), tile.steps, Tail::kExact);
  std::vector<Loop> order;
  for (size_t i = 0; i < axes.step_loop; ++i) order.push_back(stage.Reduction(i));
  order.push_back(steps.outer);
  order.insert(order.end(), terms.warps.begin(), terms.warps.end());
  for (size_t i = axes.step_loop + 1; i < sums.steps.size(); ++i) {
    order.push_back(stage.Reduction(i));
  }
  Loop own = steps.inner;
  const int64_t most = kMostOperationBytes / axes.element_bytes;
  const int64_t at_once = tile.steps % most == 0 ? most : most / 2;
  std::optional<Loop> parts;
  if (tile.steps > at_once) {
    const SplitLoops split = s->Split(own, at_once, Tail::kExact);
    parts = split.outer;
    order.push_back(split.outer);
    own = split.inner;
  }
  order.insert(order.end(), terms.tiles.begin(), terms.tiles.end());
  std::optional<Loop> dot;
  if (axes.IsFloat32()) {
    for (const Loop& loop : {terms.row, own, terms.lane}) order.push_back(loop);
  } else {
    const SplitLoops pairs = s->Split(own, kTermsOfDot, Tail::kExact);
    for (const Loop& loop : {terms.row, pairs.outer, terms.lane, pairs.inner}) {
      order.push_back(loop);
    }
    dot = pairs.inner;
  }
  s->ReorderPresent(order, /*allow_reassociation=*/true);
  if (parts) s->Unroll(*parts);
  MarkTiles(s, zeros);
  MarkTiles(s, terms);
  return {.copied = steps.outer, .row = terms.row, .dot = dot};
}

// The axis of the lanes: the last one. Where channels of images come last, only the filters go
// along it, while the images go along lines and columns; these are the axes of which a block takes
// several, and lanes go along the last of them.
size_t LanesOf(const GridSums& sums, const std::vector<size_t>& wide) {
  const GridFactor& a = (*sums.factors)[0];
  const GridFactor& b = (*sums.factors)[1];
  const bool is_first = a.DependsOnAxis(wide.back());
  if (sums.extents.size() < kImageRank || is_first == b.DependsOnAxis(wide.back())) {
    return wide.back();
  }
  const GridFactor& of_last = is_first ? a : b;
  const GridFactor& other = is_first ? b : a;
  std::vector<size_t> own, others;
  for (const size_t axis : wide) {
    if (of_last.DependsOnAxis(axis) == other.DependsOnAxis(axis)) continue;
    (of_last.DependsOnAxis(axis) ? own : others).push_back(axis);
  }
  return own.size() == 1 && others.size() > 1 ? others.back() : wide.back();
}

int64_t SumSlack(const WarpAxes& axes) {
  return axes.StoredLast() == axes.lanes ? kPairSlack : kSingleSlack;
}

// The bytes that a buffer of so many takes of a block's memory.
int64_t InSharedMemory(int64_t bytes) {
  return CeilDiv(bytes, int64_t{HONE_BUFFER_ALIGNMENT}) * HONE_BUFFER_ALIGNMENT;
}

}  // namespace

std::optional<WarpAxes> WarpAxesOf(const GridSums& sums, const loop::Nest& nest,
                                   const machine::TensorCores& cores, bool splits_float32) {
  if (!sums.factors || sums.factors->size() != 2) return std::nullopt;
  WarpAxes axes;
  const auto step_loop = std::ranges::find_if(sums.steps, [](int64_t steps) { return steps > 1; });
  if (step_loop == sums.steps.end()) return std::nullopt;
  axes.step_loop = static_cast<size_t>(step_loop - sums.steps.begin());
  axes.has_tail.assign(sums.extents.size(), true);
  for (const GridFactor& factor : *sums.factors) {
    const absl::StatusOr<loop::Buffer> buffer = FindBuffer(nest, factor.buffer);
    if (!buffer.ok()) return std::nullopt;
    const bool is_split = splits_float32 && (*buffer)->dtype == DataType::kFloat32;
    if (!is_split && !cores.Takes((*buffer)->dtype)) return std::nullopt;
    if (factor.element_bytes != sums.factors->front().element_bytes) return std::nullopt;
    axes.element_bytes = factor.element_bytes;
    std::vector<size_t> dims;
    for (size_t d = 0; d < factor.dims.size(); ++d) {
      if (factor.dims[d].steps[axes.step_loop] != 0) dims.push_back(d);
    }
    if (dims.size() != 1) return std::nullopt;
    const GridFactor::Dim& dim = factor.dims[dims[0]];
    const auto is_zero = [](int64_t coefficient) { return coefficient == 0; };
    if (!std::ranges::all_of(dim.axes, is_zero) ||
        std::ranges::count_if(dim.steps, is_zero) + 1 != std::ssize(dim.steps)) {
      return std::nullopt;
    }
    axes.term_dims.push_back(dims[0]);
    const bool is_constant = (*buffer)->role == loop::Role::kConstant;
    const bool is_last = dims[0] + 1 == factor.dims.size();
    axes.has_terms_last.push_back(is_constant ||
                                  (is_last && IsCopied(nest, factor.buffer, dims[0])));
    for (size_t axis = 0; axis < axes.has_tail.size(); ++axis) {
      const bool is_packed = is_constant && !is_last && factor.DependsOnAxis(axis);
      if (is_packed || !factor.GoesUpWithAxis(axis)) axes.has_tail[axis] = false;
    }
  }
  std::vector<size_t> wide;
  for (size_t axis = 0; axis < sums.extents.size(); ++axis) {
    if (sums.extents[axis] > 1) wide.push_back(axis);
  }
  if (wide.size() < 2) return std::nullopt;
  axes.lanes = LanesOf(sums, wide);
  const bool first_has = (*sums.factors)[0].DependsOnAxis(axes.lanes);
  if (first_has == (*sums.factors)[1].DependsOnAxis(axes.lanes)) return std::nullopt;
  const GridFactor& of_lanes = (*sums.factors)[first_has ? 0 : 1];
  const GridFactor& of_rows = (*sums.factors)[first_has ? 1 : 0];
  std::optional<size_t> rows;
  for (const size_t axis : wide) {
    if (axis == axes.lanes) continue;
    if (!of_lanes.DependsOnAxis(axis)) {
      rows = axis;
    } else if (!of_rows.DependsOnAxis(axis)) {
      axes.lines = axis;
    }
  }
  if (!rows) return std::nullopt;
  axes.rows = *rows;
  return axes;
}

WarpAxes WarpAxes::OfParts() const {
  WarpAxes axes = *this;
  ++axes.rows;
  ++axes.lanes;
  if (axes.lines) ++*axes.lines;
  axes.has_tail.insert(axes.has_tail.begin(), false);
  return axes;
}

int64_t WarpTile::Threads() const {
  return warps_rows * warps_lanes * warps_lines * kWarpProduct.threads;
}

int64_t WarpTile::SumsOfThread() const { return rows * lanes / kWarpProduct.threads; }

std::vector<int64_t> WarpTile::BlockExtents(const GridSums& sums, const WarpAxes& axes) const {
  std::vector<int64_t> extents(sums.extents.size(), 1);
  extents[axes.rows] = rows * warps_rows;
  extents[axes.lanes] = lanes * warps_lanes;
  if (axes.lines) extents[*axes.lines] = warps_lines;
  return extents;
}

WarpTileBytes SharedBytesOf(const GridSums& sums, const WarpAxes& axes, const WarpTile& tile) {
  constexpr int64_t kSumBytes = 4;
  const std::vector<int64_t> extents = tile.BlockExtents(sums, axes);
  const std::vector<int64_t> steps = CopiedSteps(sums, axes, tile);
  WarpTileBytes bytes;
  bytes.sums = kSumBytes;
  for (size_t i = 0; i < sums.factors->size(); ++i) {
    const GridFactor& factor = (*sums.factors)[i];
    int64_t elements = 1;
    for (size_t d = 0; d < factor.dims.size(); ++d) {
      elements *= factor.Extent(d, extents, steps) + (d == axes.term_dims[i] ? tile.term_slack : 0);
    }
    bytes.copies += InSharedMemory(elements * factor.element_bytes);
    bytes.slots += InSharedMemory(elements * factor.element_bytes * tile.slots);
    bytes.loads += elements / (axes.has_terms_last[i] ? axes.TermsAtOnce() : 1);
  }
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    bytes.sums *= extents[axis] + (axis == axes.StoredLast() ? SumSlack(axes) : 0);
  }
  bytes.sums = InSharedMemory(bytes.sums);
  return bytes;
}

WarpBlocks WorkOf(const GridSums& sums, const WarpAxes& axes, const WarpTile& tile, int64_t copies,
                  int64_t parts) {
  const WarpTileBytes shared = SharedBytesOf(sums, axes, tile);
  const int64_t waits = copies / parts;
  return {.blocks = parts * BlockCount(sums.extents, tile.BlockExtents(sums, axes)),
          .warps = tile.Threads() / kWarpProduct.threads,
          .rows = tile.rows,
          .lanes = tile.lanes,
          .terms = sums.Terms() / parts,
          .shared_bytes = shared.AtOnce(),
          .moved_bytes = static_cast<double>(shared.copies * waits + shared.sums),
          .waits = waits,
          .loads = static_cast<double>(shared.loads) / static_cast<double>(tile.Threads()),
          .copies_ahead = tile.slots - 1,
          .element_bytes = axes.element_bytes};
}

void TileByWarps(Sequence* s, const GridSums& sums, const WarpAxes& axes,
                 const std::set<std::string>& stages, const WarpTile& tile) {
  const size_t rank = sums.extents.size();
  // The sums, their copy in shared memory, and what reads that.
  const auto [results, stored] = TakeResults(s, sums);
  const Stage summed = s->CacheWrite(stored);
  const std::vector<int64_t> extents = tile.BlockExtents(sums, axes);
  const std::vector<int64_t> covered = CoveredExtents(sums.extents, extents);
  std::vector<Stage> copies;
  for (size_t i = 0; i < sums.factors->size(); ++i) {
    const GridFactor& factor = (*sums.factors)[i];
    copies.push_back(CopyOf(s, summed, factor, axes.term_dims[i], stages));
    s->PadStage(copies.back(), factor.ShapeFor(covered, CoveredSteps(sums, axes, tile)));
  }
  s->SumPadLanes(summed.Reduction(axes.step_loop), tile.steps);
  s->GrowStage(summed, covered);
  s->GrowStage(stored, covered);
  // What a thread stores at once of the last axis.
  const int64_t at_once = ResultsAtOnce(s->nest(), results, extents.back());
  std::vector<Loop> blocks, inside, vector;
  for (size_t axis = 0; axis < rank; ++axis) {
    const Loop loop = results.Axis(axis);
    int64_t extent = extents[axis];
    if (axis + 1 == rank && at_once > 1) {
      vector = {s->Split(loop, at_once, Tail::kExact, loop, loop.Lanes()).inner};
      extent /= at_once;
    }
    const SplitLoops split = s->Split(loop, extent, Tail::kGuard, loop.Block(), loop);
    blocks.push_back(split.outer);
    inside.push_back(split.inner);
  }
  std::vector<Loop> order = blocks;
  order.insert(order.end(), inside.begin(), inside.end());
  order.insert(order.end(), vector.begin(), vector.end());
  s->Reorder(order);
  // The tiles of the last block are whole, too.
  ComputeAtOptions shared{.scope = loop::Scope::kShared, .align = extents, .layout = ""};
  shared.slack.assign(rank, 0);
  shared.slack[axes.StoredLast()] = SumSlack(axes);
  shared.layout = WithAxisLast(rank, axes.StoredLast());
  s->ComputeAt(stored, blocks.back(), shared);
  s->ComputeAt(
      summed, blocks.back(),
      {.scope = loop::Scope::kTile, .align = extents, .layout = WithAxisLast(rank, axes.lanes)});
  const SumLoops loops = ScheduleWarpSums(s, summed, sums, axes, tile);
  for (size_t i = 0; i < copies.size(); ++i) {
    PlaceCopy(s, copies[i], loops.copied, (*sums.factors)[i], axes.term_dims[i],
              axes.has_terms_last[i], axes.TermsAtOnce(), tile);
  }
  if (tile.slots > 1) s->PipelineCopies(loops.copied, copies, tile.slots, tile.slots_behind);
  // Terms are neighbours in the copies alone.
  if (loops.dot) s->DotAll(*loops.dot);
  s->TileAll(loops.row);  // and that of the zeros, which is a copy of it
  const WarpLoops stores = SplitAmongWarps(s, stored, axes, tile);
  s->ReorderPresent(stores.All());
  MarkTiles(s, stores);
  s->TileAll(stores.row);
  const std::vector<Loop> own =
      ShareLoops(s, results.Axes(rank), tile.Threads(), vector, /*may_idle=*/!vector.empty());
  if (!vector.empty()) UnrollSome(s, own);
  for (const Loop& loop : vector) s->Vectorize(loop);
  for (const Loop& loop : blocks) s->Parallel(loop);
}

}  // namespace hone::schedule
