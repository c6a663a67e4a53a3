#ifndef HONE_COMPILER_PASSES_SPLIT_ZERO_POINTS_H_
#define HONE_COMPILER_PASSES_SPLIT_ZERO_POINTS_H_

#include "absl/status/statusor.h"
#include "compiler/passes/pass.h"

namespace hone::passes {

// Takes zero points out of the sums of qnn products:
//   sum (x - zx) * (w - zw)  =>  sum x * w - zx * sum w - zw * sum x + n * zx * zw
// The first term becomes an nn.conv*, nn.dense or nn.batch_matmul of bytes, and the others are
// added; all that depends on constants alone becomes one bias. Operands get the signedness that the
// target's dot product takes. Convolutions pad with the zero point; if it is known only at run
// time, the data is padded in a step of its own. Results are bit-identical, because int32 wraps
// around on both sides.
absl::StatusOr<ir::Module> SplitZeroPoints(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SPLIT_ZERO_POINTS_H_
