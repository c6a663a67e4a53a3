// The schedules of the direct strategy (dense/direct.h), whose register tiles are whole vectors of
// units, the columns of the result, by rows.
#ifndef HONE_COMPILER_SCHEDULE_DENSE_DIRECT_SCHEDULE_H_
#define HONE_COMPILER_SCHEDULE_DENSE_DIRECT_SCHEDULE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/product/view.h"

namespace hone::schedule {

// The options of the knob "lanes", the lanes of a vector of units. They are all that the target has
// for float32, and for products of float32 also half as many, if the machine has half vectors,
// there are few vectors and the last one would be at most half full.
std::vector<int64_t> DenseLaneOptions(const Dense& dense);
// `dense` with the lanes of the config. A config without the knob has the target's.
Dense OfLanes(Dense dense, const Config& config);

// Whether the last vector of units is masked if the units are read in place: units behind the last
// one do not exist there.
bool MasksUnits(const Dense& dense);

// The options of the knob "chunk" for a `prefix` that has all knobs up to "epilogue": the number of
// steps of the sum after which the next tile has its turn; 0: a tile takes its whole sum at once.
// There are others than 0 in two cases. In the first, a panel of the right operand is read again
// for every tile of rows and does not stay in the second cache. In the second, one tile has all
// rows and reads units in place: the steps of one panel lie a row apart in memory, while the same
// few steps of several panels are read as they lie.
std::vector<int64_t> DenseChunkOptions(const Dense& dense, const Config& prefix);
bool TakesChunks(const Config& config);
// The default among these options.
int64_t DefaultDenseChunk(const Dense& dense, const Config& prefix);

absl::StatusOr<loop::Nest> ScheduleDenseDirect(const Task& task, const Dense& dense,
                                               const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_DENSE_DIRECT_SCHEDULE_H_
