#include "compiler/frontend/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>

#include "compiler/frontend/onnx/export.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/zoo/net_builder.h"
#include "compiler/ir/printer.h"
#include "compiler/ops/call_type.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"
#include "tests/compiler/frontend/seeded_weights.h"
#include "tests/compiler/frontend/small_zoo.h"

namespace hone::frontend {
namespace {

using testing::HasSubstr;

ir::Module RoundTrip(const ir::Module& module) {
  const auto bytes = ExportOnnxBytes(module);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  auto again = ImportOnnxBytes(*bytes);
  EXPECT_TRUE(again.ok()) << again.status();
  return *std::move(again);
}

// The zoo's convolutional layers, in a net small enough for the interpreter.
ir::Module TinyNet() {
  NetBuilder net(3);
  ir::Expr x = net.Input("data", {1, 3, 9, 9});
  x = net.MaxPool(net.ConvBnRelu(x, {6, 3, 2, 1}), {3, 1, 1});
  const ir::Expr depthwise = net.ConvBnRelu(x, {0, 3, 1, 1, true});
  x = net.Relu(net.Add(net.BatchNorm(net.Conv(depthwise, {6, 1}), 0.25), x));
  const ir::Expr narrow = net.ConvBiasRelu(x, {4, 1});
  x = net.Concat({narrow, net.ConvBiasRelu(x, {4, 3, 1, 1})});
  return net.Finish(net.Softmax(net.Dense(net.Flatten(net.GlobalAvgPool(x)), 5)));
}

class ZooTest : public testing::TestWithParam<SmallModel> {};

TEST_P(ZooTest, ExportsAndImportsToTheSameGraphAndNumbers) {
  const ir::Module module = GetParam().Build();
  const ir::Module again = RoundTrip(module);
  const std::string text = ir::ToText(module, {.constants = false});
  // Importing makes the constants of a sparse matrix anew for each product.
  const bool sparse = text.find("nn.sparse_dense") != std::string::npos;
  if (!sparse) {
    EXPECT_EQ(ir::ToText(again, {.constants = false}), text);
  }
  const std::vector<TensorData> inputs = InputsOf(module);
  const auto outputs = RunModel(module, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(Difference((*RunModel(again, inputs))[0], (*outputs)[0], 0, 0), "");
}

// Activations neither vanish nor explode, however deep the net is.
TEST_P(ZooTest, GivesNumbersThatDiffer) {
  const ir::Module module = GetParam().Build();
  const auto outputs = RunModel(module, InputsOf(module));
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const std::vector<float> values = Floats((*outputs)[0]);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_LT(std::max(std::abs(*low), std::abs(*high)), 100);
  EXPECT_GT(*high - *low, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Names, ZooTest, testing::ValuesIn(SmallZoo()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ZooTest, EveryModelHasASmallForm) {
  std::vector<std::string> names;
  for (const SmallModel& model : SmallZoo()) names.push_back(model.name);
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(ZooNames()));
}

TEST(ZooTest, SyntheticModelsHaveAsManyOperatorsAsAsked) {
  for (const int64_t nodes : {10, 100, 1003}) {
    const ir::Module module = *ZooModel("synthetic_" + std::to_string(nodes));
    int64_t calls = 0;
    for (const ir::Expr& e : ir::PostOrder(ir::Body(*module.functions.at("main")))) {
      calls += e->kind == ir::ExprKind::kCall ? 1 : 0;
    }
    EXPECT_EQ(calls, nodes);
  }
  for (const char* const name :
       {"synthetic_9", "synthetic_", "synthetic_1e3", "synthetic_100001"}) {
    EXPECT_EQ(ZooModel(name).status().code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

TEST(ZooTest, ModelsAreTheSameEachTime) {
  EXPECT_EQ(*ExportOnnxBytes(*ZooModel("mlp")), *ExportOnnxBytes(*ZooModel("mlp")));
}

TEST(ZooTest, TheMlpGivesADistributionThatDependsOnItsInput) {
  const ir::Module module = *ZooModel("mlp", 2);
  const TensorData data = SeededInput({2, 1, 28, 28});
  const auto outputs = RunModel(module, {data});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const std::vector<float> p = Floats((*outputs)[0]);
  ASSERT_EQ(p.size(), 20u);
  float sum = 0;
  for (int i = 0; i < 10; ++i) sum += p[i];
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_GT(std::abs(p[0] - p[10]), 1e-4);
  EXPECT_EQ(Difference((*RunModel(RoundTrip(module), {data}))[0], (*outputs)[0], 0, 0), "");
}

TEST(ZooTest, UnknownNamesAndBatchesAreRefused) {
  EXPECT_EQ(ZooModel("alexnet3000").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(ZooModel("alexnet3000").status().message()),
              HasSubstr("mlp, mobilenet, mobilenet_v2, resnet101"));
  EXPECT_EQ(ZooModel("mlp", 0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(OnnxExportTest, AModelKeepsItsNumbers) {
  const ir::Module module = TinyNet();
  const TensorData data = SeededInput({1, 3, 9, 9});
  const auto outputs = RunModel(module, {data});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const ir::Module again = RoundTrip(module);
  EXPECT_EQ(ir::ToText(again, {.constants = false}), ir::ToText(module, {.constants = false}));
  EXPECT_EQ(Difference((*RunModel(again, {data}))[0], (*outputs)[0], 0, 0), "");
}

// An input, a value that others read too, the same value twice: each gets its name.
TEST(OnnxExportTest, OutputsOfEveryKindGetTheirNames) {
  const ir::Expr x = ir::TensorVar("x", {2}, DataType::kFloat32);
  const ir::Expr relu = *ops::TypedCall("nn.relu", {x});
  const ir::Expr exp = *ops::TypedCall("exp", {relu});
  ir::Module module;
  module.functions["main"] =
      ops::TypedFunction({x}, ops::TypedTuple({relu, x, exp, relu}),
                         {{"output_names", std::vector<std::string>{"a", "b", "c", "d"}}});
  const TensorData data = FloatTensor({2}, {-1, 1});
  const auto expected = RunModel(module, {data});
  ASSERT_TRUE(expected.ok()) << expected.status();
  const ir::Module again = RoundTrip(module);
  EXPECT_EQ(
      ir::GetAttr<std::vector<std::string>>(again.functions.at("main")->attrs, "output_names", {}),
      (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(*RunModel(again, {data}), *expected);
}

// [[0, 1, 2], [3, 0, 0]]; columns that do not ascend have no form.
TEST(OnnxExportTest, AConstantSparseMatrixIsASparseInitializer) {
  const auto exported = [](std::vector<int32_t> columns) {
    const std::vector<float> data = {1, 2, 3};
    const std::vector<int32_t> starts = {0, 2, 3};
    const ir::Expr x = ir::TensorVar("x", {3, 4}, DataType::kFloat32);
    ir::Module module;
    module.functions["main"] = ops::TypedFunction(
        {x}, *ops::TypedCall("nn.sparse_dense",
                             {ir::ConstantFromBytes({{3}, DataType::kFloat32}, data.data()),
                              ir::ConstantFromBytes({{3}, DataType::kInt32}, columns.data()),
                              ir::ConstantFromBytes({{3}, DataType::kInt32}, starts.data()), x}));
    return ExportOnnxBytes(module);
  };
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(exported({1, 2, 0}).value()));
  ASSERT_EQ(model.graph().sparse_initializer_size(), 1);
  const onnx::SparseTensorProto& matrix = model.graph().sparse_initializer(0);
  EXPECT_THAT(matrix.dims(), testing::ElementsAre(2, 3));
  const std::vector<int64_t> positions = {1, 2, 3};
  EXPECT_EQ(matrix.indices().raw_data(),
            std::string(reinterpret_cast<const char*>(positions.data()), 3 * sizeof(int64_t)));
  EXPECT_EQ(model.graph().node(0).op_type(), "MatMul");
  EXPECT_EQ(model.graph().node(0).input(0), matrix.values().name());
  EXPECT_EQ(model.graph().initializer_size(), 0);
  EXPECT_EQ(exported({2, 1, 0}).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(OnnxExportTest, OperatorsWithoutAFormAreListed) {
  const ir::Expr x = ir::TensorVar("x", {2}, DataType::kFloat32);
  const ir::Expr y = *ops::TypedCall("rsqrt", {*ops::TypedCall("sign", {x})});
  ir::Module module;
  module.functions["main"] = ops::TypedFunction({x}, y);
  const absl::Status status = ExportOnnxBytes(module).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rsqrt, sign"));
}

}  // namespace
}  // namespace hone::frontend
