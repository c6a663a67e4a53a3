#ifndef HONE_COMPILER_PASSES_NARROW_WEIGHTS_H_
#define HONE_COMPILER_PASSES_NARROW_WEIGHTS_H_

#include <cstdint>

#include "compiler/ir/target.h"
#include "compiler/machine/machine.h"
#include "compiler/passes/pass.h"

namespace hone::passes {

// nn.dense of weights that are stored as integers of 8 bits or less and scaled becomes
// nn.scaled_dense of these integers and scales. On targets with dot products of bytes whatever the
// number of rows, as products of three digits (numerics `fast`: two); on others, as products of
// floats, where so few rows are multiplied that the product would wait for floats. Not where
// numerics are strict: scales are multiplied with sums, and digits round the data.
absl::StatusOr<ir::Module> NarrowWeights(const ir::Module& module, const PassContext& context);

// Whether a product of so many rows takes longer to read weights that are floats than to unpack
// narrow ones and to multiply.
bool WaitsForWeights(int64_t rows, const machine::Machine& machine);
// Whether the target multiplies unsigned bytes by signed ones, four at once in each lane.
bool MultipliesMixedBytes(const Target& target);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_NARROW_WEIGHTS_H_
