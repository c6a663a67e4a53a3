// ONNX models of one node, for tests of what operators compute.
#ifndef HONE_TESTS_COMPILER_FRONTEND_ONE_NODE_H_
#define HONE_TESTS_COMPILER_FRONTEND_ONE_NODE_H_

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "compiler/frontend/import_options.h"
#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <typename T>
TensorData Tensor(DataType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  TensorData tensor = {dtype, std::move(shape), {}};
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return tensor;
}

// One node on inputs "i0", "i1", ... and its outputs.
class OneNode {
 public:
  OneNode(int opset, const std::string& op, std::vector<TensorData> inputs, int outputs = 1)
      : maker_(opset), inputs_(std::move(inputs)) {
    std::vector<std::string> names;
    std::vector<std::string> results;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      names.push_back("i" + std::to_string(i));
      maker_.Input(names.back(), inputs_[i].shape, inputs_[i].dtype);
    }
    for (int i = 0; i < outputs; ++i) {
      results.push_back("o" + std::to_string(i));
      maker_.Output(results.back());
    }
    maker_.Node(op, names, results);
  }
  OneNode& Int(const std::string& name, int64_t value) { return maker_.Int(name, value), *this; }
  OneNode& Ints(const std::string& name, const std::vector<int64_t>& values) {
    return maker_.Ints(name, values), *this;
  }
  OneNode& Float(const std::string& name, float value) { return maker_.Float(name, value), *this; }
  OneNode& String(const std::string& name, const std::string& value) {
    return maker_.String(name, value), *this;
  }

  std::vector<TensorData> Run() {
    ImportOptions options;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      options.values["i" + std::to_string(i)] = inputs_[i];
    }
    const auto module = ImportOnnxBytes(maker_.Bytes(), options);
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return {TensorData{}};
    std::vector<TensorData> left;
    for (const ir::Expr& param : ir::Params(*module->functions.at("main"))) {
      left.push_back(options.values.at(param->name));
    }
    const auto outputs = RunModel(*module, left);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return outputs.ok() ? *outputs : std::vector<TensorData>{TensorData{}};
  }
  std::string Error() { return std::string(ImportOnnxBytes(maker_.Bytes()).status().message()); }

 private:
  OnnxMaker maker_;
  std::vector<TensorData> inputs_;
};

}  // namespace hone::frontend

#endif  // HONE_TESTS_COMPILER_FRONTEND_ONE_NODE_H_
