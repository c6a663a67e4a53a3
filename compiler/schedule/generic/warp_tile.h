// The strategy of tensor cores: the warps of a block compute tiles of sums of products of floats,
// from copies of the factors in memory that the block's threads share.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_WARP_TILE_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_WARP_TILE_H_

#include <memory>

#include "compiler/schedule/generic/grid_kernel.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// Takes products of matrices and convolutions of 16-bit floats on targets with tensor cores, and,
// except under strict numerics, of float32 on those where splitting it is faster than multiply-adds
// (docs/decisions/0046-float32-on-tensor-cores.md). Tiles divide the lines of images and the steps
// of the sums; rows and lanes they divide or, where only small blocks do, reach beyond
// (WarpAxes::has_tail).
std::unique_ptr<const Plan> OpenWarpTile(const std::shared_ptr<const Problem<GridKernel>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_WARP_TILE_H_
