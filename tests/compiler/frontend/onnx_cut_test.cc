// A part of a model, and what is said of a model that is had in part only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// As exporters end detectors: the boxes chosen are gathered, for which nothing has a static shape.
OnnxMaker BoxDetector(const std::string& chooser = "NonMaxSuppression") {
  OnnxMaker maker(18);
  maker.Input("image", {1, 4, 3})
      .Input("scale", {1})
      .Initializer("most", IntTensor({1}, {2}))
      .Initializer("axes", IntTensor({1}, {1}))
      .Initializer("half", FloatTensor({1}, {0.5F}))
      .Node("Neg", {"image"}, {"features"})
      .Node("Transpose", {"features"}, {"head/boxes"})
      .Ints("perm", {0, 2, 1})
      .Node("ReduceMax", {"features", "axes"}, {"head/scores"})
      .Node("Relu", {"head/scores"}, {"scores"})
      .Node(chooser, {"head/boxes", "scores", "most", "half"}, {"chosen"})
      .Node("Gather", {"head/boxes", "chosen"}, {"found"})
      .Int("axis", 1)
      .Node("Mul", {"found", "scale"}, {"scaled"})
      .Output("scaled")
      .Output("scores");
  return maker;
}

std::string Names(const ir::Module& module) {
  const ir::ExprNode& main = *module.functions.at("main");
  std::string text;
  for (const ir::Expr& param : ir::Params(main)) text += param->name + " ";
  text += "->";
  for (const auto& name : std::get<std::vector<std::string>>(main.attrs.at("output_names"))) {
    text += " " + name;
  }
  return text;
}

