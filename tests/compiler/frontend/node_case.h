// Conformance cases in ONNX's own form: a folder with model.onnx and test_data_set_0.
#ifndef HONE_TESTS_COMPILER_FRONTEND_NODE_CASE_H_
#define HONE_TESTS_COMPILER_FRONTEND_NODE_CASE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/tensor_file.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

enum class CaseOutcome { kRight, kRefused, kWrong };

struct NodeCase {
  std::string folder;
  std::vector<std::string> inputs;  // names, in the order of the files input_<i>.pb
};

// Runs main of a model on its parameters in order.
using CaseRunner = std::function<absl::StatusOr<std::vector<TensorData>>(
    const ir::Module& module, const std::vector<TensorData>& inputs)>;

// Imports it with all inputs at hand, of which the import makes constants of those that decide a
// shape, and compares what `run` gives (by default: the interpreter). `why` says what is wrong, or
// why the import refuses it; `constants` gets the names of the inputs that became constants.
CaseOutcome RunCase(const NodeCase& c, std::string* why,
                    std::vector<std::string>* constants = nullptr, const CaseRunner& run = nullptr);

}  // namespace hone::frontend

#endif  // HONE_TESTS_COMPILER_FRONTEND_NODE_CASE_H_
