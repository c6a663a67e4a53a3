// What a config of a Winograd strategy costs, by an analytic model.
#ifndef HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_PRICE_H_
#define HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_PRICE_H_

#include <cstdint>

#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/conv/winograd_plan.h"
#include "compiler/schedule/price/register_tile.h"

namespace hone::schedule {

// What is chosen of a strategy, to be priced.
struct WinogradChoice {
  int64_t depth = 1;            // slices of the result in a block
  RegisterTileProblem problem;  // of a position's products
  RegisterTile tile;
  int64_t parts = 1;
  int64_t chunk = 0;
  bool in_registers = false;  // the transformed filters
};

// The bytes of the transformed filters that are used at all.
int64_t FilterBytes(const Conv& conv, const WinogradPlan& plan);
// The bytes of the transformed data of a block of so many tiles.
int64_t PanelBytes(const Conv& conv, const WinogradPlan& plan, int64_t depth, int64_t tiles);
// Bytes that are read again for each row of positions, for each channel of a chunk: of a group's
// filters before the transform, and a row after it, or, where that is in registers, of the data.
int64_t ChunkBytesOfChannel(const Conv& conv, const WinogradPlan& plan, const RegisterTile& tile,
                            bool in_registers);
// The cycles of splitting data into the phases of a dilation, and of joining the results' into one
// again, on all threads.
double PhaseCopyCycles(const Conv& conv);
// The cycles of one core that does a block of tiles for one part of the output channels.
double BlockCycles(const Conv& conv, const WinogradPlan& plan, const WinogradChoice& choice);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_PRICE_H_
