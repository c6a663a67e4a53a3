// Functions that graph rewrites share.
#ifndef HONE_COMPILER_PASSES_REWRITING_H_
#define HONE_COMPILER_PASSES_REWRITING_H_

#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/node_map.h"

namespace hone::passes {

// The module with `rewrite` applied to every function. Stated types of functions stay.
ir::Module MapFunctions(const ir::Module& module,
                        const std::function<ir::Expr(const ir::Expr& function)>& rewrite);

// Whether a node has at most one reader. Nodes that the rewrite made count as having one.
using UsedOnce = std::function<bool(const ir::Expr& node)>;
// As ir::RewriteOutside, for rewrites that may merge nodes only if nothing else reads the values
// between.
ir::Expr RewriteCounted(
    const ir::Expr& function,
    const std::function<ir::Expr(const ir::Expr& node, const UsedOnce& used_once)>& rewrite);

bool IsConstant(const ir::Expr& e);
// Whether `e` is a constant, or a tuple of constants or such tuples.
bool IsConstantTree(const ir::Expr& e);
bool IsPrimitive(const ir::Expr& function);

// The type of a tensor.
inline const ir::TensorType& TypeOf(const ir::Expr& e) { return e->type->tensor; }
inline const std::vector<int64_t>& ShapeOf(const ir::Expr& e) { return TypeOf(e).shape; }
inline const std::vector<int64_t>& ShapeOf(const ir::ExprNode& e) { return e.type->tensor.shape; }
inline DataType DtypeOf(const ir::Expr& e) { return TypeOf(e).dtype; }
// Whether `e` is a tensor of float32.
bool IsFloat32(const ir::Expr& e);

// Whether `e` is a call whose result consists of elements of its one operand, chosen by position or
// as a maximum.
bool MovesOrChooses(const ir::Expr& e);

// A typed call; null if an operand is null, or if the operator does not take these operands.
ir::Expr MakeTyped(const std::string& op, std::vector<ir::Expr> args, ir::Attrs attrs = {});
ir::Expr Reshape(const ir::Expr& e, std::vector<int64_t> shape);
// The tensor cast to `dtype`; `e` itself if it has that type, or is null.
ir::Expr Cast(const ir::Expr& e, DataType dtype);
// A rank-0 constant, rounded to `dtype`.
ir::Expr Scalar(double value, DataType dtype);
// `vector` (rank 1) reshaped so that it broadcasts along axis `axis` of a tensor of `rank`; the
// vector itself if that is the last axis.
ir::Expr AlongAxis(const ir::Expr& vector, int64_t extent, int64_t axis, int rank);

// The node that a function with this body returns and, if that is a tuple, its fields.
ir::NodeSet ResultsOf(const ir::Expr& body);

// The tensors of a type, in order: one for a tensor, those of all fields for a tuple.
std::vector<ir::TensorType> TensorsOf(const ir::Type& type);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_REWRITING_H_
