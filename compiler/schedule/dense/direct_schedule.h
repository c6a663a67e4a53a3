// Matrix products of whole vectors of units by rows in registers, scheduled (dense/direct.h).
#ifndef HONE_COMPILER_SCHEDULE_DENSE_DIRECT_SCHEDULE_H_
#define HONE_COMPILER_SCHEDULE_DENSE_DIRECT_SCHEDULE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/product/view.h"

namespace hone::schedule {

// The knob "lanes" of a vector of units, of float32: all that the target has, and half where the
// last of few vectors would be at most half full.
std::vector<int64_t> DenseLaneOptions(const Dense& dense);
// The product as a config of this strategy sees it: with its lanes. Configs without the knob have
// the target's.
Dense OfLanes(Dense dense, const Config& config);

// Whether the last vector of units is masked where they are read in place: those beyond the last do
// not exist there.
bool MasksUnits(const Dense& dense);

// The knob "chunk": steps of the sum after which the next tile has its turn, for a config that has
// all knobs up to "epilogue". 0: a tile's sum is taken at once. Others where a panel of the right
// operand, read again for every tile of rows, does not stay in the second cache, and where one tile
// has all rows and reads units in place: a panel's would be read a row apart, those of some steps
// are read as they lie.
std::vector<int64_t> DenseChunkOptions(const Dense& dense, const Config& prefix);
bool TakesChunks(const Config& config);
// The one of them that the model takes.
int64_t DefaultDenseChunk(const Dense& dense, const Config& prefix);

absl::StatusOr<loop::Nest> ScheduleDenseDirect(const Task& task, const Dense& dense,
                                               const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_DENSE_DIRECT_SCHEDULE_H_
