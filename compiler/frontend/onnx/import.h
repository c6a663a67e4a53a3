// ONNX models as graph IR.
#ifndef HONE_COMPILER_FRONTEND_ONNX_IMPORT_H_
#define HONE_COMPILER_FRONTEND_ONNX_IMPORT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/frontend/import_options.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// Returns a module with types inferred. The parameters of its function "main" are the inputs of the
// graph that are no initializers, by their names and in their order; the body is the output, or a
// tuple of the outputs. The attribute "output_names" (strings) of main has the names of the
// outputs. Weights are constants. Bodies of repeats (ops/repeat.h) are functions, too.
//
// Opsets 1 to 28 of the default domain. kNotFound: the file is missing. kUnimplemented: operators,
// attributes or element types that Hone does not have; operators are listed all at once, with the
// names of their nodes. kInvalidArgument: a damaged or inconsistent model, or a symbolic input
// shape, with the flag that binds it.
absl::StatusOr<ir::Module> ImportOnnx(const std::string& path, const ImportOptions& options = {});
// `folder` is where external data may lie; empty: such models are refused.
absl::StatusOr<ir::Module> ImportOnnxBytes(std::string_view bytes,
                                           const ImportOptions& options = {},
                                           const std::string& folder = "");

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_IMPORT_H_
