// The options of an import, which are the same for all frontends.
#ifndef HONE_COMPILER_FRONTEND_IMPORT_OPTIONS_H_
#define HONE_COMPILER_FRONTEND_IMPORT_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "compiler/frontend/tensor_file.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

struct ImportOptions {
  // Shapes for graph inputs, as `--shape name=1,3,224,224` gives them; required where the model's
  // own shape is symbolic.
  std::map<std::string, std::vector<int64_t>> shapes;
  // Numbers for symbolic extents by their names, wherever in the inputs of an ONNX model they
  // stand, as `--dim batch=4` gives them.
  std::map<std::string, int64_t> dims;
  // Values for graph inputs that are known at compile time, such as those that decide a shape: they
  // become constants and are no inputs any more.
  std::map<std::string, TensorData> constants;
  // Known values of graph inputs, such as the data of a run. If the import needs the value of an
  // input because it decides a shape, the input becomes a constant, too. The others stay inputs; if
  // the model's own shape of such an input is symbolic, and `shapes` has none for it, it gets the
  // shape of its value.
  std::map<std::string, TensorData> values;
  // Names of values that are the outputs instead of the model's own, as `--cut NAME` gives them:
  // only what they are computed from is imported.
  std::vector<std::string> outputs;
};

// Calls `import` with the options. As long as it fails for want of the values of inputs
// (InputsNeeded of its status) that `options.values` has, calls it again with these as constants.
absl::StatusOr<ir::Module> ImportWithValues(
    const ImportOptions& options,
    absl::FunctionRef<absl::StatusOr<ir::Module>(const ImportOptions&)> import);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_IMPORT_OPTIONS_H_
