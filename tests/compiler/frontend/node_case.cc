#include "tests/compiler/frontend/node_case.h"

#include <fmt/format.h>

#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/tensor_file.h"
#include "tests/compiler/frontend/model_runner.h"

namespace hone::frontend {

CaseOutcome RunCase(const NodeCase& c, std::string* why) {
  const std::string data = c.folder + "/test_data_set_0/";
  ImportOptions options;
  std::vector<TensorData> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    TensorData tensor = ReadTensorFile(fmt::format("{}input_{}.pb", data, i)).value();
    if (c.constants.contains(c.inputs[i])) {
      options.constants[c.inputs[i]] = std::move(tensor);
    } else {
      inputs.push_back(std::move(tensor));
    }
  }
  const auto module = ImportOnnx(c.folder + "/model.onnx", options);
  if (!module.ok()) {
    *why = std::string(module.status().message());
    return CaseOutcome::kRefused;
  }
  const auto outputs = RunModel(*module, inputs);
  if (!outputs.ok()) {
    *why = std::string(outputs.status().message());
    return CaseOutcome::kWrong;
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    const auto expected = ReadTensorFile(fmt::format("{}output_{}.pb", data, i));
    *why = Difference((*outputs)[i], expected.value());
    if (!why->empty()) return CaseOutcome::kWrong;
  }
  return CaseOutcome::kRight;
}

}  // namespace hone::frontend
