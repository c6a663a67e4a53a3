// What the inputs of a model become: symbolic extents with numbers, default values with others.
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

// An input of extents that are numbers, names, or "" for one that has none.
OnnxMaker& SymbolicInput(OnnxMaker& maker, const std::string& name,
                         const std::vector<std::string>& extents) {
  maker.Input(name, std::vector<int64_t>(extents.size(), 1));
  onnx::ValueInfoProto& input = *maker.proto().mutable_graph()->mutable_input()->rbegin();
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (size_t i = 0; i < extents.size(); ++i) {
    auto& dim = *shape.mutable_dim(static_cast<int>(i));
    dim.Clear();
    const bool is_number = extents[i].find_first_not_of("0123456789") == std::string::npos;
    if (extents[i].empty()) continue;
    if (is_number) {
      dim.set_dim_value(std::stoll(extents[i]));
    } else {
      dim.set_dim_param(extents[i]);
    }
  }
  return maker;
}

// "x(2, 3) y(4)": the parameters of main.
std::string Params(const OnnxMaker& maker, const ImportOptions& options = {}) {
  const auto module = ImportOnnxBytes(maker.Bytes(), options);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  std::string text;
  for (const ir::Expr& param : ir::Params(*module->functions.at("main"))) {
    if (!text.empty()) text += ' ';
    text += param->name + '(';
    for (const int64_t extent : param->type->tensor.shape) text += std::to_string(extent) + ',';
    text.back() = text.back() == ',' ? ')' : text.back();
    if (param->type->tensor.shape.empty()) text += ')';
  }
  return text;
}

OnnxMaker SymbolicDetector() {
  OnnxMaker maker(18);
  SymbolicInput(maker, "image", {"batch", "3", "height", "width"});
  SymbolicInput(maker, "mask", {"batch", "seq_len"});
  SymbolicInput(maker, "boxes", {"", "4"});
  return maker.Node("Neg", {"image"}, {"y"}).Output("y");
}

TEST(SymbolicInputs, AreAllNamedAtOnceWithALineToCopy) {
  EXPECT_EQ(Refusal(SymbolicDetector()),
            "numbers were expected for the symbolic extents of the inputs (\"image\" is "
            "batch,3,height,width, \"mask\" is batch,seq_len, \"boxes\" is ?,4): give them, as in "
            "--dim batch=1 --dim height=224 --dim width=224 --dim seq_len=128 --shape boxes=1,4");
}

TEST(SymbolicInputs, TheLineThatIsToldWorks) {
  ImportOptions options;
  options.dims = {{"batch", 1}, {"height", 224}, {"width", 224}, {"seq_len", 128}};
  options.shapes["boxes"] = {1, 4};
  EXPECT_EQ(Params(SymbolicDetector(), options), "image(1,3,224,224) mask(1,128) boxes(1,4)");
}

