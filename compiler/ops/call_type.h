// Infers the types of operator calls, and of functions that contain only operator calls (fused
// functions, imported models). For modules of any content see compiler/passes/infer_type.h.
#ifndef HONE_COMPILER_OPS_CALL_TYPE_H_
#define HONE_COMPILER_OPS_CALL_TYPE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::ops {

// The type of the result of a call. kUnimplemented if Hone does not have the operator.
// kInvalidArgument, which says what is wrong, if the number of operands, their types or the
// attributes do not fit, or if the result is too large to address.
absl::StatusOr<ir::Type> InferCallType(const std::string& op, const std::vector<ir::Type>& args,
                                       const ir::Attrs& attrs);

// kInvalidArgument for a result of `op` that is too large to address.
absl::Status CheckSize(const std::string& op, const ir::Type& type);

// A typed call of an operator; all of `args` are typed.
absl::StatusOr<ir::Expr> TypedCall(const std::string& op, std::vector<ir::Expr> args,
                                   ir::Attrs attrs = {});
// A tuple and a function with their types. All operands must be typed.
ir::Expr TypedTuple(std::vector<ir::Expr> fields);
ir::Expr TypedFunction(std::vector<ir::Expr> params, ir::Expr body, ir::Attrs attrs = {});

// `function` with types filled in. Its body consists of parameters, constants, operator calls,
// tuples and their items; kInvalidArgument for anything else.
absl::StatusOr<ir::Expr> InferFunctionTypes(const ir::Expr& function);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_CALL_TYPE_H_
