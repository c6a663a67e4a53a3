// The vector unit and the matrix unit of a core, and how many operations they issue.
#ifndef HONE_COMPILER_MACHINE_UNITS_H_
#define HONE_COMPILER_MACHINE_UNITS_H_

#include <cstdint>

#include "runtime/data_type.h"

namespace hone::machine {

struct VectorUnit {
  int64_t size_bytes = 16;   // of the registers that code uses
  int64_t registers = 16;    // architectural ones
  bool is_scalable = false;  // the size is known only when code runs; `size_bytes` is then a guess
  // Whether there are also as many registers of half the size, on which at least as many operations
  // run in a cycle.
  bool has_half_vectors = false;
  bool takes_memory_operands = false;  // an operation may load one of its operands
  bool max_hands_nan_on = false;       // the maximum instruction gives NaN if an operand is NaN

  int64_t Lanes(DataType dtype) const { return size_bytes / SizeBytes(dtype); }
  int64_t FloatLanes() const { return Lanes(DataType::kFloat32); }
};

// The tile registers of a unit that multiplies matrices, such as AMX.
struct TileShape {
  int64_t rows = 0;
  int64_t row_bytes = 0;
  int64_t registers = 0;
  // A product of two tiles takes one cycle for each row of the left tile. A left tile of fewer rows
  // than this takes as long as one of so many.
  double fewest_product_rows = 0;

  // The number of 32-bit sums in a row.
  constexpr int64_t SumLanes() const { return row_bytes / 4; }
};
inline constexpr TileShape kAmxTile = {
    .rows = 16, .row_bytes = 64, .registers = 8, .fewest_product_rows = 9};

// The matrix unit of a core.
struct MatrixUnit {
  TileShape tile = kAmxTile;
  bool takes_bytes = false;     // products of 8-bit integers, summed in 32 bits
  bool takes_bfloat16 = false;  // products of bfloat16, summed in float32
  // How many products of bfloat16 the unit computes in the time in which the vector unit computes
  // one of float32. WidenProducts uses this.
  double bfloat16_rate = 8;

  bool Takes(DataType dtype) const;
};

// How many operations on whole vectors a core starts in a cycle, and how long one takes.
struct IssueRates {
  double multiply_adds_a_cycle = 2;
  double loads_a_cycle = 2;
  double stores_a_cycle = 1;
  double multiply_add_latency_cycles = 4;
  // How many products of bfloat16 the vector unit's dot-product instructions compute in the time of
  // one product of float32; 1 means no gain.
  double bfloat16_dot_rate = 1;
  // Whether additions have execution units of their own beside those for multiplications, so that
  // an algorithm with fewer products and more sums is worth it by default.
  bool adds_beside_multiplies = false;
};

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_UNITS_H_
