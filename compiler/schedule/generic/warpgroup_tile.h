// The strategy of tensor cores that four warps feed together, from swizzled shared memory
// (docs/decisions/0045-warpgroups-multiply.md).
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_WARPGROUP_TILE_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_WARPGROUP_TILE_H_

#include <memory>

#include "compiler/schedule/generic/grid_kernel.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// Takes products of matrices of 16-bit floats, and convolutions that are such (image_product.h), on
// targets with instructions of warpgroups; null for all others. Their terms come in eights. Tiles
// divide the rows and columns of the results, or reach beyond them: by an eighth of all blocks at
// most, or by no more than the smallest tiles do, of which at most half is beyond.
std::unique_ptr<const Plan> OpenWarpgroupTile(
    const std::shared_ptr<const Problem<GridKernel>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_WARPGROUP_TILE_H_
