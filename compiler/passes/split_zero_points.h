#ifndef HONE_COMPILER_PASSES_SPLIT_ZERO_POINTS_H_
#define HONE_COMPILER_PASSES_SPLIT_ZERO_POINTS_H_

#include "absl/status/statusor.h"
#include "compiler/passes/pass.h"

namespace hone::passes {

// Takes zero points out of the sums of qnn products:
//   sum (x - zx) * (w - zw)  =>  sum x * w - zx * sum w - zw * sum x + n * zx * zw
// as nn.conv*, nn.dense and nn.batch_matmul of bytes and what is added to them, of which everything
// that depends on constants alone is one bias. Operands get the signs that the target's dot product
// takes. Padding counts as the zero point: one that is known at run time only is put around the
// data first. Results are the same bit for bit: int32 wraps around on both sides.
absl::StatusOr<ir::Module> SplitZeroPoints(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SPLIT_ZERO_POINTS_H_
