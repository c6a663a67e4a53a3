// Applies primitives one after the other and keeps the first error: schedules read as lists.
#ifndef HONE_COMPILER_SCHEDULE_REWRITE_SEQUENCE_H_
#define HONE_COMPILER_SCHEDULE_REWRITE_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/compute_at.h"
#include "compiler/schedule/primitives/dilation_phases.h"
#include "compiler/schedule/primitives/prefetch.h"
#include "compiler/schedule/primitives/row_filters.h"
#include "compiler/schedule/primitives/separate_windows.h"
#include "compiler/schedule/primitives/share_by_offsets.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/primitives/winograd.h"

namespace hone::schedule {

// The loops that a split makes.
struct SplitLoops {
  Loop outer, inner;
};

// After an error every call is without effect. A loop that is not there is one (kNotFound), but:
// calls with "All" in their names treat all copies that peeling made of a loop, of which there may
// be none left where it was there before (its one iteration is no loop), and calls with "Present"
// take loops that may never have been.
class Sequence {
 public:
  explicit Sequence(loop::Nest nest);

  // Without names the loops are Loop::Outer and Inner.
  SplitLoops Split(const Loop& loop, int64_t factor, Tail tail, const Loop& outer = {},
                   const Loop& inner = {});
  void SplitIfPresent(const Loop& loop, int64_t factor, Tail tail, const Loop& outer,
                      const Loop& inner);
  void Reorder(const std::vector<Loop>& loops, bool allow_reassociation = false);
  // Only those of `loops` that are there.
  void ReorderPresent(const std::vector<Loop>& loops, bool allow_reassociation = false);
  void Vectorize(const Loop& loop);
  void VectorizeAll(const Loop& loop);
  void Unroll(const Loop& loop);
  void UnrollAll(const Loop& loop);
  // All copies of those that there are or were.
  void UnrollPresent(const std::vector<Loop>& loops);
  void DotAll(const Loop& loop);
  void TileAll(const Loop& loop);
  void Parallel(const Loop& loop);
  void ParallelIfPresent(const Loop& loop);
  void Threads(const Loop& loop);
  void ShareByOffsets(const Loop& loop, const std::string& offsets, const ShareWork& work,
                      int64_t shares);
  void Peel(const Loop& loop, int64_t first, int64_t last);
  void PeelAll(const Loop& loop, int64_t first, int64_t last);
  void JoinLastAxes(const std::string& buffer);
  void SplitAxis(const std::string& buffer, size_t axis, int64_t factor);
  void Merge(const Loop& first, const Loop& second);
  void Unswitch(const Loop& loop);
  void Inline(const Stage& stage);
  void InlinePadding(const Stage& stage, size_t axis);
  void ComputeAt(const Stage& stage, const Loop& loop, const ComputeAtOptions& options = {});
  void ReduceByLanes(const Loop& loop, int64_t lanes, int64_t vectors, bool drops_nan = false);
  Stage Rfactor(const Loop& loop, int64_t parts);
  void UnrollSteps(const Loop& loop, int64_t factor);
  void Decompose(const Loop& loop);
  void SetLayout(const std::string& buffer, const Layout& layout);
  Stage Pack(const std::string& buffer, const Layout& layout);
  void Prepare(const Stage& stage);
  // The stage of a new buffer, which the given one copies.
  Stage CacheWrite(const Stage& stage, const std::string& layout = "");
  // The stage of a copy of the buffer, from which the reader loads, or several do.
  Stage CacheRead(const std::string& buffer, const Stage& reader);
  Stage CacheRead(const std::string& buffer, const std::vector<Stage>& readers);
  // The stage that computes `stage` once more, for the reader alone.
  Stage Clone(const Stage& stage, const Stage& reader);
  void PadStage(const Stage& stage, const std::vector<int64_t>& shape);
  void GrowStage(const Stage& stage, const std::vector<int64_t>& shape);
  void LoadAhead(const Loop& loop, const Stage& copy);
  void PipelineCopies(const Loop& loop, const std::vector<Stage>& copies, int64_t slots);
  Stage SumLocally(const Loop& loop);
  WinogradStages Winograd(const Stage& stage, int64_t tile, PhaseOrder phase_order,
                          FilterTransform filters);
  DilationStages SplitDilation(const Stage& stage, int64_t dilation_h, int64_t dilation_w);
  RowFilterStages FilterRows(const Stage& stage, int64_t tile);
  SeparateStages SeparateWindows(const Stage& stage, const std::vector<int64_t>& strides);
  void Prefetch(const Loop& loop, const std::string& buffer, const PrefetchOptions& options);
  void PrefetchRegion(const std::string& buffer, const PrefetchRegionOptions& options);
  // Leaves out the steps of a sum of products, `steps` around it, one factor of which is a
  // padding's zero: SkipZeroTerms, and what the conditions bound of `taps` clipped, as far as they
  // are there.
  void LeaveOutPadding(const std::vector<Loop>& steps, const Loop& lane,
                       const std::vector<Loop>& taps);
  void SumPadLanes(const Loop& loop, int64_t factor);
  void Simplify();
  // The launch that fills the stage's buffer alone: the others keep their loops of one iteration,
  // by which they are known as stages.
  void SimplifyStage(const Stage& stage);
  void Fail(absl::Status status);

  // The loop, if it is there.
  std::optional<Loop> Find(const Loop& loop) const;
  bool Has(const Loop& loop) const { return Find(loop).has_value(); }
  // The first, or the last, of the loops that are there; the first of all where none is.
  Loop FirstOf(const std::vector<Loop>& loops) const;
  Loop LastOf(const std::vector<Loop>& loops) const;
  bool ok() const { return status_.ok(); }
  const loop::Nest& nest() const { return nest_; }
  absl::StatusOr<loop::Nest> Finish() &&;

 private:
  // Keeps the error of a primitive, whose name stands before what is not found.
  void Apply(std::string_view primitive, absl::Status status);
  // What a primitive answers, or `otherwise` after an error; its loops are known from then on.
  template <typename Made>
  Made Answer(std::string_view primitive, absl::StatusOr<Made> made, Made otherwise);
  // The copies of a loop; none, and an error, where it never was.
  std::vector<Loop> CopiesOf(std::string_view primitive, const Loop& loop);
  // Whether the loop is in the nest, was, or would have been made of one that had gone.
  bool Knows(const Loop& loop) const;
  void LearnLoops();
  // Loops of `from` have their likes in `to`.
  void LearnLoopsOf(const Stage& from, const Stage& to);

  loop::Nest nest_;
  absl::flat_hash_set<std::string> known_;  // names of loops
  absl::Status status_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_REWRITE_SEQUENCE_H_
