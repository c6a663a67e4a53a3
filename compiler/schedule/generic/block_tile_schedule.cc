#include "compiler/schedule/generic/block_tile_schedule.h"

#include <algorithm>
#include <optional>

#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/generic/block_cover.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {
namespace {

// Sums that a block unrolls at most; more would be no faster, and compile long.
constexpr int64_t kUnrolledTerms = 512;
// What a thread copies in unrolled loops at most; more would fill its registers.
constexpr int64_t kUnrolledCopies = 32;
constexpr int64_t kVectorBytes = 16;  // that a thread loads at once
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
    const auto& [threads, results, runs] = tile.axes[axis];
    Loop loop = stage.Axis(axis);
    if (!s->Has(loop)) continue;
    if (results > 1 && threads > 1 && runs > 1) {
      const SplitLoops loops = s->Split(loop, threads * results / runs, Tail::kExact, loop.Strip());
      shares.own.push_back(loops.outer);
      loop = loops.inner;
    }
    if (results == runs) {
      shares.threads.push_back(loop);
    } else if (threads == 1) {
      shares.own.push_back(loop);
    } else {
      const SplitLoops loops = s->Split(loop, results / runs, Tail::kExact);
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
// so that threads side by side read neighbours, `vector` elements each at once: with `is_vector` as
// one vector, else by statements side by side.
void ShareCopy(Sequence* s, const Stage& copy, size_t rank, int64_t threads, int64_t vector,
               bool is_vector) {
  std::vector<Loop> of_threads, own;
  std::vector<Loop> axes = copy.Axes(rank);
  if (vector > 1) {
    const SplitLoops loops = s->Split(axes.back(), vector, Tail::kExact);
    axes.back() = loops.outer;
    own.push_back(loops.inner);
    if (is_vector) s->Vectorize(loops.inner);
  }
  int64_t left = threads;
  int64_t unrolled = vector;
  for (size_t axis = rank; axis-- > 0;) {
    const Loop loop = axes[axis];
    if (!s->Has(loop)) continue;
    const std::optional<int64_t> extent = ExtentOf(*s, loop);
    if (extent && *extent <= left) {
      of_threads.insert(of_threads.begin(), loop);
      left /= *extent;
    } else if (extent && left > 1) {
      const int64_t turns = CeilDiv(*extent, left);
      const SplitLoops loops = s->Split(loop, turns, Tail::kGuard);
      of_threads.insert(of_threads.begin(), loops.outer);
      own.insert(own.begin(), loops.inner);
      unrolled *= turns;
      left = 1;
    } else {
      own.insert(own.begin(), loop);
      unrolled *= extent.value_or(kUnrolledCopies + 1);
    }
  }
  s->Reorder(Concatenated({of_threads, own}));
  for (const Loop& loop : of_threads) s->Threads(loop);
  if (unrolled > kUnrolledCopies) return;
  if (is_vector) own.pop_back();
  for (const Loop& loop : own) s->Unroll(loop);
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

bool IsMultiple(int64_t step, bool is_taken, int64_t of) { return !is_taken || step % of == 0; }

// How many elements of a factor lie side by side, from an aligned one on, wherever a copy of it
// begins: as many as a thread can load at once, or 1.
int64_t VectorOf(const GridFactor& factor, const GridSums& sums, const BlockTile& tile) {
  const int64_t vector = kVectorBytes / factor.element_bytes;
  const std::vector<int64_t> block = tile.BlockExtents();
  const std::vector<int64_t> steps = StepExtents(sums, tile);
  if (factor.dims.empty() || vector < 2) return 1;
  const std::vector<int64_t> shape =
      factor.ShapeFor(CoveredExtents(sums.extents, block), sums.steps);
  for (size_t d = 0; d < factor.dims.size(); ++d) {
    if (shape[d] != factor.dims[d].extent) return 1;  // elements are loaded each by a condition
  }
  const GridFactor::Dim& last = factor.dims.back();
  bool has_neighbours = false;
  bool is_aligned = last.extent % vector == 0 && last.first % vector == 0 &&
                    factor.Extent(factor.dims.size() - 1, block, steps) % vector == 0;
  for (size_t axis = 0; axis < block.size(); ++axis) {
    has_neighbours |= last.axes[axis] == 1 && block[axis] > 1;
    is_aligned &=
        IsMultiple(last.axes[axis] * block[axis], block[axis] < sums.extents[axis], vector);
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    has_neighbours |= last.steps[i] == 1 && steps[i] > 1;
    is_aligned &= IsMultiple(last.steps[i] * steps[i], steps[i] < sums.steps[i], vector);
  }
  return has_neighbours && is_aligned ? vector : 1;
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

BlockTile BlockTile::OfPart() const {
  BlockTile tile = *this;
  tile.axes.insert(tile.axes.begin(), AxisTile{});
  return tile;
}

SharedCopies::SharedCopies(const GridSums& sums) : sums_(sums) {
  for (const GridFactor& factor : *sums.factors) options_.push_back(SharedCopyOf(factor));
}

int64_t SharedCopies::Elements(size_t factor, const BlockTile& tile, bool with_slack) const {
  const GridFactor& of = (*sums_.factors)[factor];
  const std::vector<int64_t> extents = tile.BlockExtents();
  const std::vector<int64_t> steps = StepExtents(sums_, tile);
  int64_t elements = 1;
  for (size_t d = 0; d < of.dims.size(); ++d) {
    const bool has_slack = with_slack && !options_[factor].slack.empty();
    elements *= of.Extent(d, extents, steps) + (has_slack ? options_[factor].slack[d] : 0);
  }
  return elements;
}

int64_t SharedCopies::Bytes(const BlockTile& tile) const {
  int64_t bytes = 0;
  for (size_t i = 0; i < options_.size(); ++i) {
    bytes += Elements(i, tile, /*with_slack=*/true) * (*sums_.factors)[i].element_bytes;
  }
  return bytes;
}

int64_t SharedCopies::WordsOfThread(const BlockTile& tile) const {
  int64_t words = 0;
  for (size_t i = 0; i < options_.size(); ++i) {
    words += CeilDiv(Elements(i, tile, /*with_slack=*/false), tile.Threads());
  }
  return words;
}

std::vector<int64_t> SharedCopies::AxisStrides(size_t factor, const BlockTile& tile) const {
  const GridFactor& of = (*sums_.factors)[factor];
  const std::vector<int64_t> extents = tile.BlockExtents();
  const std::vector<int64_t> steps = StepExtents(sums_, tile);
  const ComputeAtOptions& options = options_[factor];
  const std::string letters = Layout::RowMajor(static_cast<int>(of.dims.size())).ToString();
  const std::string& order = options.layout.empty() ? letters : options.layout;
  std::vector<int64_t> strides(extents.size(), 0);
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = letters.find(order[i]);
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      strides[axis] += of.dims[d].axes[axis] * stride;
    }
    stride *= of.Extent(d, extents, steps) + (options.slack.empty() ? 0 : options.slack[d]);
  }
  return strides;
}

void TileByBlocks(Sequence* s, const GridSums& sums, const std::set<std::string>& stages,
                  const BlockTile& tile) {
  const size_t rank = sums.extents.size();
  const auto [results, registers] = TakeResults(s, sums);
  const std::vector<int64_t> extents = tile.BlockExtents();
  const std::vector<int64_t> covered = CoveredExtents(sums.extents, extents);
  std::vector<Stage> copies;
  for (const GridFactor& factor : *sums.factors) {
    copies.push_back(stages.contains(factor.buffer) ? Stage(factor.buffer)
                                                    : s->CacheRead(factor.buffer, registers));
    s->PadStage(copies.back(), factor.ShapeFor(covered, sums.steps));
  }
  std::vector<Loop> blocks, inside;
  for (size_t axis = 0; axis < rank; ++axis) {
    const Loop loop = results.Axis(axis);
    const SplitLoops loops = s->Split(loop, extents[axis], Tail::kGuard, loop.Block(), loop);
    blocks.push_back(loops.outer);
    inside.push_back(loops.inner);
  }
  s->Reorder(Concatenated({blocks, inside}));
  s->ComputeAt(registers, blocks.back());
  const Loop some_steps = ScheduleSums(s, registers, sums, tile);
  const SharedCopies shared(sums);
  for (size_t i = 0; i < copies.size(); ++i) {
    s->ComputeAt(copies[i], some_steps, shared.options(i));
    const GridFactor& factor = (*sums.factors)[i];
    const int64_t vector = stages.contains(factor.buffer) ? 1 : VectorOf(factor, sums, tile);
    // Where they lie apart in the copy, background copies are of one element each.
    const bool is_vector = tile.slots > 1 && vector > 1 && shared.options(i).layout.empty();
    ShareCopy(s, copies[i], factor.dims.size(), tile.Threads(), vector, is_vector);
  }
  if (tile.slots > 1) s->PipelineCopies(some_steps, copies, tile.slots);
  if (tile.loads_ahead) {
    for (const Stage& copy : copies) s->LoadAhead(some_steps, copy);
  }
  const Shares stored = ShareAxes(s, results, tile);
  s->ReorderPresent(Concatenated({stored.threads, stored.own}));
  Bind(s, stored);
  for (const Loop& loop : blocks) s->Parallel(loop);
}

}  // namespace hone::schedule
