// Kernels that load along one axis and store along another.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_GRID_TRANSPOSE_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_GRID_TRANSPOSE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// A load whose neighbours in memory lie along the axis `rows` of the results.
struct TransposedLoad {
  std::string buffer;
  size_t rank = 0;
  size_t row_dim = 0, column_dim = 0;  // the dimensions along `rows` and `columns`
  int64_t element_bytes = 0;
};

// A stage that computes each of its results by itself, and loads along another axis than it stores.
// A value type.
struct GridTranspose {
  Stage results;
  std::vector<int64_t> extents;  // of its axes
  size_t columns = 0;            // the axis along which neighbours are stored
  size_t rows = 0;               // the one along which neighbours are loaded
  std::vector<TransposedLoad> loads;
  int64_t result_bytes = 0;  // of an element
  int64_t other_bytes = 0;   // of an element, in all other loads

  int64_t Results() const;
};

// nullopt where the nest is not one such stage, or loads nothing across what it stores.
std::optional<GridTranspose> ViewGridTranspose(const Sequence& s);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_GRID_TRANSPOSE_H_
