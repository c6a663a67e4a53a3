#include "compiler/schedule/rewrite/sequence.h"

#include <algorithm>

#include "compiler/loop/simplify.h"
#include "compiler/schedule/primitives/annotate.h"
#include "compiler/schedule/primitives/cache_write.h"
#include "compiler/schedule/primitives/dot_product.h"
#include "compiler/schedule/primitives/fission.h"
#include "compiler/schedule/primitives/inline_padding.h"
#include "compiler/schedule/primitives/inline_stage.h"
#include "compiler/schedule/primitives/join_axes.h"
#include "compiler/schedule/primitives/local_sum.h"
#include "compiler/schedule/primitives/merge_loops.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/primitives/peel.h"
#include "compiler/schedule/primitives/prepare_stage.h"
#include "compiler/schedule/primitives/reduce_by_lanes.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/rfactor.h"
#include "compiler/schedule/primitives/set_layout.h"
#include "compiler/schedule/primitives/skip_zero_terms.h"
#include "compiler/schedule/primitives/tile_rows.h"
#include "compiler/schedule/primitives/unroll_steps.h"
#include "compiler/schedule/primitives/unswitch.h"

namespace hone::schedule {

void Sequence::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

bool Sequence::Has(const std::string& loop) const { return HasLoop(nest_, loop); }

std::string Sequence::FirstOf(const std::vector<std::string>& loops) const {
  const auto first =
      std::find_if(loops.begin(), loops.end(), [&](const auto& loop) { return Has(loop); });
  return first == loops.end() ? loops.front() : *first;
}

std::string Sequence::LastOf(const std::vector<std::string>& loops) const {
  const auto last =
      std::find_if(loops.rbegin(), loops.rend(), [&](const auto& loop) { return Has(loop); });
  return last == loops.rend() ? loops.front() : *last;
}

void Sequence::Split(const std::string& loop, int64_t factor, Tail tail, const std::string& outer,
                     const std::string& inner) {
  if (ok()) Fail(schedule::Split(&nest_, loop, factor, tail, outer, inner));
}

void Sequence::SplitIfPresent(const std::string& loop, int64_t factor, Tail tail,
                              const std::string& outer, const std::string& inner) {
  if (ok() && HasLoop(nest_, loop)) Split(loop, factor, tail, outer, inner);
}

void Sequence::Reorder(const std::vector<std::string>& loops, bool allow_reassociation) {
  if (ok()) Fail(schedule::Reorder(&nest_, loops, allow_reassociation));
}

void Sequence::ReorderPresent(const std::vector<std::string>& loops, bool allow_reassociation) {
  if (!ok()) return;
  std::vector<std::string> present;
  for (const std::string& loop : loops) {
    if (HasLoop(nest_, loop)) present.push_back(loop);
  }
  if (present.size() > 1) Fail(schedule::Reorder(&nest_, present, allow_reassociation));
}

void Sequence::Prepare(const std::string& buffer) {
  if (ok()) Fail(schedule::PrepareStage(&nest_, buffer));
}

void Sequence::Vectorize(const std::string& loop) {
  if (ok()) Fail(schedule::Vectorize(&nest_, loop));
}

void Sequence::VectorizeAll(const std::string& loop) {
  if (!ok()) return;
  for (const std::string& copy : LoopCopies(nest_, loop)) Vectorize(copy);
}

void Sequence::Unroll(const std::string& loop) {
  if (ok()) Fail(schedule::Unroll(&nest_, loop));
}

void Sequence::UnrollAll(const std::string& loop) {
  if (!ok()) return;
  for (const std::string& copy : LoopCopies(nest_, loop)) Unroll(copy);
}

void Sequence::DotAll(const std::string& loop) {
  if (!ok()) return;
  for (const std::string& copy : LoopCopies(nest_, loop)) {
    if (ok()) Fail(DotProduct(&nest_, copy));
  }
}

void Sequence::TileAll(const std::string& loop) {
  if (!ok()) return;
  for (const std::string& copy : LoopCopies(nest_, loop)) {
    if (ok()) Fail(TileRows(&nest_, copy));
  }
}

void Sequence::SumPadLanes(const std::string& loop, int64_t factor) {
  if (ok()) Fail(schedule::SumPadLanes(&nest_, loop, factor));
}

void Sequence::Parallel(const std::string& loop) {
  if (ok()) Fail(schedule::Parallel(&nest_, loop));
}

void Sequence::ParallelIfPresent(const std::string& loop) {
  if (ok() && HasLoop(nest_, loop)) Parallel(loop);
}

void Sequence::ShareByOffsets(const std::string& loop, const std::string& offsets,
                              const ShareWork& work, int64_t shares) {
  if (ok()) Fail(schedule::ShareByOffsets(&nest_, loop, offsets, work, shares));
}

void Sequence::Peel(const std::string& loop, int64_t first, int64_t last) {
  if (ok()) Fail(schedule::Peel(&nest_, loop, first, last));
}

void Sequence::PeelAll(const std::string& loop, int64_t first, int64_t last) {
  if (!ok()) return;
  for (const std::string& copy : LoopCopies(nest_, loop)) Peel(copy, first, last);
}

void Sequence::JoinLastAxes(const std::string& buffer) {
  if (ok()) Fail(schedule::JoinLastAxes(&nest_, buffer));
}

void Sequence::Merge(const std::string& first, const std::string& second) {
  if (ok()) Fail(MergeLoops(&nest_, first, second));
}

void Sequence::Unswitch(const std::string& loop) {
  if (ok()) Fail(schedule::Unswitch(&nest_, loop));
}

void Sequence::Inline(const std::string& buffer) {
  if (ok()) Fail(schedule::InlineStage(&nest_, buffer));
}

void Sequence::InlinePadding(const std::string& buffer, size_t axis) {
  if (ok()) Fail(schedule::InlinePadding(&nest_, buffer, axis));
}

void Sequence::ComputeAt(const std::string& buffer, const std::string& loop,
                         const ComputeAtOptions& options) {
  if (ok()) Fail(schedule::ComputeAt(&nest_, buffer, loop, options));
}

void Sequence::Decompose(const std::string& loop) {
  if (ok()) Fail(DecomposeReduction(&nest_, loop));
}

void Sequence::ReduceByLanes(const std::string& loop, int64_t lanes, int64_t vectors,
                             bool drops_nan) {
  if (ok()) Fail(schedule::ReduceByLanes(&nest_, loop, lanes, vectors, drops_nan));
}

void Sequence::UnrollSteps(const std::string& loop, int64_t factor) {
  if (ok()) Fail(schedule::UnrollSteps(&nest_, loop, factor));
}

void Sequence::SetLayout(const std::string& buffer, const Layout& layout) {
  if (ok()) Fail(schedule::SetLayout(&nest_, buffer, layout));
}

std::string Sequence::Pack(const std::string& buffer, const Layout& layout) {
  if (!ok()) return buffer;
  absl::StatusOr<std::string> name = schedule::Pack(&nest_, buffer, layout);
  if (!name.ok()) {
    Fail(name.status());
    return buffer;
  }
  return *std::move(name);
}

std::string Sequence::CacheWrite(const std::string& buffer, const std::string& layout) {
  if (!ok()) return buffer;
  absl::StatusOr<std::string> name = schedule::CacheWrite(&nest_, buffer, layout);
  if (!name.ok()) {
    Fail(name.status());
    return buffer;
  }
  return *std::move(name);
}

std::string Sequence::SumLocally(const std::string& loop) {
  if (!ok()) return loop;
  absl::StatusOr<std::string> name = schedule::SumLocally(&nest_, loop);
  if (!name.ok()) {
    Fail(name.status());
    return loop;
  }
  return *std::move(name);
}

std::string Sequence::Rfactor(const std::string& loop, int64_t parts) {
  if (!ok()) return loop;
  absl::StatusOr<std::string> name = schedule::Rfactor(&nest_, loop, parts);
  if (!name.ok()) {
    Fail(name.status());
    return loop;
  }
  return *std::move(name);
}

WinogradStages Sequence::Winograd(const std::string& buffer, int64_t tile, PhaseOrder phase_order,
                                  FilterTransform filters) {
  if (!ok()) return {};
  absl::StatusOr<WinogradStages> stages =
      schedule::Winograd(&nest_, buffer, tile, phase_order, filters);
  if (stages.ok()) return *std::move(stages);
  Fail(stages.status());
  return {};
}

DilationStages Sequence::SplitDilation(const std::string& buffer, int64_t dilation_h,
                                       int64_t dilation_w) {
  if (!ok()) return {};
  absl::StatusOr<DilationStages> stages =
      schedule::SplitDilation(&nest_, buffer, dilation_h, dilation_w);
  if (stages.ok()) return *std::move(stages);
  Fail(stages.status());
  return {};
}

RowFilterStages Sequence::FilterRows(const std::string& buffer, int64_t tile) {
  if (!ok()) return {};
  absl::StatusOr<RowFilterStages> stages = schedule::FilterRows(&nest_, buffer, tile);
  if (stages.ok()) return *std::move(stages);
  Fail(stages.status());
  return {};
}

void Sequence::Prefetch(const std::string& loop, const std::string& buffer,
                        const PrefetchOptions& options) {
  if (ok()) Fail(PrefetchAhead(&nest_, loop, buffer, options));
}

void Sequence::PrefetchRegion(const std::string& buffer, const PrefetchRegionOptions& options) {
  if (ok()) Fail(schedule::PrefetchRegion(&nest_, buffer, options));
}

void Sequence::LeaveOutPadding(const std::vector<std::string>& steps, const std::string& lane,
                               const std::vector<std::string>& taps) {
  const std::string outermost = FirstOf(steps);
  if (!ok() || !Has(outermost)) return;
  Fail(schedule::SkipZeroTerms(&nest_, outermost));
  Unswitch(lane);
  for (const std::string& tap : taps) {
    if (ok() && Has(tap)) Fail(schedule::ClipLoop(&nest_, tap));
  }
}

void Sequence::Simplify() {
  if (ok()) nest_ = loop::Simplify(nest_);
}

void Sequence::SimplifyStage(const std::string& buffer) {
  if (!ok()) return;
  const absl::StatusOr<loop::Buffer> found = FindBuffer(nest_, buffer);
  if (!found.ok()) return Fail(found.status());
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
