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

// A nest and the primitives that are applied to it: a call applies the primitive of its name, whose
// header in primitives/ says what it does. After an error every call is without effect. A loop that
// the nest does not have is an error (kNotFound), with two exceptions. Calls with "All" in their
// names apply to all copies that peeling made of a loop, even if none is left of a loop that the
// nest once had: a loop of one iteration is simplified away. Calls with "Present" in their names
// also take loops that the nest never had.
class Sequence {
 public:
  explicit Sequence(loop::Nest nest);

  // If `outer` and `inner` are empty, the new loops are named loop.Outer() and loop.Inner().
  SplitLoops Split(const Loop& loop, int64_t factor, Tail tail, const Loop& outer = {},
                   const Loop& inner = {});
  void SplitIfPresent(const Loop& loop, int64_t factor, Tail tail, const Loop& outer,
                      const Loop& inner);
  void Reorder(const std::vector<Loop>& loops, bool allow_reassociation = false);
  // Reorders only those of `loops` that the nest has.
  void ReorderPresent(const std::vector<Loop>& loops, bool allow_reassociation = false);
  void Vectorize(const Loop& loop);
  void VectorizeAll(const Loop& loop);
  void Unroll(const Loop& loop);
  void UnrollAll(const Loop& loop);
  // Unrolls all copies of those loops that the nest has or once had.
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
  Stage Rfactor(const Loop& loop, int64_t parts, bool starts_at_first = false);
  void UnrollSteps(const Loop& loop, int64_t factor);
  void Decompose(const Loop& loop);
  void SetLayout(const std::string& buffer, const Layout& layout);
  Stage Pack(const std::string& buffer, const Layout& layout);
  void Prepare(const Stage& stage);
  // Returns the stage of a new buffer, from which `stage` now copies.
  Stage CacheWrite(const Stage& stage, const std::string& layout = "");
  // Returns the stage of a copy of the buffer, from which the reader, or each of `readers`, then
  // loads.
  Stage CacheRead(const std::string& buffer, const Stage& reader);
  Stage CacheRead(const std::string& buffer, const std::vector<Stage>& readers);
  // Returns a new stage that computes `stage` once more, for the reader alone.
  Stage Clone(const Stage& stage, const Stage& reader);
  void PadStage(const Stage& stage, const std::vector<int64_t>& shape);
  void GrowStage(const Stage& stage, const std::vector<int64_t>& shape);
  void LoadAhead(const Loop& loop, const Stage& copy);
  void PipelineCopies(const Loop& loop, const std::vector<Stage>& copies, int64_t slots,
                      int64_t slots_behind = 0);
  Stage SumLocally(const Loop& loop);
  WinogradStages Winograd(const Stage& stage, int64_t tile, PhaseOrder phase_order,
                          FilterTransform filters);
  DilationStages SplitDilation(const Stage& stage, int64_t dilation_h, int64_t dilation_w);
  RowFilterStages FilterRows(const Stage& stage, int64_t tile);
  SeparateStages SeparateWindows(const Stage& stage, const std::vector<int64_t>& strides);
  void Prefetch(const Loop& loop, const std::string& buffer, const PrefetchOptions& options);
  void PrefetchRegion(const std::string& buffer, const PrefetchRegionOptions& options);
  // Leaves out the steps of a sum of products in which one factor is the zero of padding. It
  // applies SkipZeroTerms at the outermost of the loops `steps`, Unswitch to `lane`, and ClipLoop
  // to each of `taps` that the nest has. Without any of `steps` it does nothing.
  void LeaveOutPadding(const std::vector<Loop>& steps, const Loop& lane,
                       const std::vector<Loop>& taps);
  void SumPadLanes(const Loop& loop, int64_t factor);
  void Simplify();
  // Simplifies only the launch that fills the stage's buffer. The others keep their loops of one
  // iteration, without which they would not be recognised as stages.
  void SimplifyStage(const Stage& stage);
  void Fail(absl::Status status);

  // The loop, if the nest has it.
  std::optional<Loop> Find(const Loop& loop) const;
  bool Has(const Loop& loop) const { return Find(loop).has_value(); }
  // The first, or the last, of `loops` that the nest has; if it has none of them, the first of
  // `loops`.
  Loop FirstOf(const std::vector<Loop>& loops) const;
  Loop LastOf(const std::vector<Loop>& loops) const;
  bool ok() const { return status_.ok(); }
  const loop::Nest& nest() const { return nest_; }
  absl::StatusOr<loop::Nest> Finish() &&;

 private:
  // Keeps the error of a primitive. The message of a kNotFound gets the name of the primitive.
  void Apply(std::string_view primitive, absl::Status status);
  // Returns what a primitive answered, or `otherwise` after an error; knows the loops of the nest
  // from then on.
  template <typename Made>
  Made Answer(std::string_view primitive, absl::StatusOr<Made> made, Made otherwise);
  // The copies of a loop that the nest has. There is an error if it never had the loop.
  std::vector<Loop> CopiesOf(std::string_view primitive, const Loop& loop);
  // Whether the nest has or had the loop, or would have if the loop that it was to be made of had
  // not gone before.
  bool Knows(const Loop& loop) const;
  void LearnLoops();
  // Knows from then on, for each known loop of `from`, the loop of `to` that corresponds to it.
  void LearnLoopsOf(const Stage& from, const Stage& to);

  loop::Nest nest_;
  absl::flat_hash_set<std::string> known_;  // names of loops
  absl::Status status_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_REWRITE_SEQUENCE_H_
