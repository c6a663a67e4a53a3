// What the definitions of operators that only move elements share.
#ifndef HONE_COMPILER_OPS_INJECTIVE_H_
#define HONE_COMPILER_OPS_INJECTIVE_H_

#include "compiler/ops/op.h"

namespace hone::ops {

// An operator of one tensor result that computes nothing: kind injective, no operations counted.
inline Op InjectiveOp(std::string name, int args, std::vector<AttrSpec> attrs) {
  Op op;
  op.name = std::move(name);
  op.min_args = op.max_args = args;
  op.kind = FuseKind::kInjective;
  op.attrs = std::move(attrs);
  op.flops = [](const auto&, const auto&, const auto&) { return 0.0; };
  return op;
}

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_INJECTIVE_H_
