#ifndef HONE_COMPILER_SCHEDULE_REWRITE_FUSE_STAGES_H_
#define HONE_COMPILER_SCHEDULE_REWRITE_FUSE_STAGES_H_

#include <cstdint>
#include <string>

#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// Leaves an anchored kernel with at most one stage before the anchor, `kept` (may be empty), the
// anchor, and one stage of single stores that writes the output. Returns what the anchor is now.
Stage FuseAroundAnchor(Sequence* s, const AnchorView& view, const std::string& kept);

// The signature's layouts for inputs and output.
void SetSignatureLayouts(Sequence* s, const Task& task);

// A stage that copies or pads data: channels of a block as vectors where its layout has blocks, the
// outer loops as grid.
void ScheduleDataStage(Sequence* s, const Stage& stage, int64_t lanes);

// The weights of so many output channels, `axis` of them, side by side: rows of a power of two of
// bytes would share few sets of a cache.
void PackChannelsTogether(Sequence* s, const std::string& weight, int rank, int axis,
                          int64_t channels);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_REWRITE_FUSE_STAGES_H_
