// The names of the loops that schedules of matrix products make.
#ifndef HONE_COMPILER_SCHEDULE_PRODUCT_LOOPS_H_
#define HONE_COMPILER_SCHEDULE_PRODUCT_LOOPS_H_

#include <utility>

#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// The loops of the result, and of the sums of its tiles. Units are along the last axis, rows before
// it.
class ProductLoops : public Stage {
 public:
  ProductLoops() = default;
  explicit ProductLoops(Stage stage) : Stage(std::move(stage)) {}
  ProductLoops Init() const { return ProductLoops(Stage::Init()); }

  // Loops over units: over vectors of them, the vectors of a tile, tiles that take turns, and
  // blocks; the last is over single units.
  Loop Vectors() const { return Named("v"); }
  Loop UnitVectors() const { return Named("nv"); }
  Loop UnitTiles() const { return Named("nt"); }
  Loop UnitBlocks() const { return Named("nb"); }
  Loop Units() const { return Named("n"); }
  // The loop over vectors in memory that are set to zero before tiles that take turns add to them.
  Loop Zeros() const { return Named("zero"); }
  // Loops over rows: over those of a tile, tiles that take turns, and blocks.
  Loop Rows() const { return Named("m"); }
  Loop RowTiles() const { return Named("mt"); }
  Loop RowBlocks() const { return Named("mb"); }
  // Loops over terms: over chunks, the terms of a step of tile registers, steps that are unrolled,
  // and the terms of a dot product.
  Loop Chunks() const { return Named("chunk"); }
  Loop Terms() const { return Named("k"); }
  Loop Unrolled() const { return Named("unroll"); }
  Loop Dot() const { return Named("dot"); }
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRODUCT_LOOPS_H_