TEST(OnnxCut, ImportsWhatTheValuesNeedAndNoMore) {
  ImportOptions options;
  options.outputs = {"scores", "head/boxes"};
  const auto module = ImportOnnxBytes(BoxDetector("Unknown").Bytes(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Names(*module), "image -> scores head/boxes");
  const auto outputs =
      RunModel(*module, {FloatTensor({1, 4, 3}, {-1, 2, -3, 4, -5, 6, -7, 8, -9, 10, -11, 12})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(Floats((*outputs)[0]), ElementsAre(7, 11, 9));
  EXPECT_THAT((*outputs)[1].shape, ElementsAre(1, 3, 4));
}

TEST(OnnxCut, AnInitializerAndAnInputMayBeValuesToo) {
  ImportOptions options;
  options.outputs = {"half", "image"};
  const auto module = ImportOnnxBytes(BoxDetector().Bytes(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Names(*module), "image -> half image");
}

TEST(OnnxCut, ASparseInitializerIsAValueWithItsZeros) {
  OnnxMaker maker;
  onnx::SparseTensorProto& sparse = *maker.proto().mutable_graph()->add_sparse_initializer();
  ToProto(FloatTensor({2}, {5, 7}), "A", sparse.mutable_values());
  ToProto(IntTensor({2}, {1, 3}), "", sparse.mutable_indices());
  sparse.add_dims(2);
  sparse.add_dims(2);
  maker.Input("x", {2, 2}).Node("MatMul", {"A", "x"}, {"y"}).Output("y");
  ImportOptions options;
  options.outputs = {"A", "y"};
  const auto module = ImportOnnxBytes(maker.Bytes(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto outputs = RunModel(*module, {FloatTensor({2, 2}, {1, 2, 3, 4})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0], FloatTensor({2, 2}, {0, 5, 0, 7}));
  EXPECT_THAT(Floats((*outputs)[1]), ElementsAre(15, 20, 21, 28));
}

// An input is one whether or not it has a default value: what nothing reads is none.
TEST(OnnxCut, InputsThatNothingReadsAreGoneWithTheirDefaults) {
  OnnxMaker maker(18);
  maker.Input("x", {2}).Input("w", {2}).Initializer("w", FloatTensor({2}, {1, 2}));
  maker.Node("Neg", {"x"}, {"n"}).Node("Add", {"n", "w"}, {"y"}).Output("y");
  ImportOptions options;
  options.outputs = {"n"};
  const auto module = ImportOnnxBytes(maker.Bytes(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Names(*module), "x -> n");
}

TEST(OnnxCut, AValueThatIsNotThereAndOneNamedTwiceAreRefused) {
  ImportOptions options;
  options.outputs = {"boxes"};
  EXPECT_EQ(ImportStatus(BoxDetector(), options).message(),
            "--cut boxes: a value of the model's main graph was expected, which has none of that "
            "name; its outputs are scaled, scores");
  options.outputs = {"scores", "scores"};
  EXPECT_THAT(std::string(ImportStatus(BoxDetector(), options).message()),
              HasSubstr("found twice"));
  options.outputs = {""};
  EXPECT_FALSE(ImportStatus(BoxDetector(), options).ok());
}

// What is read beyond the node that has no static shape, not what is read before it.
TEST(OnnxCut, AShapeThatDependsOnDataComesWithTheLineThatCutsBeforeIt) {
  const std::string message(ImportStatus(BoxDetector("Unique")).message());
  EXPECT_THAT(message, HasSubstr("the shape of its result depends on X"));
  EXPECT_THAT(message, HasSubstr("cut the model before it: --cut scores --cut head/boxes"));
  ImportOptions options;
  options.outputs = {"scores", "head/boxes"};
  EXPECT_TRUE(ImportStatus(BoxDetector("Unique"), options).ok());
}

// Its result has an upper bound, as an output: the cut is behind it.
TEST(OnnxCut, WhatReadsTheBoxesChosenIsLeftOut) {
  const std::string message(ImportStatus(BoxDetector()).message());
  EXPECT_THAT(message, HasSubstr("--cut scores --cut head/boxes --cut chosen"));
  ImportOptions options;
  options.outputs = {"scores", "head/boxes", "chosen"};
  EXPECT_TRUE(ImportStatus(BoxDetector(), options).ok());
}

TEST(OnnxCut, SoDoesAnOperatorThatHoneDoesNotHave) {
  const std::string message(ImportStatus(BoxDetector("Unknown")).message());
  EXPECT_THAT(message, HasSubstr("operators that Hone does not have: Unknown"));
  EXPECT_THAT(message, HasSubstr("--cut scores --cut head/boxes"));
}

// Values of a graph within a node are not to be had by themselves.
TEST(OnnxCut, ANodeWithGraphsIsLeftOutAsAWhole) {
  OnnxMaker maker(18);
  maker.Input("x", {2}).Node("Neg", {"x"}, {"condition_of"}).Node("Cast", {"condition_of"}, {"c"});
  maker.Int("to", 9).Initializer("zero", IntTensor({}, {0}));
  maker.Node("Gather", {"c", "zero"}, {"first"}).Node("Exp", {"condition_of"}, {"y"});
  maker.Node("If", {"first"}, {"z"}).Output("z");
  for (const char* const name : {"then_branch", "else_branch"}) {
    OnnxMaker branch;
    branch.Node(name[0] == 't' ? "Unknown" : "Relu", {"y"}, {"inner"}).Output("inner");
    auto* const attr = maker.proto().mutable_graph()->mutable_node()->rbegin()->add_attribute();
    attr->set_name(name);
    attr->set_type(onnx::AttributeProto::GRAPH);
    *attr->mutable_g() = branch.proto().graph();
  }
  EXPECT_THAT(std::string(ImportStatus(maker).message()), HasSubstr("--cut first --cut y"));
  ImportOptions options;
  options.outputs = {"first", "y"};
  EXPECT_TRUE(ImportStatus(maker, options).ok());
}

TEST(OnnxCut, NoLineIsGivenWhereNothingComesBeforeAndForOtherErrors) {
  OnnxMaker maker(18);
  maker.Input("x", {2}).Node("Unknown", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(std::string(ImportStatus(maker).message()), Not(HasSubstr("--cut")));
  OnnxMaker damaged(18);
  damaged.Input("x", {2}).Node("Neg", {"x"}, {"y"}).Node("Add", {"y", "none"}, {"z"}).Output("z");
  EXPECT_THAT(std::string(ImportStatus(damaged).message()), Not(HasSubstr("--cut")));
}

TEST(OnnxCut, NamesThatAShellWouldSplitAreQuoted) {
  OnnxMaker maker(18);
  maker.Input("x", {2}).Node("Neg", {"x"}, {"it's; y"}).Node("Unknown", {"it's; y"}, {"z"});
  maker.Output("z");
  EXPECT_THAT(std::string(ImportStatus(maker).message()), HasSubstr("--cut 'it'\\''s; y'"));
}

// The line with the cut is added to a command that has options for all inputs of the model.
TEST(OnnxCut, OptionsForInputsThatItLeavesOutAreTaken) {
  OnnxMaker maker(18);
  maker.Input("x", {2}).Input("most", {1}).Input("late", {1}).Node("Neg", {"x"}, {"y"});
  maker.Initializer("factor", FloatTensor({1}, {2})).Input("factor", {1});
  maker.Node("Mul", {"late", "factor"}, {"scaled"}).Node("Add", {"y", "scaled"}, {"z"});
  maker.Output("z");
  auto& inputs = *maker.proto().mutable_graph()->mutable_input();
  const auto make_symbolic = [&](int input, const char* symbol) {
    inputs[input]
        .mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_param(symbol);
  };
  make_symbolic(0, "batch");
  make_symbolic(1, "batch");
  make_symbolic(2, "length");
  ImportOptions by_dims;
  by_dims.outputs = {"y"};
  ImportOptions by_shapes = by_dims;
  ImportOptions by_values = by_dims;
  const auto import = [&](const ImportOptions& options) {
    return ImportOnnxBytes(maker.Bytes(), options);
  };
  by_dims.dims = {{"batch", 2}, {"length", 3}};
  auto module = import(by_dims);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Names(*module), "x -> y");
  // An input that is left out still says what its symbols are.
  by_shapes.shapes = {{"most", {4}}, {"late", {3}}, {"factor", {1}}};
  module = import(by_shapes);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Names(*module), "x -> y");
  EXPECT_EQ(ir::Body(*module->functions.at("main"))->type->ToString(), "Tensor[(4), float32]");
  by_values.constants = {{"late", FloatTensor({1}, {1})}};
  by_values.values = {{"most", FloatTensor({2}, {1, 2})}};
  EXPECT_TRUE(import(by_values).ok()) << import(by_values).status();
  by_dims.dims = {{"batch", 2}, {"lenght", 3}};
  EXPECT_THAT(std::string(import(by_dims).status().message()),
              HasSubstr("--dim lenght=3: the inputs of the model have no extent of that name"));
  by_shapes.shapes = {{"x", {2}}, {"lake", {3}}};
  EXPECT_THAT(std::string(import(by_shapes).status().message()),
              HasSubstr("no input \"lake\"; it has x"));
}

}  // namespace
}  // namespace hone::frontend
