// Type inference for whole modules.
#ifndef HONE_COMPILER_PASSES_INFER_TYPE_H_
#define HONE_COMPILER_PASSES_INFER_TYPE_H_

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::passes {

// The module with the type of every node filled in; a function's is that of its result. Nodes whose
// types stand keep their identity. kInvalidArgument and kUnimplemented name the function, the
// expression and what does not fit: an operator's operands, arguments against parameters, the
// branches of an if, a let against its variable, a stated result type.
absl::StatusOr<ir::Module> InferTypes(const ir::Module& module);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_INFER_TYPE_H_
