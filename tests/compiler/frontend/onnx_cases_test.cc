// Single operators with values of other runtimes: the files of tests/data/onnx/operators, which
// tests/compiler/frontend/onnx/make_*_cases.py wrote.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "compiler/frontend/file.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/tensor.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/paths.h"

namespace hone::frontend {
namespace {

const std::string kOnnxOperators = std::string(HONE_TEST_DATA) + "/onnx/operators";

struct OperatorCase {
  std::string model;  // without the values
  std::map<std::string, TensorData> inputs;
  std::vector<TensorData> expected;  // in the order of the outputs
};

// Takes the initializers whose names begin with `prefix` out of the graph, by the rest of the name.
std::map<std::string, TensorData> TakeValues(const std::string& prefix, onnx::GraphProto* graph) {
  std::map<std::string, TensorData> values;
  auto* const initializers = graph->mutable_initializer();
  for (int i = initializers->size() - 1; i >= 0; --i) {
    onnx::TensorProto* const tensor = initializers->Mutable(i);
    if (!tensor->name().starts_with(prefix)) continue;
    const auto value = FromProto(tensor, kOnnxOperators);
    EXPECT_TRUE(value.ok()) << tensor->name() << ": " << value.status();
    if (value.ok()) values[tensor->name().substr(prefix.size())] = *value;
    initializers->DeleteSubrange(i, 1);
  }
  return values;
}

OperatorCase ReadCase(const std::string& name) {
  OperatorCase result;
  const auto bytes = ReadWholeFile(fmt::format("{}/{}.onnx", kOnnxOperators, name));
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  onnx::ModelProto model;
  EXPECT_TRUE(bytes.ok() && model.ParseFromString(*bytes));
  result.inputs = TakeValues("value:", model.mutable_graph());
  const auto expected = TakeValues("expected:", model.mutable_graph());
  for (const auto& output : model.graph().output()) {
    result.expected.push_back(expected.at(output.name()));
  }
  result.model = model.SerializeAsString();
  return result;
}

// Sums of 16-bit floats are rounded in another order.
double ToleranceOf(DataType dtype) { return SizeBytes(dtype) == 2 ? 4e-3 : 1e-4; }

class OnnxCasesTest : public testing::TestWithParam<std::string> {};

TEST_P(OnnxCasesTest, IsRight) {
  const OperatorCase c = ReadCase(GetParam());
  ImportOptions options;
  options.values = c.inputs;
  const auto module = ImportOnnxBytes(c.model, options);
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<TensorData> args;
  for (const ir::Expr& param : ir::Params(*module->functions.at("main"))) {
    args.push_back(c.inputs.at(param->name));
  }
  const auto outputs = RunModel(*module, args);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), c.expected.size());
  for (size_t i = 0; i < outputs->size(); ++i) {
    const double tolerance = ToleranceOf(c.expected[i].dtype);
    EXPECT_EQ(Difference((*outputs)[i], c.expected[i], tolerance, tolerance / 5), "")
        << "output " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, OnnxCasesTest, testing::ValuesIn(StemsIn(kOnnxOperators)),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hone::frontend
