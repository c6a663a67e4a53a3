// Kernels that reduce rows, and what threads of a grid that share a row need to know of them.
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

// A stage that goes through rows: it combines the elements of each, or computes each element.
struct RowStage {
  Stage stage;
  bool reduces = false;
  // The axis of the results that says the same of which row it is as each axis of the buffer does;
  // nullopt: that goes along the row, or has one index.
  std::vector<std::optional<size_t>> rows;
  // The last loop along the row with several iterations, and its axis where the stage computes
  // elements; empty: the stage has one element a row.
  Loop column;
  size_t column_axis = 0;
};

// Stages that go through the same rows, a kernel's or some of it. A value type.
struct GridRows {
  Sequence s;                    // each stage is a launch
  std::vector<RowStage> stages;  // in the order of launches; the last one has the results
  std::vector<size_t> axes;      // of the results, that say which row it is; at least one
  size_t row_axis = 0;           // the one of these that blocks of rows go along
  int64_t row_extent = 1;        // its extent
  int64_t count = 1;             // of rows
  int64_t columns = 1;           // steps of each stage's `column`
  int64_t row_elements = 1;      // those of a row; more than `columns` where it has several axes
  // Neighbours in memory are elements of different rows, along `row_axis`, and not of one.
  bool apart = false;
  int64_t reductions = 0;
  // What is moved for an element of a row: from and to global memory, and again what has been
  // loaded before.
  double moved_bytes = 0, repeated_bytes = 0;

  const RowStage& results() const { return stages.back(); }
  int64_t KeptRows() const;  // stages beside the results that compute elements
};

// `keeps`: what several stages read of a row is a stage of its own, inputs too, so that it can stay
// where it is computed; else each stage computes it anew from the inputs. nullopt where not all
// reductions are of the same rows, where terms are shared by rows as those of matrix products are,
// or where the kernel has another form.
std::optional<GridRows> ViewGridRows(const ops::KernelDefinition& def, bool keeps);

// The rows of one reduction of a nest, whose other launches stay as they are: of terms that lie
// side by side along a row, and that no two rows share. nullopt: it is none, or was scheduled
// already.
std::optional<GridRows> ViewReduction(const Sequence& s, const Stage& stage);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_GRID_ROWS_H_
