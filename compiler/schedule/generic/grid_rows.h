// Kernels that reduce rows, and what strategies for threads that share a row need to know of them.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_GRID_ROWS_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_GRID_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ops/lower.h"
#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// A stage that goes through rows: it reduces the elements of each row, or computes each element.
struct RowStage {
  Stage stage;
  bool reduces = false;
  // For each axis of the stage's buffer, the axis of the results that it corresponds to, among
  // those that tell which row it is; nullopt: the axis goes along the row, or has one index.
  std::vector<std::optional<size_t>> rows;
  // The innermost loop along the row that has several iterations. An empty loop: the stage has one
  // element for each row.
  Loop column;
  size_t column_axis = 0;  // of the buffer, that this loop goes over; for elements alone
};

// Stages that go through the same rows: all stages of a kernel, or some. A value type.
struct GridRows {
  Sequence s;                    // each stage is a launch
  std::vector<RowStage> stages;  // in the order of launches; the last one has the results
  std::vector<size_t> axes;      // the axes of the results that tell the row; at least one
  size_t row_axis = 0;           // the one of `axes` that blocks of rows lie along
  int64_t row_extent = 1;        // the extent of `row_axis`
  int64_t count = 1;             // how many rows there are
  int64_t columns = 1;           // steps of each stage's `column`
  int64_t row_elements = 1;      // of a row; more than `columns` if it has several axes
  // Whether neighbours in memory are elements of different rows, along `row_axis`, and not of the
  // same row.
  bool apart = false;
  int64_t reductions = 0;
  // The bytes that are moved from and to global memory for an element of a row, and those that are
  // loaded again after another stage loaded them.
  double moved_bytes = 0, repeated_bytes = 0;

  const RowStage& results() const { return stages.back(); }
  int64_t KeptRows() const;  // how many stages but the results compute elements
};

// Views a kernel that reduces rows. With `keeps`, elements that several stages read have a stage of
// their own, which copies them if they are an input; so they can be kept. Else each stage computes
// them anew from the inputs. nullopt: the kernel has several outputs, its reductions are not of the
// same rows, or one of them has no load whose elements are of one row each and neighbours along the
// row or along an axis of the rows: in a product of matrices, rows share all terms.
std::optional<GridRows> ViewGridRows(const ops::KernelDefinition& def, bool keeps);

// Views the rows of one reduction of a nest, whose other launches stay as they are. At least
// one load of its terms must be of neighbours along a row and of other elements for each row; what
// else it loads, rows may share. nullopt: `stage` is no such reduction, or was scheduled already.
std::optional<GridRows> ViewReduction(const Sequence& s, const Stage& stage);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_GRID_ROWS_H_
