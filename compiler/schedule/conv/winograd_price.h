// What a config of a Winograd strategy costs, by an analytic model.
#ifndef HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_PRICE_H_
#define HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_PRICE_H_

#include <cstdint>

#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/conv/winograd_plan.h"
#include "compiler/schedule/price/register_tile.h"

namespace hone::schedule {

// The choices of a config on which its price depends.
struct WinogradChoice {
  int64_t depth = 1;            // slices of the result in a block
  RegisterTileProblem problem;  // of a position's products
  RegisterTile tile;
  int64_t parts = 1;  // shares of the output channels
  int64_t chunk = 0;  // channels whose filters are transformed at a time; 0: all, beforehand
  bool in_registers = false;  // transformed filters are in registers alone
};

// The bytes of the transformed filters, without the taps of the depth that lie outside of the data
// for every slice (Conv::UsedDepthTaps).
int64_t FilterBytes(const Conv& conv, const WinogradPlan& plan);
// The bytes of the transformed data of a block of `tiles` tiles in each of `depth` slices of the
// result.
int64_t PanelBytes(const Conv& conv, const WinogradPlan& plan, int64_t depth, int64_t tiles);
// What one channel of a chunk adds to the bytes that are read again for each row of positions: the
// bytes of its filters of one group of output channels before the transform, and those of one row
// of these filters after it. With `in_registers`, the transformed data of the register tile is
// counted in place of that row.
int64_t ChunkBytesOfChannel(const Conv& conv, const WinogradPlan& plan, const RegisterTile& tile,
                            bool in_registers);
// The cycles of splitting the data into the phases of a dilation, and of joining the phases of the
// result again, on all threads.
double PhaseCopyCycles(const Conv& conv);
// The cycles in which one core computes a block of tiles for one part of the output channels.
double BlockCycles(const Conv& conv, const WinogradPlan& plan, const WinogradChoice& choice);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_PRICE_H_
