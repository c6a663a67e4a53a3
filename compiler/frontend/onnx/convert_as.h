// Converts operators that are defined by others, by calling the converters of those with nodes that
// are made up for the purpose.
#ifndef HONE_COMPILER_FRONTEND_ONNX_CONVERT_AS_H_
#define HONE_COMPILER_FRONTEND_ONNX_CONVERT_AS_H_

#include <string>
#include <vector>

#include "compiler/frontend/onnx/results.h"

namespace hone::frontend {

// The results of the converter of `inner.op` for the operands `args` and the attributes of `inner`,
// which it takes as defined in `opset`. Memory that it asks for is charged to the allowance of
// `node`.
Results ConvertInner(const NodeReader& node, const OnnxNode& inner, int opset,
                     std::vector<ir::Expr> args);

// The first result of `node` as if it were `op` with the operands `args`. The converter of `op`
// gets the attributes of `node`, except those named in `own`, which the caller reads.
absl::StatusOr<ir::Expr> ConvertAs(NodeReader& node, const std::string& op, int opset,
                                   std::vector<ir::Expr> args,
                                   const std::vector<std::string>& own = {});

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_CONVERT_AS_H_
