#ifndef HONE_COMPILER_OPS_SUBNORMALS_H_
#define HONE_COMPILER_OPS_SUBNORMALS_H_

#include "compiler/ops/lower.h"

namespace hone::ops {

// Whether subnormal operands and results of a kernel may count as zero (docs/numerics.md).
inline bool FlushesSubnormals(const KernelDefinition& def) {
  return def.numerics != Numerics::kStrict;
}

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_SUBNORMALS_H_
