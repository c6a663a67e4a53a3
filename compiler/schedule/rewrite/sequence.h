// Applies primitives one after the other and keeps the first error: schedules read as lists.
#ifndef HONE_COMPILER_SCHEDULE_REWRITE_SEQUENCE_H_
#define HONE_COMPILER_SCHEDULE_REWRITE_SEQUENCE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/compute_at.h"
#include "compiler/schedule/primitives/dilation_phases.h"
#include "compiler/schedule/primitives/prefetch.h"
#include "compiler/schedule/primitives/row_filters.h"
#include "compiler/schedule/primitives/share_by_offsets.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/winograd.h"

namespace hone::schedule {

// After an error every call is without effect. Loops that are gone (extent 1) are skipped by the
// calls named "All", which also treat the copies that peeling made.
class Sequence {
 public:
  explicit Sequence(loop::Nest nest) : nest_(std::move(nest)) {}

  void Split(const std::string& loop, int64_t factor, Tail tail, const std::string& outer = "",
             const std::string& inner = "");
  void SplitIfPresent(const std::string& loop, int64_t factor, Tail tail, const std::string& outer,
                      const std::string& inner);
  void Reorder(const std::vector<std::string>& loops, bool allow_reassociation = false);
  // Only those of `loops` that are there.
  void ReorderPresent(const std::vector<std::string>& loops, bool allow_reassociation = false);
  void Vectorize(const std::string& loop);
  void VectorizeAll(const std::string& loop);
  void Unroll(const std::string& loop);
  void UnrollAll(const std::string& loop);
  void DotAll(const std::string& loop);
  void TileAll(const std::string& loop);
  void Parallel(const std::string& loop);
  void ParallelIfPresent(const std::string& loop);
  void ShareByOffsets(const std::string& loop, const std::string& offsets, const ShareWork& work,
                      int64_t shares);
  void Peel(const std::string& loop, int64_t first, int64_t last);
  void PeelAll(const std::string& loop, int64_t first, int64_t last);
  void JoinLastAxes(const std::string& buffer);
  void Merge(const std::string& first, const std::string& second);
  void Unswitch(const std::string& loop);
  void Inline(const std::string& buffer);
  void InlinePadding(const std::string& buffer, size_t axis);
  void ComputeAt(const std::string& buffer, const std::string& loop,
                 const ComputeAtOptions& options = {});
  void ReduceByLanes(const std::string& loop, int64_t lanes, int64_t vectors,
                     bool drops_nan = false);
  std::string Rfactor(const std::string& loop, int64_t parts);
  void UnrollSteps(const std::string& loop, int64_t factor);
  void Decompose(const std::string& loop);
  void SetLayout(const std::string& buffer, const Layout& layout);
  std::string Pack(const std::string& buffer, const Layout& layout);
  void Prepare(const std::string& buffer);
  std::string CacheWrite(const std::string& buffer, const std::string& layout = "");
  std::string SumLocally(const std::string& loop);
  WinogradStages Winograd(const std::string& buffer, int64_t tile, PhaseOrder phase_order,
                          FilterTransform filters);
  DilationStages SplitDilation(const std::string& buffer, int64_t dilation_h, int64_t dilation_w);
  RowFilterStages FilterRows(const std::string& buffer, int64_t tile);
  void Prefetch(const std::string& loop, const std::string& buffer, const PrefetchOptions& options);
  void PrefetchRegion(const std::string& buffer, const PrefetchRegionOptions& options);
  // Leaves out the steps of a sum of products, `steps` around it, one factor of which is a
  // padding's zero: SkipZeroTerms, and what the conditions bound of `taps` clipped, as far as they
  // are there.
  void LeaveOutPadding(const std::vector<std::string>& steps, const std::string& lane,
                       const std::vector<std::string>& taps);
  void SumPadLanes(const std::string& loop, int64_t factor);
  void Simplify();
  // The launch that writes `buffer` alone: the others keep their loops of one iteration, by which
  // they are known as stages.
  void SimplifyStage(const std::string& buffer);
  void Fail(absl::Status status);

  bool Has(const std::string& loop) const;
  // The first, or the last, of the loops that are there; the first of all where none is.
  std::string FirstOf(const std::vector<std::string>& loops) const;
  std::string LastOf(const std::vector<std::string>& loops) const;
  bool ok() const { return status_.ok(); }
  const loop::Nest& nest() const { return nest_; }
  absl::StatusOr<loop::Nest> Finish() &&;

 private:
  loop::Nest nest_;
  absl::Status status_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_REWRITE_SEQUENCE_H_
