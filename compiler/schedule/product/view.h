// What the strategies of matrix products see of a kernel.
#ifndef HONE_COMPILER_SCHEDULE_PRODUCT_VIEW_H_
#define HONE_COMPILER_SCHEDULE_PRODUCT_VIEW_H_

#include <memory>
#include <optional>
#include <string>

#include "compiler/machine/machine.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/micro_kernels.h"
#include "compiler/schedule/price/reading.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// The numbers of a product of matrices on a target.
struct Dense {
  AnchorView view;
  std::string data;
  std::string weight;
  bool copies_data = false;
  bool moves = false;          // the stages before the product only move elements
  bool copies_weight = false;  // such a stage fills the weight
  int64_t functions = 0;       // exp and its kin behind the product, of each result
  bool in_order = false;       // the weight's units are neighbours where they come from
  // For a product of float32 whose weight is no constant: whether neighbouring terms are neighbours
  // in memory in both the weight and the data. With `copies_for_terms` they are in the data only
  // after a copy.
  bool terms_in_order = false;
  bool copies_for_terms = false;
  int64_t rows = 0, units = 0;
  int64_t terms = 0;  // of a sum
  int64_t steps = 0;  // of a sum, each with `dot` terms
  bool batched = false;
  ProductKind kind = ProductKind::kFloat;
  int64_t dot = 1;        // terms of a step
  int64_t row_bytes = 0;  // from one row of the data to the next where tiles read them; 0: near
  int64_t lanes = 0;      // of a vector of units
  int64_t batch = 1;
  std::shared_ptr<const MicroKernelTimes> times;
  std::optional<double> stream_bytes;  // a cycle, from behind the second cache; StreamBytesOf
  machine::Machine machine;            // the task's: its figures are asked where they are used

  CoreReads Reads() const { return {machine.memory, stream_bytes}; }
  // Rows, units (columns) and terms are the last axes; there may be a batch before them.
  int rank() const { return batched ? 3 : 2; }
  // Whether by default all tiles take several steps at once, and not only those of a single row.
  bool UnrollsAllTiles() const {
    return kind == ProductKind::kFloat && machine.vector.FloatLanes() >= 16;
  }
  // The loop of a stage over an axis, and the axis's lower-case letter in layouts. Axes count from
  // the last, which is 1.
  Loop Axis(const Stage& stage, int from_last) const;
  char Letter(int from_last) const;
  // The row-major layout with these blocks.
  Layout LayoutOf(const std::string& blocks) const;
};

// nullopt unless the kernel is a product of matrices of float32, bfloat16 or 8-bit integers. What
// depends on the target is not set.
std::optional<Dense> ViewDense(const ops::KernelDefinition& def);
// The whole view; the kernel of the task must be such a product.
Dense DenseOf(const Task& task);
// The problem of a register tile: its columns are rows of the product, its vectors are vectors of
// units.
RegisterTileProblem TileProblemOf(const Dense& dense);
// The cycles in which one core reads all of the right operand once.
double ReadRightCycles(const Dense& dense);
// The cycles in which one core computes the functions behind the product for `vectors` vectors of
// results. A vector that is not full, down to a single result, takes as long as a full one.
double FunctionCycles(const Dense& dense, int64_t vectors);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRODUCT_VIEW_H_
