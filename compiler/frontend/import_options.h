// What every frontend is told beside a model's file.
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
  // Values at hand for graph inputs (of a run, say). Those that the import needs, as they decide a
  // shape, become constants too; the others stay inputs, and where the model's own shape of one is
  // symbolic and `shapes` has none, its value's is taken.
  std::map<std::string, TensorData> values;
  // Names of values that are the outputs instead of the model's own, as `--cut NAME` gives them:
  // only what they are computed from is imported.
  std::vector<std::string> outputs;
};

// What `import` makes of the options; where it needs inputs (InputsNeeded of its status) whose
// values are at hand, once more with these as constants.
absl::StatusOr<ir::Module> ImportWithValues(
    const ImportOptions& options,
    absl::FunctionRef<absl::StatusOr<ir::Module>(const ImportOptions&)> import);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_IMPORT_OPTIONS_H_
