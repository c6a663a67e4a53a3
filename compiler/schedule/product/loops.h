// The loops that schedules of matrix products make, by name.
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

  // Units: vectors of them, the vectors of a tile, tiles that take turns, and blocks; one by one.
  Loop Vectors() const { return Named("v"); }
  Loop UnitVectors() const { return Named("nv"); }
  Loop UnitTiles() const { return Named("nt"); }
  Loop UnitBlocks() const { return Named("nb"); }
  Loop Units() const { return Named("n"); }
  // Vectors that are set to zero in memory, for tiles that take turns to be added to.
  Loop Zeros() const { return Named("zero"); }
  // Rows: those of a tile, tiles that take turns, and blocks.
  Loop Rows() const { return Named("m"); }
  Loop RowTiles() const { return Named("mt"); }
  Loop RowBlocks() const { return Named("mb"); }
  // Terms: chunks, those of a step of tile registers, steps that are unrolled, and those of a dot
  // product.
  Loop Chunks() const { return Named("chunk"); }
  Loop Terms() const { return Named("k"); }
  Loop Unrolled() const { return Named("unroll"); }
  Loop Dot() const { return Named("dot"); }
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRODUCT_LOOPS_H_
