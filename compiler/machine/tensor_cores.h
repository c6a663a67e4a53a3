// The matrix units of a GPU, whose instructions the threads of a warp execute together.
#ifndef HONE_COMPILER_MACHINE_TENSOR_CORES_H_
#define HONE_COMPILER_MACHINE_TENSOR_CORES_H_

#include <cstdint>

#include "compiler/ir/target.h"
#include "runtime/data_type.h"

namespace hone::machine {

// What one instruction multiplies: rows of the left operand by lanes of the right one, summed in
// float32 over terms that are neighbours in both.
struct WarpProduct {
  int64_t threads = 0;  // that execute it together
  int64_t rows = 0;
  int64_t lanes = 0;
  int64_t terms = 0;
};
// Whether tiles of so many rows or lanes are worth it for an axis of that extent: at most half of
// what they cover lies behind its end.
constexpr bool CoversWell(int64_t tile, int64_t extent) {
  return (extent + tile - 1) / tile * tile <= 2 * extent;
}

inline constexpr WarpProduct kWarpProduct = {.threads = 32, .rows = 16, .lanes = 8, .terms = 16};

// A value type.
struct TensorCores {
  bool takes_bfloat16 = false;
  bool takes_float16 = false;
  // The memory that a block of threads may share on every device of the target, by asking for it.
  int64_t shared_bytes = 0;

  // Takes no type where the target has none, or none that code is made for: before sm_80 products
  // are of other shapes, and without bfloat16.
  static TensorCores Of(const Target& target);

  bool Takes(DataType dtype) const;
  bool TakeNothing() const { return !takes_bfloat16 && !takes_float16; }
};

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_TENSOR_CORES_H_
