// ONNX models as graph IR.
#ifndef HONE_COMPILER_FRONTEND_ONNX_IMPORT_H_
#define HONE_COMPILER_FRONTEND_ONNX_IMPORT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/tensor_file.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

struct ImportOptions {
  // Shapes for graph inputs, as `--shape name=1,3,224,224` gives them; required where the model's
  // own shape is symbolic.
  std::map<std::string, std::vector<int64_t>> shapes;
  // Values for graph inputs that are known at compile time, such as those that decide a shape: they
  // become constants and are no inputs any more.
  std::map<std::string, TensorData> constants;
  // Values at hand for graph inputs (of a run, say). Those that the import needs, as they decide a
  // shape, become constants too; the others stay inputs, and where the model's own shape of one is
  // symbolic and `shapes` has none, its value's is taken.
  std::map<std::string, TensorData> values;
};

// One function "main" with types inferred: its parameters are the graph's inputs that are no
// initializers, by their names and in their order; its body is the output, or a tuple of them.
// The function's attribute "output_names" (strings) has the outputs' names. Weights are constants.
//
// Opsets 1 to 21 of the default domain. kNotFound: the file is missing. kUnimplemented: operators,
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
