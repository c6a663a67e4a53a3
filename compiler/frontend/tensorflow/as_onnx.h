// Converts TensorFlow's operators that ONNX has too by the converters of ONNX.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_AS_ONNX_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_AS_ONNX_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/model.h"
#include "compiler/frontend/tensorflow/node_reader.h"

namespace hone::frontend::tf {

// The result of ONNX's operator `op`, as defined in `opset`, for these operands and attributes. The
// constants that the converter makes are charged to the import's allowance.
absl::StatusOr<ir::Expr> AsOnnx(NodeReader& node, const std::string& op, int opset,
                                std::vector<ir::Expr> args,
                                std::map<std::string, OnnxAttr> attrs = {});

}  // namespace hone::frontend::tf

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_AS_ONNX_H_
