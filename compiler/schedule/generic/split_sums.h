// Splits the sums of a kernel into parts, each of which is the work of other blocks
// (docs/decisions/0044-split-sums-on-gpus.md).
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_SPLIT_SUMS_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_SPLIT_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/schedule/generic/grid_sums.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// The knob: in how many parts blocks sum. Configs without it have one.
inline constexpr char kPartsKnob[] = "parts";

// The launch whose sums are to be split.
struct WholeSums {
  int64_t blocks = 1;
  size_t step_loop = 0;  // the loop of the sums that is split
  int64_t steps = 1;     // of that loop, that a block copies at once
  int64_t copies = 1;    // the fewest that a block may make for a part
};
// The numbers of parts into which they can be split, in ascending order; the first is 1. Parts are
// equal, and consist of whole copies and of 32 terms at least. No number
// but 1 makes more than four blocks for each unit of the machine.
std::vector<int64_t> PartsOf(const GridSums& sums, const WholeSums& whole,
                             const machine::Machine& machine);

// How many neighbouring results a thread of the launch that adds up parts has: 4, 2 or 1, the most
// that are a vector of 16 bytes at most, divide the rows, and leave threads enough to keep the
// machine busy; 1 without `has_vectors`. nullopt where SplitSums cannot split the loop in any
// number of parts, or the sums are not of four bytes.
std::optional<int64_t> AddedAtOnce(const Sequence& s, const GridSums& sums, size_t step_loop,
                                   const machine::Machine& machine, bool has_vectors);

// Splits the sums into `parts`, which divide the loop. Returns the sums of the parts, which are
// still to be scheduled: their first axis is that of the parts, and the others are those of `sums`.
// A launch behind theirs, which is scheduled but for its grid, adds up the parts, in their order,
// and computes what follows the sums; a thread of it does so for `at_once` results (AddedAtOnce).
GridSums SplitSums(Sequence* s, const GridSums& sums, size_t step_loop, int64_t parts,
                   int64_t at_once);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_SPLIT_SUMS_H_
