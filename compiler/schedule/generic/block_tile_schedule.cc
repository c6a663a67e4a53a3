#include "compiler/schedule/generic/block_tile_schedule.h"

#include <algorithm>
#include <optional>

#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {
namespace {

// Sums that a block unrolls at most; more would be no faster, and compile long.
constexpr int64_t kUnrolledTerms = 512;
// Floats behind each row of a copy whose axes are exchanged, so that threads that write along the
// other one meet in fewer banks. Rows stay aligned for loads of four.
constexpr int64_t kSlack = 4;

std::optional<int64_t> ExtentOf(const Sequence& s, const Loop& loop) {
  const absl::StatusOr<Site> site = FindLoop(s.nest(), loop);
  int64_t extent = 0;
  if (!site.ok() || !loop::IsConstInt(site->stmt->extent, &extent)) return std::nullopt;
  return extent;
}

std::vector<Loop> Concatenated(std::initializer_list<std::vector<Loop>> lists) {
  std::vector<Loop> all;
  for (const std::vector<Loop>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// Loops of threads, and those of what each of them does.
struct Shares {
  std::vector<Loop> threads;
  std::vector<Loop> own;
};

// Divides the loops over the block's part of the axes among the threads. Loops of one iteration
// are not there.
Shares ShareAxes(Sequence* s, const Stage& stage, const BlockTile& tile) {
  Shares shares;
  for (size_t axis = 0; axis < tile.axes.size(); ++axis) {
    const Loop loop = stage.Axis(axis);
    if (!s->Has(loop)) continue;
    if (tile.axes[axis].results == 1) {
      shares.threads.push_back(loop);
    } else if (tile.axes[axis].threads == 1) {
      shares.own.push_back(loop);
    } else {
      const SplitLoops loops = s->Split(loop, tile.axes[axis].results, Tail::kExact);
      shares.threads.push_back(loops.outer);
      shares.own.push_back(loops.inner);
    }
  }
  return shares;
}

void Bind(Sequence* s, const Shares& shares) {
  for (const Loop& loop : shares.threads) s->Threads(loop);
  for (const Loop& loop : shares.own) s->Unroll(loop);
}

// Divides a copy among the threads: its last axes are theirs as far as there are threads enough,
// so that threads side by side read neighbours.
void ShareCopy(Sequence* s, const Stage& copy, size_t rank, int64_t threads) {
  std::vector<Loop> of_threads, own;
  int64_t left = threads;
  for (size_t axis = rank; axis-- > 0;) {
    const Loop loop = copy.Axis(axis);
    if (!s->Has(loop)) continue;
    const std::optional<int64_t> extent = ExtentOf(*s, loop);
    if (extent && *extent <= left) {
      of_threads.insert(of_threads.begin(), loop);
      left /= *extent;
    } else if (extent && left > 1) {
      const SplitLoops loops = s->Split(loop, CeilDiv(*extent, left), Tail::kClip);
      of_threads.insert(of_threads.begin(), loops.outer);
      own.insert(own.begin(), loops.inner);
      left = 1;
    } else {
      own.insert(own.begin(), loop);
    }
  }
  s->Reorder(Concatenated({of_threads, own}));
  for (const Loop& loop : of_threads) s->Threads(loop);
}

// The dimensions that the results' axes move through are the last ones of a copy, so that threads
// side by side load neighbours. Empty: they are anyway.
std::string LayoutOf(const GridFactor& factor) {
  std::vector<size_t> order, last;
  for (size_t d = 0; d < factor.dims.size(); ++d) {
    const bool has_axis =
        std::ranges::any_of(factor.dims[d].axes, [](int64_t c) { return c != 0; });
    (has_axis ? last : order).push_back(d);
  }
  order.insert(order.end(), last.begin(), last.end());
  if (std::ranges::is_sorted(order)) return "";
  const std::string letters = Layout::RowMajor(static_cast<int>(factor.dims.size())).ToString();
  std::string layout;
  for (const size_t d : order) layout += letters[d];
  return layout;
}

ComputeAtOptions SharedCopyOf(const GridFactor& factor) {
  ComputeAtOptions options;
  options.scope = loop::Scope::kShared;
  options.layout = LayoutOf(factor);
  if (options.layout.empty()) return options;
  const std::string letters = Layout::RowMajor(static_cast<int>(factor.dims.size())).ToString();
  options.slack.assign(factor.dims.size(), 0);
  options.slack[letters.find(options.layout.back())] = kSlack;
  return options;
}

// The loops of a sum: before those whose steps are copied at once, and of these.
struct Steps {
  std::vector<Loop> outer, inner;
};

Steps SplitSteps(Sequence* s, const Stage& registers, const GridSums& sums, const BlockTile& tile) {
  Steps steps;
  for (size_t i = 0; i < tile.step_loop; ++i) steps.outer.push_back(registers.Reduction(i));
  const SplitLoops loops = s->Split(registers.Reduction(tile.step_loop), tile.steps, Tail::kExact);
  steps.outer.push_back(loops.outer);
  steps.inner.push_back(loops.inner);
  for (size_t i = tile.step_loop + 1; i < sums.steps.size(); ++i) {
    steps.inner.push_back(registers.Reduction(i));
  }
  return steps;
}

std::vector<int64_t> StepExtents(const GridSums& sums, const BlockTile& tile) {
  std::vector<int64_t> extents(sums.steps.size(), 1);
  extents[tile.step_loop] = tile.steps;
  std::copy(sums.steps.begin() + static_cast<ptrdiff_t>(tile.step_loop) + 1, sums.steps.end(),
            extents.begin() + static_cast<ptrdiff_t>(tile.step_loop) + 1);
  return extents;
}

// The sums, a part of which is each thread's: their first values, and the terms of some steps.
// Returns the loop in whose body the terms of the same steps are.
Loop ScheduleSums(Sequence* s, const Stage& registers, const GridSums& sums,
                  const BlockTile& tile) {
  const size_t rank = sums.extents.size();
  s->Decompose(s->FirstOf(registers.Axes(rank)));
  const Shares first = ShareAxes(s, registers.Init(), tile);
  s->ReorderPresent(Concatenated({first.threads, first.own}));
  const Shares terms = ShareAxes(s, registers, tile);
  const Steps steps = SplitSteps(s, registers, sums, tile);
  s->ReorderPresent(Concatenated({steps.outer, terms.threads, steps.inner, terms.own}));
  Bind(s, first);
  Bind(s, terms);
  int64_t unrolled = tile.Results();
  const std::vector<int64_t> extents = StepExtents(sums, tile);
  for (const int64_t extent : extents) unrolled *= extent;
  if (unrolled <= kUnrolledTerms) s->UnrollPresent(steps.inner);
  return steps.outer.back();
}

}  // namespace

int64_t BlockTile::Threads() const {
  int64_t threads = 1;
  for (const AxisTile& axis : axes) threads *= axis.threads;
  return threads;
}

int64_t BlockTile::Results() const {
  int64_t results = 1;
  for (const AxisTile& axis : axes) results *= axis.results;
  return results;
}

std::vector<int64_t> BlockTile::BlockExtents() const {
  std::vector<int64_t> extents;
  for (const AxisTile& axis : axes) extents.push_back(axis.threads * axis.results);
  return extents;
}

SharedCopies::SharedCopies(const GridSums& sums) : sums_(sums) {
  for (const GridFactor& factor : *sums.factors) options_.push_back(SharedCopyOf(factor));
}

int64_t SharedCopies::Bytes(const BlockTile& tile) const {
  int64_t bytes = 0;
  const std::vector<int64_t> extents = tile.BlockExtents();
  const std::vector<int64_t> steps = StepExtents(sums_, tile);
  for (size_t i = 0; i < options_.size(); ++i) {
    const GridFactor& factor = (*sums_.factors)[i];
    int64_t elements = 1;
    for (size_t d = 0; d < factor.dims.size(); ++d) {
      const int64_t slack = options_[i].slack.empty() ? 0 : options_[i].slack[d];
      elements *= factor.Extent(d, extents, steps) + slack;
    }
    bytes += elements * factor.element_bytes;
  }
  return bytes;
}

void TileByBlocks(Sequence* s, const GridSums& sums, const std::set<std::string>& stages,
                  const BlockTile& tile) {
  const size_t rank = sums.extents.size();
  const auto [results, registers] = TakeResults(s, sums);
  std::vector<Stage> copies;
  for (const GridFactor& factor : *sums.factors) {
    copies.push_back(stages.contains(factor.buffer) ? Stage(factor.buffer)
                                                    : s->CacheRead(factor.buffer, registers));
  }
  std::vector<Loop> blocks, inside;
  const std::vector<int64_t> extents = tile.BlockExtents();
  for (size_t axis = 0; axis < rank; ++axis) {
    const Loop loop = results.Axis(axis);
    const SplitLoops loops = s->Split(loop, extents[axis], Tail::kExact, loop.Block(), loop);
    blocks.push_back(loops.outer);
    inside.push_back(loops.inner);
  }
  s->Reorder(Concatenated({blocks, inside}));
  s->ComputeAt(registers, blocks.back());
  const Loop some_steps = ScheduleSums(s, registers, sums, tile);
  const SharedCopies shared(sums);
  for (size_t i = 0; i < copies.size(); ++i) {
    s->ComputeAt(copies[i], some_steps, shared.options(i));
    ShareCopy(s, copies[i], (*sums.factors)[i].dims.size(), tile.Threads());
  }
  const Shares stored = ShareAxes(s, results, tile);
  s->ReorderPresent(Concatenated({stored.threads, stored.own}));
  Bind(s, stored);
  for (const Loop& loop : blocks) s->Parallel(loop);
}

}  // namespace hone::schedule
