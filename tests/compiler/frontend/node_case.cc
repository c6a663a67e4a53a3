#include "tests/compiler/frontend/node_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"

namespace hone::frontend {

CaseOutcome RunCase(const NodeCase& c, std::string* why, std::vector<std::string>* constants,
                    const CaseRunner& run) {
  const std::string data = c.folder + "/test_data_set_0/";
  ImportOptions options;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    absl::StatusOr<TensorData> value = ReadTensorFile(fmt::format("{}input_{}.pb", data, i));
    if (!value.ok()) {
      *why = std::string(value.status().message());
      return CaseOutcome::kRefused;
    }
    options.values[c.inputs[i]] = *std::move(value);
  }
  const auto module = ImportOnnx(c.folder + "/model.onnx", options);
  if (!module.ok()) {
    *why = std::string(module.status().message());
    return CaseOutcome::kRefused;
  }
  std::vector<TensorData> inputs;
  std::vector<std::string> left;
  for (const ir::Expr& param : ir::Params(*module->functions.at("main"))) {
    inputs.push_back(options.values.at(param->name));
    left.push_back(param->name);
  }
  for (const std::string& name : c.inputs) {
    const bool is_constant = std::find(left.begin(), left.end(), name) == left.end();
    if (is_constant && constants != nullptr) constants->push_back(name);
  }
  const auto outputs = run ? run(*module, inputs) : RunModel(*module, inputs);
  if (!outputs.ok()) {
    *why = std::string(outputs.status().message());
    return CaseOutcome::kWrong;
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    const auto expected = ReadTensorFile(fmt::format("{}output_{}.pb", data, i));
    if (!expected.ok()) {
      *why = std::string(expected.status().message());
      return CaseOutcome::kWrong;
    }
    *why = Difference((*outputs)[i], *expected);
    if (!why->empty()) return CaseOutcome::kWrong;
  }
  return CaseOutcome::kRight;
}

}  // namespace hone::frontend
