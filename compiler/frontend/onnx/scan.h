// Converts Scan to a repeat (ops/repeat.h), or unrolls it if its trips are few or differ in more
// than values.
#ifndef HONE_COMPILER_FRONTEND_ONNX_SCAN_H_
#define HONE_COMPILER_FRONTEND_ONNX_SCAN_H_

#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/onnx/node_scope.h"
#include "compiler/frontend/onnx/results.h"

namespace hone::frontend {

Results ConvertScan(NodeReader& node, const NodeScope& scope);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_SCAN_H_
