#include "compiler/schedule/rewrite/sequence.h"

#include <algorithm>

#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/annotate.h"
#include "compiler/schedule/primitives/cache_read.h"
#include "compiler/schedule/primitives/cache_write.h"
#include "compiler/schedule/primitives/clone_stage.h"
#include "compiler/schedule/primitives/dot_product.h"
#include "compiler/schedule/primitives/fission.h"
#include "compiler/schedule/primitives/grow_stage.h"
#include "compiler/schedule/primitives/inline_padding.h"
#include "compiler/schedule/primitives/inline_stage.h"
#include "compiler/schedule/primitives/join_axes.h"
#include "compiler/schedule/primitives/load_ahead.h"
#include "compiler/schedule/primitives/local_sum.h"
#include "compiler/schedule/primitives/merge_loops.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/primitives/pad_stage.h"
#include "compiler/schedule/primitives/peel.h"
#include "compiler/schedule/primitives/pipeline_copies.h"
#include "compiler/schedule/primitives/prepare_stage.h"
#include "compiler/schedule/primitives/reduce_by_lanes.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/rfactor.h"
#include "compiler/schedule/primitives/set_layout.h"
#include "compiler/schedule/primitives/skip_zero_terms.h"
#include "compiler/schedule/primitives/split_axis.h"
#include "compiler/schedule/primitives/tile_rows.h"
#include "compiler/schedule/primitives/unroll_steps.h"
#include "compiler/schedule/primitives/unswitch.h"
#include "fmt/format.h"

