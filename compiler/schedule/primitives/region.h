// Which part of a buffer a statement reads or writes, as a function of the loops around it.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_REGION_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_REGION_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

struct Region {
  struct Dim {
    loop::Linear low;   // the smallest index that is accessed
    loop::Linear high;  // the greatest
    int64_t step = 1;   // indices that are accessed lie multiples of it apart
  };
  std::vector<Dim> dims;
  int64_t accesses = 0;  // how many loads and stores the region covers
};

// The box around all loads of `buffer` in `body`; `outer` are the bounds of the loops around it,
// of which the region is a function.
Region RegionRead(const loop::Stmt& body, const loop::Buffer& buffer, const loop::Bounds& outer);
// The same around all loads and stores.
Region RegionTouched(const loop::Stmt& body, const loop::Buffer& buffer, const loop::Bounds& outer);

// The largest (or smallest) value of `x` over all variables of `bounds` but the first `kept`, as an
// expression of these. nullopt: no such expression was found, or minima and maxima are nested more
// than 8 deep.
std::optional<loop::Linear> Extreme(const loop::Linear& x, const loop::Bounds& bounds, size_t kept,
                                    bool largest);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_REGION_H_
