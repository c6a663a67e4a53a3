// What the strategies of convolutions see of a kernel.
#ifndef HONE_COMPILER_SCHEDULE_CONV_VIEW_H_
#define HONE_COMPILER_SCHEDULE_CONV_VIEW_H_

#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/ops/window.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/price/reading.h"
#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// The numbers of a convolution on a target, of one to three spatial axes: width, then height, then
// depth; those that it lacks have extent 1 and one tap. A transposed convolution of stride s is
// made of s phases along an axis. Each is a convolution of stride one with a share of the taps, and
// computes every s-th position of the result. The extents here are those of the first phase.
struct Conv {
  AnchorView view;
  std::string data;        // what the convolution reads: the operand, or the stage that pads it
  std::string weight;      // the operand
  std::string weight_pad;  // the stage that puts zeros behind the taps; empty: none
  // Float32 inputs of the result's shape that only functions of the sums read.
  std::vector<std::string> joined;
  bool is_strict = false;  // only the sums of products as defined are allowed
  bool weight_is_constant = false;
  bool copies_data = false;  // `data` is a stage of the kernel
  bool pads = false;         // that stage does nothing but pad the operand with zeros
  int spatial = 2;           // axes
  ops::Window window;        // of these axes; transposed: of the phases
  bool transposed = false;
  ops::Shape phases;                       // of each axis; 1 unless transposed
  ops::Shape result_axes;                  // extents of the whole result
  int64_t data_width = 0, data_depth = 1;  // of the operand
  int64_t data_height = 1;                 // likewise
  int64_t data_bytes = 0;                  // of the operand, for one of the batch
  int64_t result_bytes = 0;                // likewise
  bool result_is_float = false;            // float32
  int64_t batch = 0;
  int64_t groups = 1, channels = 0;  // of the data
  int64_t in = 0;                    // channels that are summed: those of a group
  int64_t out = 0;
  int64_t depth = 1, height = 1, width = 1;  // of the result
  int64_t taps_d = 1, taps_h = 1, taps_w = 1;
  int64_t target_lanes = 0;
  // Lanes of a vector of output channels: the target's, or where these do not fit the groups,
  // fewer.
  int64_t lanes = 0;
  int64_t out_vectors = 0;
  // The convolution has one tap, all that goes in and out is row-major, and the spatial axes can be
  // joined into one.
  bool joins_pixels = false;
  bool operand_blocked = false;  // it lies in blocks of `lanes` channels
  int64_t operand_block = 1;     // channels of a block of the operand; 1: it has none
  int64_t result_block = 1;      // of the result
  // The last block of the result ends with vectors that have no channels and so belong to no group.
  // The result is then computed apart, and a last launch copies it to its blocks.
  bool copies_result = false;
  // Whether the generic template's schedules are offered as a strategy, too: for grouped
  // convolutions that once had no other, so that their records stay valid.
  bool has_stages = false;
  bool blocked_data = false;  // `data` is read in blocks of `lanes` channels
  ProductKind kind = ProductKind::kFloat;
  // How many input channels a step of the sum takes. Those of a dot product must be neighbours, so
  // the data is then always read in blocks, if only of `dot` channels.
  int64_t dot = 1;
  bool packs_data = false;                        // a copy of the operand has these blocks
  std::shared_ptr<const MicroKernelTimes> times;  // of such products; nullptr: none
  std::optional<double> stream_bytes;  // a cycle, from behind the second cache; StreamBytesOf
  machine::Machine machine;            // the task's: its figures are asked where they are used

  int rank() const { return spatial + 2; }
  CoreReads Reads() const { return {machine.memory, stream_bytes}; }
  // A stage's loop along a spatial axis, its loop over the taps along the axis, and the number of
  // the axis's phases. Axes count from the last: 1 is the width, 2 the height, 3 the depth.
  Loop Axis(const Stage& stage, int from_last) const;
  Loop Tap(const Stage& stage, int from_last) const;
  int64_t Phases(int from_last) const { return phases[static_cast<size_t>(spatial - from_last)]; }
  int64_t AllPhases() const {
    return std::accumulate(phases.begin(), phases.end(), int64_t{1}, std::multiplies<>());
  }
  int64_t GroupOut() const { return out / groups; }
  // Groups narrower than a vector: each lane reads the channels of its own group, which lie within
  // a vector of the data, and the last vector may have pad lanes.
  bool LanesDiffer() const { return groups > 1 && GroupOut() < lanes; }
  // Input channels are summed block by block.
  bool SumsBlocks() const { return blocked_data && (groups == 1 || in % lanes == 0); }
  int64_t Taps() const { return taps_d * taps_h * taps_w; }
  // Whether there is an axis of depth, and windows of the first slices of the result begin in front
  // of the data.
  bool PadsSlices() const { return pads && spatial == 3 && !transposed && window.before[0] > 0; }
  // How many taps of the depth lie inside the data: for a slice of the result on average, rounded
  // up; and for at least one slice.
  int64_t MeanDepthTaps() const;
  int64_t UsedDepthTaps() const;
  bool Dots() const { return dot > 1; }
  int64_t StepsOfChannels() const { return CeilDiv(in, dot); }
};

// nullopt unless the kernel is a convolution of float32, bfloat16 or 8-bit integers, with groups or
// without, or a transposed one. Depthwise ones of two axes, which have a template of their own
// (window/view.h), give nullopt too. What depends on the target and the signature is not set.
std::optional<Conv> ViewConv(const ops::KernelDefinition& def);
// The whole view; the kernel of the task must be such a convolution.
Conv ConvOf(const Task& task);
// Whether each vector of output channels belongs to one group, or to several whole groups whose
// input channels one vector of the data holds. The direct strategy takes no others.
bool VectorsFitGroups(const Conv& conv);
// The same for a view without the target: whether vectors of any size that the strategies would use
// on `machine` do.
bool SomeVectorsFitGroups(const Conv& conv, const machine::Machine& machine);

// Channels of a block of the data; 1: it has none.
int64_t ChannelBlock(const Conv& conv);
}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_VIEW_H_