TEST(SymbolicInputs, NamesThatAShellWouldSplitAreQuoted) {
  OnnxMaker maker(18);
  SymbolicInput(maker, "x", {"past + 1"}).Node("Neg", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(Refusal(maker), HasSubstr("as in --dim 'past + 1'=1"));
  ImportOptions options;
  options.dims["past + 1"] = 5;
  EXPECT_EQ(Params(maker, options), "x(5)");
}

TEST(SymbolicInputs, OnlyWhatIsStillOpenIsAskedFor) {
  ImportOptions options;
  options.dims = {{"height", 8}, {"width", 8}};
  options.shapes = {{"boxes", {7, 4}}};
  const std::string error = Refusal(SymbolicDetector(), options);
  EXPECT_THAT(error, HasSubstr("as in --dim batch=1 --dim seq_len=128"));
  EXPECT_THAT(error, Not(HasSubstr("boxes")));
}

TEST(SymbolicInputs, TheShapeOfAConstantBindsItsSymbols) {
  OnnxMaker maker(18);
  SymbolicInput(maker, "x", {"n", "2"});
  SymbolicInput(maker, "w", {"n"});
  maker.Node("Neg", {"x"}, {"y"}).Node("Neg", {"w"}, {"z"}).Output("y").Output("z");
  ImportOptions options;
  options.constants["w"] = FloatTensor({3}, {1, 2, 3});
  EXPECT_EQ(Params(maker, options), "x(3,2)");
  options.dims["n"] = 4;
  EXPECT_THAT(Refusal(maker, options),
              HasSubstr("--dim n=4 and the value of input w of shape (3) give it two, 4 and 3"));
}

TEST(SymbolicInputs, AnInputWithoutAShapeIsNamedToo) {
  OnnxMaker maker(18);
  SymbolicInput(maker, "x", {"n"}).Input("z", {1}).Node("Neg", {"x"}, {"y"}).Output("y");
  maker.proto()
      .mutable_graph()
      ->mutable_input(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->clear_shape();
  EXPECT_THAT(Refusal(maker), HasSubstr("\"z\" has no shape"));
  EXPECT_THAT(Refusal(maker), HasSubstr("as in --dim n=1 --shape z=..."));
}

TEST(SymbolicInputs, ADimensionIsBoundWhereverItStands) {
  OnnxMaker maker(18);
  SymbolicInput(maker, "a", {"n", "n"});
  SymbolicInput(maker, "b", {"m", "n", "2"}).Node("Neg", {"a"}, {"y"}).Output("y");
  ImportOptions options;
  options.dims = {{"n", 4}, {"m", 0}};
  EXPECT_EQ(Params(maker, options), "a(4,4) b(0,4,2)");
}

TEST(SymbolicInputs, AShapeTellsTheSameSymbolElsewhere) {
  OnnxMaker maker(18);
  SymbolicInput(maker, "a", {"n", "3"});
  SymbolicInput(maker, "b", {"n"}).Node("Neg", {"a"}, {"y"}).Output("y");
  ImportOptions options;
  options.shapes["a"] = {5, 3};
  EXPECT_EQ(Params(maker, options), "a(5,3) b(5)");
}

TEST(SymbolicInputs, AValueTellsTheSameSymbolElsewhere) {
  OnnxMaker maker(18);
  SymbolicInput(maker, "a", {"n"});
  SymbolicInput(maker, "b", {"n", "2"}).Node("Neg", {"b"}, {"y"}).Output("y");
  ImportOptions options;
  options.values["a"] = FloatTensor({3}, {1, 2, 3});
  EXPECT_EQ(Params(maker, options), "a(3) b(3,2)");
}

TEST(SymbolicInputs, ADimensionThatTheModelDoesNotHaveIsRefused) {
  ImportOptions options;
  options.dims["depth"] = 4;
  EXPECT_THAT(Refusal(SymbolicDetector(), options),
              HasSubstr("--dim depth=4: the inputs of the model have no extent of that name; they "
                        "have batch, height, seq_len, width"));
  OnnxMaker fixed(18);
  fixed.Input("x", {2}).Node("Neg", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(Refusal(fixed, options), HasSubstr("none of theirs has one"));
}

TEST(SymbolicInputs, TwoNumbersForOneDimensionAreRefusedWithBothPlaces) {
  OnnxMaker maker(18);
  SymbolicInput(maker, "x", {"batch", "3"}).Node("Neg", {"x"}, {"y"}).Output("y");
  ImportOptions options;
  options.dims["batch"] = 4;
  options.shapes["x"] = {2, 3};
  EXPECT_EQ(Refusal(maker, options),
            "one number for the extent batch was expected, but --dim batch=4 and --shape x=2,3 "
            "give it two, 4 and 2");
  options.shapes["x"] = {4, 3};
  EXPECT_EQ(Params(maker, options), "x(4,3)");
}

TEST(SymbolicInputs, AValueOfAnotherExtentThanTheDimensionIsRefused) {
  OnnxMaker maker(18);
  SymbolicInput(maker, "x", {"batch"}).Node("Neg", {"x"}, {"y"}).Output("y");
  ImportOptions options;
  options.dims["batch"] = 4;
  options.values["x"] = FloatTensor({2}, {1, 2});
  EXPECT_THAT(Refusal(maker, options),
              HasSubstr("--dim batch=4 and the value of input x of shape (2) give it two"));
}

OnnxMaker Sum() {
  OnnxMaker maker(18);
  SymbolicInput(maker, "a", {"n"});
  return SymbolicInput(maker, "b", {"n"}).Node("Add", {"a", "b"}, {"y"}).Output("y");
}

TEST(SymbolicInputs, ASymbolWithTwoNumbersIsNamedWhereTheModelDoesNotFit) {
  ImportOptions options;
  options.shapes = {{"a", {2}}, {"b", {3}}};
  const std::string error = Refusal(Sum(), options);
  EXPECT_THAT(error, HasSubstr("node \"Add_node\" (Add)"));
  EXPECT_THAT(error, HasSubstr("note that the extent n is 2 in input a, 3 in input b"));
}

// Exporters reuse names.
TEST(SymbolicInputs, ASymbolWithTwoNumbersIsNoErrorByItself) {
  ImportOptions options;
  options.shapes = {{"a", {1}}, {"b", {3}}};
  EXPECT_EQ(Params(Sum(), options), "a(1) b(3)");
}

TEST(SymbolicInputs, AnInputThatIsAConstantNeedsNoNumbers) {
  ImportOptions options;
  options.constants["b"] = FloatTensor({3}, {1, 2, 3});
  options.dims["n"] = 3;
  EXPECT_EQ(Params(Sum(), options), "a(3)");
}

// An initializer of the name of an input is its default value.
OnnxMaker Defaulted() {
  OnnxMaker maker(8);
  return maker.Input("x", {2})
      .Input("w", {2})
      .Initializer("w", FloatTensor({2}, {10, 20}))
      .Node("Mul", {"x", "w"}, {"y"})
      .Output("y");
}

const TensorData kTwoFloats = FloatTensor({2}, {1, 2});

TEST(DefaultedInputs, AreConstants) {
  EXPECT_EQ(Params(Defaulted()), "x(2)");
  EXPECT_THAT(Floats(FirstOutput(Defaulted(), {kTwoFloats})), ElementsAre(10, 40));
}

TEST(DefaultedInputs, AValueReplacesTheDefault) {
  ImportOptions at_hand;
  at_hand.values = {{"x", kTwoFloats}, {"w", FloatTensor({2}, {3, 4})}};
  EXPECT_EQ(Params(Defaulted(), at_hand), "x(2)");
  EXPECT_THAT(Floats(FirstOutput(Defaulted(), {kTwoFloats}, at_hand)), ElementsAre(3, 8));
  ImportOptions constant;
  constant.constants["w"] = FloatTensor({2}, {5, 6});
  EXPECT_THAT(Floats(FirstOutput(Defaulted(), {kTwoFloats}, constant)), ElementsAre(5, 12));
}

TEST(DefaultedInputs, AShapeMakesOneAnInput) {
  ImportOptions options;
  options.shapes["w"] = {2};
  EXPECT_EQ(Params(Defaulted(), options), "x(2) w(2)");
  EXPECT_THAT(Floats(FirstOutput(Defaulted(), {kTwoFloats, FloatTensor({2}, {7, 8})}, options)),
              ElementsAre(7, 16));
  options.shapes["w"] = {3};
  EXPECT_THAT(Refusal(Defaulted(), options), HasSubstr("the model's input has the shape 2"));
}

TEST(DefaultedInputs, AValueOfAnotherTypeOrShapeIsRefused) {
  ImportOptions options;
  options.values["w"] = IntTensor({2}, {1, 2});
  EXPECT_THAT(Refusal(Defaulted(), options), HasSubstr("float32 was expected, found int64"));
  options.values["w"] = FloatTensor({3}, {1, 2, 3});
  EXPECT_THAT(Refusal(Defaulted(), options), HasSubstr("a value of shape (2) was expected"));
}

TEST(DefaultedInputs, OneMayDecideAShape) {
  OnnxMaker maker(13);
  maker.Input("x", {4})
      .Input("shape", {2}, DataType::kInt64)
      .Initializer("shape", IntTensor({2}, {2, 2}))
      .Node("Reshape", {"x", "shape"}, {"y"})
      .Output("y");
  ImportOptions options;
  options.values["shape"] = IntTensor({2}, {4, 1});
  const auto module = ImportOnnxBytes(maker.Bytes(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(ir::Body(*module->functions.at("main"))->type->tensor.shape, ElementsAre(4, 1));
}

// The type of the input is of no matter where the file has it wrong: the default value has one.
TEST(DefaultedInputs, OneWithoutATypeHasThatOfItsDefault) {
  OnnxMaker maker = Defaulted();
  maker.proto().mutable_graph()->mutable_input(1)->clear_type();
  EXPECT_THAT(Floats(FirstOutput(maker, {kTwoFloats})), ElementsAre(10, 40));
}

OnnxMaker ProductBranch(const std::string& weights) {
  OnnxMaker branch;
  branch.Node("MatMul", {"x", weights}, {weights + "_y"}).Output(weights + "_y");
  return branch;
}

// Products with weights of 2 rows or of 3: one of the two fits the input.
OnnxMaker TwoRates() {
  OnnxMaker maker(17);
  maker.Input("rate", {}, DataType::kInt64)
      .Input("x", {1, 2})
      .Initializer("k16", IntTensor({}, {16000}))
      .Initializer("w2", FloatTensor({2, 1}, {1, 1}))
      .Initializer("w3", FloatTensor({3, 1}, {1, 1, 1}))
      .Node("Equal", {"rate", "k16"}, {"c"})
      .Node("If", {"c"}, {"y"})
      .Output("y");
  for (const auto& [name, weights] :
       {std::pair("then_branch", "w2"), std::pair("else_branch", "w3")}) {
    onnx::AttributeProto& attr = *maker.proto().mutable_graph()->mutable_node(1)->add_attribute();
    attr.set_name(name);
    attr.set_type(onnx::AttributeProto::GRAPH);
    OnnxMaker branch = ProductBranch(weights);
    *attr.mutable_g() = branch.proto().graph();
  }
  return maker;
}

TEST(BranchesByInputs, AValueAtHandChoosesAndTheOtherBranchNeedNotFit) {
  ImportOptions options;
  options.values = {{"rate", IntTensor({}, {16000})}, {"x", FloatTensor({1, 2}, {3, 4})}};
  EXPECT_EQ(Params(TwoRates(), options), "x(1,2)");
  EXPECT_THAT(Floats(FirstOutput(TwoRates(), {FloatTensor({1, 2}, {3, 4})}, options)),
              ElementsAre(7));
}

TEST(BranchesByInputs, AConstantChoosesToo) {
  ImportOptions options;
  options.constants["rate"] = IntTensor({}, {16000});
  EXPECT_THAT(Floats(FirstOutput(TwoRates(), {FloatTensor({1, 2}, {3, 4})}, options)),
              ElementsAre(7));
}

TEST(BranchesByInputs, WithoutAValueTheInputIsNamed) {
  const std::string error = Refusal(TwoRates());
  EXPECT_THAT(error, HasSubstr("its else_branch cannot be compiled for these inputs"));
  EXPECT_THAT(error, HasSubstr("it is computed from the input(s) rate: give their values with "
                               "--constant NAME=FILE"));
}

TEST(BranchesByInputs, TheBranchThatIsTakenMustFit) {
  ImportOptions options;
  options.constants["rate"] = IntTensor({}, {8000});
  EXPECT_THAT(Refusal(TwoRates(), options), HasSubstr("cannot be multiplied"));
}

TEST(MissingOperators, NamesAreCutAfterThree) {
  OnnxMaker maker(18);
  maker.Input("x", {2});
  for (int i = 0; i < 15; ++i) {
    maker.Node("Strange", {"x"}, {"y" + std::to_string(i)});
    onnx::NodeProto& node = *maker.proto().mutable_graph()->mutable_node()->rbegin();
    node.set_name("n" + std::to_string(i));
  }
  EXPECT_EQ(Refusal(maker.Output("y0")),
            "the model uses operators that Hone does not have: Strange (nodes \"n0\", \"n1\", "
            "\"n2\" and 12 more)");
}

TEST(MissingOperators, AreListedBesideAWrongOpset) {
  OnnxMaker maker(99);
  maker.Input("x", {2}).Node("Strange", {"x"}, {"y"}).Output("y");
  const std::string error = Refusal(maker);
  EXPECT_THAT(error, HasSubstr("opset 1 to 28 was expected, found 99"));
  EXPECT_THAT(error, HasSubstr("operators that Hone does not have: Strange"));
}

}  // namespace
}  // namespace hone::frontend
