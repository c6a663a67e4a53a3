// How many blocks cover an extent that their size need not divide. Blocks of a grid cover an axis
// of results, and warps cover the threads of a block.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_COVER_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_COVER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/schedule/ceil_div.h"

namespace hone::schedule {

// The extents that all blocks cover together: those of the axes or more.
inline std::vector<int64_t> CoveredExtents(const std::vector<int64_t>& axes,
                                           const std::vector<int64_t>& block) {
  std::vector<int64_t> covered;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    covered.push_back(CeilDiv(axes[axis], block[axis]) * block[axis]);
  }
  return covered;
}

// The number of blocks that cover the axes.
inline int64_t BlockCount(const std::vector<int64_t>& axes, const std::vector<int64_t>& block) {
  int64_t blocks = 1;
  for (size_t axis = 0; axis < axes.size(); ++axis) blocks *= CeilDiv(axes[axis], block[axis]);
  return blocks;
}

// How much of the last block lies behind the end of an extent.
inline int64_t Idle(int64_t extent, int64_t block) {
  return CeilDiv(extent, block) * block - extent;
}

// Whether that is at most an eighth of what all blocks cover.
inline bool IsMostlyBusy(int64_t extent, int64_t block) {
  constexpr int64_t kBusyToIdle = 7;
  return Idle(extent, block) * kBusyToIdle <= extent;
}

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_COVER_H_
