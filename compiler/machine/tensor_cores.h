// The matrix units of a GPU. The threads of a warp execute their instructions together.
#ifndef HONE_COMPILER_MACHINE_TENSOR_CORES_H_
#define HONE_COMPILER_MACHINE_TENSOR_CORES_H_

#include <cstdint>

#include "compiler/ir/target.h"
#include "runtime/data_type.h"

namespace hone::machine {

// The shape of the product that one instruction computes: `rows` of the left operand by `lanes` of
// the right one. Each result is a float32 sum of `terms` products of 16-bit factors, half as many
// of float32, which are neighbours in both operands.
struct WarpProduct {
  int64_t threads = 0;  // how many execute the instruction together
  int64_t rows = 0;
  int64_t lanes = 0;
  int64_t terms = 0;
};
// Whether tiles of `tile` rows or lanes fit an axis of `extent` well enough: at most half of what
// the tiles cover lies beyond the end of the axis.
constexpr bool CoversWell(int64_t tile, int64_t extent) {
  return (extent + tile - 1) / tile * tile <= 2 * extent;
}

inline constexpr WarpProduct kWarpProduct = {.threads = 32, .rows = 16, .lanes = 8, .terms = 16};

// The product that one instruction of four warps computes, from operands in shared memory: as many
// rows as four of kWarpProduct, any multiple of its lanes up to `most_lanes`, and its terms.
struct WarpgroupProduct {
  int64_t threads = 0;
  int64_t rows = 0;
  int64_t most_lanes = 0;
  int64_t row_terms = 0;  // of a row of an operand in memory, for several instructions
};
inline constexpr WarpgroupProduct kWarpgroupProduct = {
    .threads = 128, .rows = 64, .most_lanes = 256, .row_terms = 64};

// A value type.
struct TensorCores {
  bool takes_bfloat16 = false;
  bool takes_float16 = false;
  // Whether three products of TF32, by which float32 is multiplied
  // (docs/decisions/0046-float32-on-tensor-cores.md), are faster than one multiply-add of float32.
  bool has_fast_tf32 = false;
  // Whether four warps can compute a product together (kWarpgroupProduct), of 16-bit floats.
  bool has_warpgroups = false;
  // The most shared memory that a block of threads may request on every device that can run code
  // for the target.
  int64_t shared_bytes = 0;

  // The tensor cores of the target. They take no type if the target has none, or if Hone cannot
  // generate code for them: those before sm_80 compute products of other shapes and lack bfloat16.
  static TensorCores Of(const Target& target);

  bool Takes(DataType dtype) const;
  bool TakeNothing() const { return !takes_bfloat16 && !takes_float16; }
};

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_TENSOR_CORES_H_
