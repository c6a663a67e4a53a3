// Places blocks with limited lifetimes in one arena.
#ifndef HONE_COMPILER_PASSES_ARENA_PLACEMENT_H_
#define HONE_COMPILER_PASSES_ARENA_PLACEMENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace hone::passes {

struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// A block that is alive in the calls first..last.
struct ArenaBlock {
  uint64_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct ArenaPlacement {
  std::vector<uint64_t> offsets;  // one a block
  uint64_t arena_bytes = 0;
};

// The most bytes that are alive in one call; no arena can be smaller.
uint64_t PeakLive(const std::vector<ArenaBlock>& blocks);

// Whether a block, by its index, may have the memory of one whose last call is before its first.
using MayReuse = std::function<bool(size_t block, size_t earlier)>;

// Places the blocks so that no two that are alive in the same call overlap. The time is linear in
// the pairs of blocks that are alive together; if there are millions of them, a faster method is
// used, which takes n log n time. `peak` is PeakLive(blocks). If `may_reuse` is given, it is asked
// for all pairs of blocks whose lives do not overlap, and those that it refuses are kept apart as
// well; the faster method does not ask it.
ArenaPlacement PlaceBlocks(const std::vector<ArenaBlock>& blocks, uint64_t peak,
                           const MayReuse& may_reuse = nullptr);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_ARENA_PLACEMENT_H_