namespace hone::schedule {

Sequence::Sequence(loop::Nest nest) : nest_(std::move(nest)) { LearnLoops(); }

void Sequence::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void Sequence::Apply(std::string_view primitive, absl::Status status) {
  if (!absl::IsNotFound(status)) return Fail(std::move(status));
  Fail(absl::NotFoundError(fmt::format("{}: {}", primitive, std::string(status.message()))));
}

template <typename Made>
Made Sequence::Answer(std::string_view primitive, absl::StatusOr<Made> made, Made otherwise) {
  Apply(primitive, made.status());
  if (!ok()) return otherwise;
  LearnLoops();
  return *std::move(made);
}

void Sequence::LearnLoops() {
  for (const loop::Launch& launch : nest_.launches) {
    for (const loop::Stmt& loop : loop::CollectLoops(launch.body)) known_.insert(loop->var->name);
  }
}

void Sequence::LearnLoopsOf(const Stage& from, const Stage& to) {
  std::vector<std::string> names;
  for (const std::string& name : known_) {
    if (from.Owns(name)) names.push_back(from.NameIn(to, name));
  }
  known_.insert(names.begin(), names.end());
}

bool Sequence::Knows(const Loop& loop) const {
  return known_.contains(loop.name()) || known_.contains(loop.WithoutInit().name());
}

std::vector<Loop> Sequence::CopiesOf(std::string_view primitive, const Loop& loop) {
  if (!ok()) return {};
  std::vector<Loop> copies = LoopCopies(nest_, loop);
  if (copies.empty() && !Knows(loop)) Apply(primitive, MissingLoop(nest_, loop));
  return copies;
}

std::optional<Loop> Sequence::Find(const Loop& loop) const {
  if (!HasLoop(nest_, loop)) return std::nullopt;
  return loop;
}

Loop Sequence::FirstOf(const std::vector<Loop>& loops) const {
  const auto first =
      std::find_if(loops.begin(), loops.end(), [&](const auto& loop) { return Has(loop); });
  return first == loops.end() ? loops.front() : *first;
}

Loop Sequence::LastOf(const std::vector<Loop>& loops) const {
  const auto last =
      std::find_if(loops.rbegin(), loops.rend(), [&](const auto& loop) { return Has(loop); });
  return last == loops.rend() ? loops.front() : *last;
}

SplitLoops Sequence::Split(const Loop& loop, int64_t factor, Tail tail, const Loop& outer,
                           const Loop& inner) {
  const SplitLoops made{outer.empty() ? loop.Outer() : outer, inner.empty() ? loop.Inner() : inner};
  if (ok()) Apply("Split", schedule::Split(&nest_, loop, factor, tail, made.outer, made.inner));
  known_.insert({made.outer.name(), made.inner.name()});
  return made;
}

void Sequence::SplitIfPresent(const Loop& loop, int64_t factor, Tail tail, const Loop& outer,
                              const Loop& inner) {
  if (Has(loop)) {
    Split(loop, factor, tail, outer, inner);
  } else if (Knows(loop)) {  // what would have been made of it has gone with it
    known_.insert({outer.name(), inner.name()});
  }
}

void Sequence::Reorder(const std::vector<Loop>& loops, bool allow_reassociation) {
  if (ok()) Apply("Reorder", schedule::Reorder(&nest_, loops, allow_reassociation));
}

void Sequence::ReorderPresent(const std::vector<Loop>& loops, bool allow_reassociation) {
  if (!ok()) return;
  std::vector<Loop> present;
  for (const Loop& loop : loops) {
    if (HasLoop(nest_, loop)) present.push_back(loop);
  }
  if (present.size() > 1) Reorder(present, allow_reassociation);
}

void Sequence::Prepare(const Stage& stage) {
  if (ok()) Apply("Prepare", schedule::PrepareStage(&nest_, stage));
}

void Sequence::Vectorize(const Loop& loop) {
  if (ok()) Apply("Vectorize", schedule::Vectorize(&nest_, loop));
}

void Sequence::VectorizeAll(const Loop& loop) {
  for (const Loop& copy : CopiesOf("VectorizeAll", loop)) Vectorize(copy);
}

void Sequence::Unroll(const Loop& loop) {
  if (ok()) Apply("Unroll", schedule::Unroll(&nest_, loop));
}

void Sequence::UnrollAll(const Loop& loop) {
  for (const Loop& copy : CopiesOf("UnrollAll", loop)) Unroll(copy);
}

void Sequence::UnrollPresent(const std::vector<Loop>& loops) {
  for (const Loop& loop : loops) {
    if (Knows(loop)) UnrollAll(loop);
  }
}

void Sequence::DotAll(const Loop& loop) {
  for (const Loop& copy : CopiesOf("DotAll", loop)) {
    if (ok()) Apply("DotAll", DotProduct(&nest_, copy));
  }
}

void Sequence::TileAll(const Loop& loop) {
  for (const Loop& copy : CopiesOf("TileAll", loop)) {
    if (ok()) Apply("TileAll", TileRows(&nest_, copy));
  }
}

void Sequence::SumPadLanes(const Loop& loop, int64_t factor) {
  if (ok()) Apply("SumPadLanes", schedule::SumPadLanes(&nest_, loop, factor));
}

void Sequence::Parallel(const Loop& loop) {
  if (ok()) Apply("Parallel", schedule::Parallel(&nest_, loop));
}

void Sequence::ParallelIfPresent(const Loop& loop) {
  if (Has(loop)) Parallel(loop);
}

void Sequence::Threads(const Loop& loop) {
  if (ok()) Apply("Threads", schedule::Threads(&nest_, loop));
}

void Sequence::ShareByOffsets(const Loop& loop, const std::string& offsets, const ShareWork& work,
                              int64_t shares) {
  if (ok()) {
    Apply("ShareByOffsets", schedule::ShareByOffsets(&nest_, loop, offsets, work, shares));
  }
}

void Sequence::Peel(const Loop& loop, int64_t first, int64_t last) {
  if (ok()) Apply("Peel", schedule::Peel(&nest_, loop, first, last));
}

void Sequence::PeelAll(const Loop& loop, int64_t first, int64_t last) {
  for (const Loop& copy : CopiesOf("PeelAll", loop)) Peel(copy, first, last);
}

void Sequence::JoinLastAxes(const std::string& buffer) {
  if (ok()) Apply("JoinLastAxes", schedule::JoinLastAxes(&nest_, buffer));
}

void Sequence::SplitAxis(const std::string& buffer, size_t axis, int64_t factor) {
  if (ok()) Apply("SplitAxis", schedule::SplitAxis(&nest_, buffer, axis, factor));
}

void Sequence::Merge(const Loop& first, const Loop& second) {
  if (ok()) Apply("Merge", MergeLoops(&nest_, first, second));
}

void Sequence::Unswitch(const Loop& loop) {
  if (ok()) Apply("Unswitch", schedule::Unswitch(&nest_, loop));
}

void Sequence::Inline(const Stage& stage) {
  if (ok()) Apply("Inline", schedule::InlineStage(&nest_, stage));
}

void Sequence::InlinePadding(const Stage& stage, size_t axis) {
  if (ok()) Apply("InlinePadding", schedule::InlinePadding(&nest_, stage, axis));
}

void Sequence::ComputeAt(const Stage& stage, const Loop& loop, const ComputeAtOptions& options) {
  if (ok()) Apply("ComputeAt", schedule::ComputeAt(&nest_, stage, loop, options));
}

void Sequence::Decompose(const Loop& loop) {
  if (ok()) Apply("Decompose", DecomposeReduction(&nest_, loop));
}

void Sequence::ReduceByLanes(const Loop& loop, int64_t lanes, int64_t vectors, bool drops_nan) {
  if (ok()) {
    Apply("ReduceByLanes", schedule::ReduceByLanes(&nest_, loop, lanes, vectors, drops_nan));
  }
}

void Sequence::UnrollSteps(const Loop& loop, int64_t factor) {
  if (ok()) Apply("UnrollSteps", schedule::UnrollSteps(&nest_, loop, factor));
}

void Sequence::SetLayout(const std::string& buffer, const Layout& layout) {
  if (ok()) Apply("SetLayout", schedule::SetLayout(&nest_, buffer, layout));
}

Stage Sequence::Pack(const std::string& buffer, const Layout& layout) {
  const Stage otherwise(buffer);
  if (!ok()) return otherwise;
  return Answer<Stage>("Pack", schedule::Pack(&nest_, buffer, layout), otherwise);
}

Stage Sequence::CacheWrite(const Stage& stage, const std::string& layout) {
  if (!ok()) return stage;
  Stage cache = Answer<Stage>("CacheWrite", schedule::CacheWrite(&nest_, stage, layout), stage);
  LearnLoopsOf(stage, cache);
  return cache;
}

Stage Sequence::CacheRead(const std::string& buffer, const Stage& reader) {
  const Stage otherwise(buffer);
  if (!ok()) return otherwise;
  return Answer<Stage>("CacheRead", schedule::CacheRead(&nest_, buffer, reader), otherwise);
}

Stage Sequence::CacheRead(const std::string& buffer, const std::vector<Stage>& readers) {
  const Stage otherwise(buffer);
  if (!ok()) return otherwise;
  return Answer<Stage>("CacheRead", schedule::CacheRead(&nest_, buffer, readers), otherwise);
}

Stage Sequence::Clone(const Stage& stage, const Stage& reader) {
  if (!ok()) return stage;
  Stage clone = Answer<Stage>("Clone", CloneStage(&nest_, stage, reader), stage);
  LearnLoopsOf(stage, clone);
  return clone;
}

void Sequence::PadStage(const Stage& stage, const std::vector<int64_t>& shape) {
  if (ok()) Apply("PadStage", schedule::PadStage(&nest_, stage, shape));
}

void Sequence::GrowStage(const Stage& stage, const std::vector<int64_t>& shape) {
  if (ok()) Apply("GrowStage", schedule::GrowStage(&nest_, stage, shape));
}

void Sequence::LoadAhead(const Loop& loop, const Stage& copy) {
  if (ok()) Apply("LoadAhead", schedule::LoadAhead(&nest_, loop, copy));
}

void Sequence::PipelineCopies(const Loop& loop, const std::vector<Stage>& copies, int64_t slots,
                              int64_t slots_behind) {
  if (!ok()) return;
  Apply("PipelineCopies", schedule::PipelineCopies(&nest_, loop, copies, slots, slots_behind));
}

Stage Sequence::SumLocally(const Loop& loop) {
  const Stage otherwise{std::string(loop.stage())};
  if (!ok()) return otherwise;
  Stage sums = Answer<Stage>("SumLocally", schedule::SumLocally(&nest_, loop), otherwise);
  LearnLoopsOf(otherwise, sums);
  return sums;
}

Stage Sequence::Rfactor(const Loop& loop, int64_t parts, bool starts_at_first) {
  const Stage otherwise{std::string(loop.stage())};
  if (!ok()) return otherwise;
  return Answer<Stage>("Rfactor", schedule::Rfactor(&nest_, loop, parts, starts_at_first),
                       otherwise);
}

WinogradStages Sequence::Winograd(const Stage& stage, int64_t tile, PhaseOrder phase_order,
                                  FilterTransform filters) {
  if (!ok()) return {};
  return Answer<WinogradStages>("Winograd",
                                schedule::Winograd(&nest_, stage, tile, phase_order, filters), {});
}

DilationStages Sequence::SplitDilation(const Stage& stage, int64_t dilation_h, int64_t dilation_w) {
  if (!ok()) return {};
  return Answer<DilationStages>("SplitDilation",
                                schedule::SplitDilation(&nest_, stage, dilation_h, dilation_w), {});
}

RowFilterStages Sequence::FilterRows(const Stage& stage, int64_t tile) {
  if (!ok()) return {};
  return Answer<RowFilterStages>("FilterRows", schedule::FilterRows(&nest_, stage, tile), {});
}

SeparateStages Sequence::SeparateWindows(const Stage& stage, const std::vector<int64_t>& strides) {
  if (!ok()) return {};
  return Answer<SeparateStages>("SeparateWindows",
                                schedule::SeparateWindows(&nest_, stage, strides), {});
}

void Sequence::Prefetch(const Loop& loop, const std::string& buffer,
                        const PrefetchOptions& options) {
  if (ok()) Apply("Prefetch", PrefetchAhead(&nest_, loop, buffer, options));
}

void Sequence::PrefetchRegion(const std::string& buffer, const PrefetchRegionOptions& options) {
  if (ok()) Apply("PrefetchRegion", schedule::PrefetchRegion(&nest_, buffer, options));
}

void Sequence::LeaveOutPadding(const std::vector<Loop>& steps, const Loop& lane,
                               const std::vector<Loop>& taps) {
  const Loop outermost = FirstOf(steps);
  if (!ok() || !Has(outermost)) return;
  Apply("SkipZeroTerms", schedule::SkipZeroTerms(&nest_, outermost));
  Unswitch(lane);
  for (const Loop& tap : taps) {
    if (ok() && Has(tap)) Apply("ClipLoop", schedule::ClipLoop(&nest_, tap));
  }
}

void Sequence::Simplify() {
  if (ok()) nest_ = loop::Simplify(nest_);
}

void Sequence::SimplifyStage(const Stage& stage) {
  if (!ok()) return;
  const absl::StatusOr<loop::Buffer> found = FindBuffer(nest_, stage.buffer());
  if (!found.ok()) return Apply("SimplifyStage", found.status());
  const absl::StatusOr<size_t> writer = WriterOf(nest_, *found);
  if (!writer.ok()) return Fail(writer.status());
  loop::Stmt& body = nest_.launches[*writer].body;
  body = loop::Simplify(body);
}

absl::StatusOr<loop::Nest> Sequence::Finish() && {
  if (!ok()) return status_;
  return std::move(nest_);
}

}  // namespace hone::schedule
