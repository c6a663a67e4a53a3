// What computes: the vector unit and the matrix unit of a core, and how much they issue.
#ifndef HONE_COMPILER_MACHINE_UNITS_H_
#define HONE_COMPILER_MACHINE_UNITS_H_

#include <cstdint>

#include "runtime/data_type.h"

namespace hone::machine {

struct VectorUnit {
  int64_t size_bytes = 16;   // of a register that code uses
  int64_t registers = 16;    // architectural ones
  bool is_scalable = false;  // the size is only known when code runs; then `size_bytes` is a guess
  // There are as many registers of half the size, and at least as many operations a cycle on them.
  bool has_half_vectors = false;
  bool takes_memory_operands = false;  // an operation may load one of its operands
  bool max_hands_nan_on = false;       // maximum gives NaN where an operand is, for nothing

  int64_t Lanes(DataType dtype) const { return size_bytes / SizeBytes(dtype); }
  int64_t FloatLanes() const { return Lanes(DataType::kFloat32); }
};

// A register file of tiles that multiplies matrices: AMX.
struct TileShape {
  int64_t rows = 0;
  int64_t row_bytes = 0;
  int64_t registers = 0;
  // A product of two tiles takes a cycle a row of the left one, and no fewer than for so many rows.
  double fewest_product_rows = 0;

  // Sums of 32 bits in a row.
  constexpr int64_t SumLanes() const { return row_bytes / 4; }
};
inline constexpr TileShape kAmxTile = {
    .rows = 16, .row_bytes = 64, .registers = 8, .fewest_product_rows = 9};

// The matrix unit of a core.
struct MatrixUnit {
  TileShape tile = kAmxTile;
  bool takes_bytes = false;     // products of 8-bit integers, summed in 32 bits
  bool takes_bfloat16 = false;  // products of bfloat16, summed in float32
  // Products of bfloat16 in the time of one of float32 in vectors, for prices of types (passes).
  double bfloat16_rate = 8;

  bool Takes(DataType dtype) const;
};

// How many operations on whole vectors a core begins in a cycle, and how long one takes.
struct IssueRates {
  double multiply_adds_a_cycle = 2;
  double loads_a_cycle = 2;
  double stores_a_cycle = 1;
  double multiply_add_latency_cycles = 4;
  // Products of bfloat16 that dot products make in the time of one of float32; 1: no more.
  double bfloat16_dot_rate = 1;
  // Whether additions have units of their own beside those that multiply, so that an algorithm with
  // fewer products and more sums gains by default.
  bool adds_beside_multiplies = false;
};

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_UNITS_H_
