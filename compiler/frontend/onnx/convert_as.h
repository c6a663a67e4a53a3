// Operators that are made of ONNX's own: their converters on nodes that no model holds.
#ifndef HONE_COMPILER_FRONTEND_ONNX_CONVERT_AS_H_
#define HONE_COMPILER_FRONTEND_ONNX_CONVERT_AS_H_

#include <string>
#include <vector>

#include "compiler/frontend/onnx/results.h"

namespace hone::frontend {

// What the converter of `inner.op` makes of these operands, in the meaning of `opset`. `inner` has
// the attributes; what the operator needs of memory is charged to `node`'s allowance.
Results ConvertInner(const NodeReader& node, const OnnxNode& inner, int opset,
                     std::vector<ir::Expr> args);

// `node` as if it were `op` with these operands: its attributes are the inner node's, except those
// named in `own`, which the caller reads. The first result.
absl::StatusOr<ir::Expr> ConvertAs(NodeReader& node, const std::string& op, int opset,
                                   std::vector<ir::Expr> args,
                                   const std::vector<std::string>& own = {});

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_CONVERT_AS_H_
