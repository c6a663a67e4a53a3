// What graph rewrites share.
#ifndef HONE_COMPILER_PASSES_REWRITING_H_
#define HONE_COMPILER_PASSES_REWRITING_H_

#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/node_map.h"

namespace hone::passes {

// Every function of the module with `rewrite` applied to it. Their stated types stay.
ir::Module MapFunctions(const ir::Module& module,
                        const std::function<ir::Expr(const ir::Expr& function)>& rewrite);

// Whether a node has at most one reader; those made by the rewrite have.
using UsedOnce = std::function<bool(const ir::Expr& node)>;
// ir::RewriteOutside for rewrites that may only reach through values nothing else reads.
ir::Expr RewriteCounted(
    const ir::Expr& function,
    const std::function<ir::Expr(const ir::Expr& node, const UsedOnce& used_once)>& rewrite);

bool IsConstant(const ir::Expr& e);
// A constant, or a tuple of such.
bool IsConstantTree(const ir::Expr& e);
bool IsPrimitive(const ir::Expr& function);

// The type of a tensor.
inline const ir::TensorType& TypeOf(const ir::Expr& e) { return e->type->tensor; }
inline const std::vector<int64_t>& ShapeOf(const ir::Expr& e) { return TypeOf(e).shape; }
inline const std::vector<int64_t>& ShapeOf(const ir::ExprNode& e) { return e.type->tensor.shape; }
inline DataType DtypeOf(const ir::Expr& e) { return TypeOf(e).dtype; }
// Whether it is a tensor of that type.
bool IsFloat32(const ir::Expr& e);

// Calls of operators whose result holds elements of their one operand, chosen by position or as the
// largest.
bool MovesOrChooses(const ir::Expr& e);

// A typed call; null where an operand is, or where the operator does not take them.
ir::Expr MakeTyped(const std::string& op, std::vector<ir::Expr> args, ir::Attrs attrs = {});
ir::Expr Reshape(const ir::Expr& e, std::vector<int64_t> shape);
// A tensor as one of `dtype`: itself where it is one; null where it is null.
ir::Expr Cast(const ir::Expr& e, DataType dtype);
// A rank-0 constant; rounds to the dtype.
ir::Expr Scalar(double value, DataType dtype);
// `vector` (rank 1) so shaped that it broadcasts along axis `axis` of a tensor of `rank`; the
// vector itself where that is the last axis.
ir::Expr AlongAxis(const ir::Expr& vector, int64_t extent, int64_t axis, int rank);

// What a function with this body returns, and where that is a tuple, its fields.
ir::NodeSet ResultsOf(const ir::Expr& body);

// The tensors of a type: of a tuple all, in order.
std::vector<ir::TensorType> TensorsOf(const ir::Type& type);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_REWRITING_H_
