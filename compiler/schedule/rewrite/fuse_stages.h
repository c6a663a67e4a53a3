#ifndef HONE_COMPILER_SCHEDULE_REWRITE_FUSE_STAGES_H_
#define HONE_COMPILER_SCHEDULE_REWRITE_FUSE_STAGES_H_

#include <cstdint>
#include <string>

#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// Fuses the stages of a kernel around its anchor, the stage of the main operator. What is left is
// at most one stage before the anchor, `kept` (empty: none), the anchor, and one stage of single
// stores that writes the output. Returns the stage that is now the anchor.
Stage FuseAroundAnchor(Sequence* s, const AnchorView& view, const std::string& kept);

// Gives the inputs and outputs the layouts of the task's signature.
void SetSignatureLayouts(Sequence* s, const Task& task);

// Schedules a stage that copies or pads data. Its vectors, of `lanes`, lie along the innermost axis
// of its layout, which are the channels of a block where the layout has blocks. Up to three of the
// outer loops become parallel.
void ScheduleDataStage(Sequence* s, const Stage& stage, int64_t lanes);

// Packs a weight of this rank so that the values of `channels` output channels, whose axis is
// `axis`, lie side by side. Else rows that are a power of two of bytes long would share few sets of
// a cache. One channel needs no packing.
void PackChannelsTogether(Sequence* s, const std::string& weight, int rank, int axis,
                          int64_t channels);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_REWRITE_FUSE_STAGES_H_
