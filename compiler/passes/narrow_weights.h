#ifndef HONE_COMPILER_PASSES_NARROW_WEIGHTS_H_
#define HONE_COMPILER_PASSES_NARROW_WEIGHTS_H_

#include <cstdint>

#include "compiler/ir/target.h"
#include "compiler/machine/machine.h"
#include "compiler/passes/pass.h"

namespace hone::passes {

// An nn.dense whose weights are stored as scaled integers of 8 bits or less becomes an
// nn.scaled_dense of these integers and scales. On targets with dot products of bytes this is done
// for any number of rows, and the data are split into three digits (two with numerics `fast`). On
// other targets the products are of floats, and this is done only for so few rows that reading
// float weights would take longer than the arithmetic. Not done if numerics are strict, because
// scales are multiplied with sums, and digits round the data.
absl::StatusOr<ir::Module> NarrowWeights(const ir::Module& module, const PassContext& context);

// Whether a product of `rows` rows takes longer to read float weights than to unpack narrow ones
// and multiply.
bool WaitsForWeights(int64_t rows, const machine::Machine& machine);
// Whether the target has dot products of four unsigned by four signed bytes in each lane.
bool MultipliesMixedBytes(const Target& target);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_NARROW_WEIGHTS_H_
