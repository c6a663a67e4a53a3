// Offsets in one arena for blocks that live for a while each.
#ifndef HONE_COMPILER_PASSES_ARENA_PLACEMENT_H_
#define HONE_COMPILER_PASSES_ARENA_PLACEMENT_H_

#include <cstdint>
#include <vector>

namespace hone::passes {

struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Alive in the calls first..last.
struct ArenaBlock {
  uint64_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct ArenaPlacement {
  std::vector<uint64_t> offsets;  // one a block
  uint64_t arena_bytes = 0;
};

// What is alive at worst: no arena can be smaller.
uint64_t PeakLive(const std::vector<ArenaBlock>& blocks);

// No two blocks that are alive in the same call overlap. Takes time in the order of the pairs of
// blocks that are alive together, and where those are millions, of n log n.
ArenaPlacement PlaceBlocks(const std::vector<ArenaBlock>& blocks, uint64_t peak);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_ARENA_PLACEMENT_H_
