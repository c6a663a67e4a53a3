// Graph IR as ONNX models that any other runtime can run.
#ifndef HONE_COMPILER_FRONTEND_ONNX_EXPORT_H_
#define HONE_COMPILER_FRONTEND_ONNX_EXPORT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// Writes main of `module`, whose types are inferred, as a model of opset 17 and IR version 8 with
// its weights inside. Inputs keep their names; outputs have those of main's attribute
// "output_names", or "output", "output_1", ... kUnimplemented lists all operators that have no form
// in ONNX here. kInvalidArgument: the model is larger than the 2 GiB that one file may have. Errors
// of ResolveOutput: the path cannot be written.
absl::Status ExportOnnx(const ir::Module& module, const std::string& path);
absl::StatusOr<std::string> ExportOnnxBytes(const ir::Module& module);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_EXPORT_H_
