// Runs imported models with the interpreter.
#ifndef HONE_TESTS_COMPILER_FRONTEND_MODEL_RUNNER_H_
#define HONE_TESTS_COMPILER_FRONTEND_MODEL_RUNNER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/frontend/import_options.h"
#include "compiler/frontend/tensor_file.h"
#include "compiler/ir/expr.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {

// The outputs of main for inputs in the order of its parameters.
absl::StatusOr<std::vector<TensorData>> RunModel(const ir::Module& module,
                                                 const std::vector<TensorData>& inputs);

// The first output of a model that must be imported and run; without elements where it cannot be.
TensorData FirstOutput(const OnnxMaker& maker, const std::vector<TensorData>& inputs = {},
                       const ImportOptions& options = {});

// What becomes of importing it.
absl::Status ImportStatus(const OnnxMaker& maker, const ImportOptions& options = {});
// The message of a model that must not be imported.
std::string Refusal(const OnnxMaker& maker, const ImportOptions& options = {});
std::string Message(const absl::Status& status);

// Names of the files of a folder without their endings, in order.
std::vector<std::string> StemsIn(const std::string& folder);

// Equal shapes and types; integers equal, floats within atol + rtol * |expected|, NaN equal to NaN.
// The first difference in words, "" where there is none.
std::string Difference(const TensorData& found, const TensorData& expected, double rtol = 1e-3,
                       double atol = 1e-5);

}  // namespace hone::frontend

#endif  // HONE_TESTS_COMPILER_FRONTEND_MODEL_RUNNER_H_
