// Model-local functions: calls are inlined, each in a scope and opset of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

constexpr int kAttributeProtoField = 11;
constexpr int kFunctionOverloadField = 13;
constexpr int kNodeOverloadField = 8;

// A function whose nodes, inputs and outputs are those of the body's graph.
onnx::FunctionProto& AddFunction(OnnxMaker& maker, const std::string& domain,
                                 const std::string& name, const OnnxMaker& given, int opset = 18) {
  OnnxMaker body = given;
  onnx::FunctionProto& function = *maker.proto().add_functions();
  function.set_domain(domain);
  function.set_name(name);
  const onnx::GraphProto& graph = body.proto().graph();
  for (const onnx::ValueInfoProto& input : graph.input()) function.add_input(input.name());
  for (const onnx::ValueInfoProto& output : graph.output()) function.add_output(output.name());
  *function.mutable_node() = graph.node();
  function.add_opset_import()->set_version(opset);
  return function;
}

onnx::NodeProto& LastNode(OnnxMaker& maker) {
  return *maker.proto().mutable_graph()->mutable_node()->rbegin();
}

// An attribute of the node last made takes the value of the function's `ref`.
OnnxMaker& Refer(OnnxMaker& maker, const std::string& name, const std::string& ref,
                 onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attr = *LastNode(maker).add_attribute();
  attr.set_name(name);
  attr.set_ref_attr_name(ref);
  attr.set_type(type);
  return maker;
}

void AddDefault(onnx::FunctionProto& function, const std::string& name, float value) {
  onnx::AttributeProto attr;
  attr.set_name(name);
  attr.set_type(onnx::AttributeProto::FLOAT);
  attr.set_f(value);
  function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(
      kAttributeProtoField, attr.SerializeAsString());
}

absl::StatusOr<std::vector<TensorData>> RunMaker(const OnnxMaker& maker,
                                                 const std::vector<TensorData>& inputs) {
  const auto module = ImportOnnxBytes(maker.Bytes());
  if (!module.ok()) return module.status();
  return RunModel(*module, inputs);
}

OnnxMaker Silu() {
  OnnxMaker body;
  body.Input("a", {}).Node("Sigmoid", {"a"}, {"s"}).Node("Mul", {"a", "s"}, {"b"}).Output("b");
  return body;
}

const TensorData kThreeFloats = FloatTensor({3}, {-2, 0, 3});

TEST(OnnxFunctions, ACallIsItsBody) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Silu", {"x"}, {"y"}).Output("y");
  AddFunction(maker, "my", "Silu", Silu());
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})),
              Pointwise(FloatNear(1e-6), {-0.23840584F, 0.F, 2.8577223F}));
}

TEST(OnnxFunctions, TwoCallsMayUseTheSameNamesInside) {
  OnnxMaker maker(18);
  maker.Input("x", {3})
      .Node("my.Silu", {"x"}, {"s"})  // "s" is a name inside the body, too
      .Node("my.Silu", {"s"}, {"y"})
      .Output("y");
  AddFunction(maker, "my", "Silu", Silu());
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})),
              Pointwise(FloatNear(1e-6), {-0.1050607F, 0.F, 2.7025952F}));
}

TEST(OnnxFunctions, FunctionsCallFunctions) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Twice", {"x"}, {"y"}).Output("y");
  AddFunction(maker, "my", "Silu", Silu());
  OnnxMaker twice;
  twice.Input("a", {}).Node("my.Silu", {"a"}, {"t"}).Node("my.Silu", {"t"}, {"b"}).Output("b");
  AddFunction(maker, "my", "Twice", twice);
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})),
              Pointwise(FloatNear(1e-6), {-0.1050607F, 0.F, 2.7025952F}));
}

TEST(OnnxFunctions, TheBodySeesNoNameOfTheCaller) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.F", {"x"}, {"y"}).Output("y");
  OnnxMaker body;
  body.Input("a", {}).Node("Add", {"a", "x"}, {"b"}).Output("b");
  AddFunction(maker, "my", "F", body);
  EXPECT_THAT(Refusal(maker), HasSubstr("it reads \"x\", which no input"));
}

OnnxMaker LeakyBody() {
  OnnxMaker body;
  body.Input("a", {}).Node("LeakyRelu", {"a"}, {"b"});
  Refer(body, "alpha", "slope", onnx::AttributeProto::FLOAT).Output("b");
  return body;
}

TEST(OnnxFunctions, AnAttributeOfTheCallReachesTheBody) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Leaky", {"x"}, {"y"}).Float("slope", 0.5F).Output("y");
  AddFunction(maker, "my", "Leaky", LeakyBody()).add_attribute("slope");
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})), ElementsAre(-1, 0, 3));
}

TEST(OnnxFunctions, AnAttributeLeftOutIsLeftOutInTheBody) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Leaky", {"x"}, {"y"}).Output("y");
  AddFunction(maker, "my", "Leaky", LeakyBody()).add_attribute("slope");
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})),
              Pointwise(FloatNear(1e-7), {-0.02F, 0.F, 3.F}));
}

TEST(OnnxFunctions, AttributesMayHaveADefault) {
  for (const bool given : {false, true}) {
    OnnxMaker maker(18);
    maker.Input("x", {3}).Node("my.Leaky", {"x"}, {"y"});
    if (given) maker.Float("slope", 2);
    maker.Output("y");
    AddDefault(AddFunction(maker, "my", "Leaky", LeakyBody()), "slope", 0.25F);
    EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})), ElementsAre(given ? -4 : -0.5F, 0, 3));
  }
}

TEST(OnnxFunctions, AttributesPassThroughSeveralCalls) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Outer", {"x"}, {"y"}).Float("k", 3).Output("y");
  AddFunction(maker, "my", "Leaky", LeakyBody()).add_attribute("slope");
  OnnxMaker outer;
  outer.Input("a", {}).Node("my.Leaky", {"a"}, {"b"});
  Refer(outer, "slope", "k", onnx::AttributeProto::FLOAT).Output("b");
  AddFunction(maker, "my", "Outer", outer).add_attribute("k");
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})), ElementsAre(-6, 0, 3));
}

TEST(OnnxFunctions, ReferencesReachTheBranchesOfAnIf) {
  OnnxMaker branch;
  branch.Node("LeakyRelu", {"a"}, {"t"});
  Refer(branch, "alpha", "slope", onnx::AttributeProto::FLOAT).Output("t");
  OnnxMaker body;
  body.Input("a", {}).Input("c", {}).Node("If", {"c"}, {"b"}).Output("b");
  for (const char* const name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto& attr = *LastNode(body).add_attribute();
    attr.set_name(name);
    attr.set_type(onnx::AttributeProto::GRAPH);
    *attr.mutable_g() = branch.proto().graph();
  }
  OnnxMaker maker(18);
  maker.Input("x", {3})
      .Initializer("yes", {DataType::kBool, {}, std::string(1, '\1')})
      .Node("my.F", {"x", "yes"}, {"y"})
      .Float("slope", 0.5F)
      .Output("y");
  AddFunction(maker, "my", "F", body).add_attribute("slope");
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})), ElementsAre(-1, 0, 3));
}

TEST(OnnxFunctions, AReferenceOutsideOfAFunctionIsRefused) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("LeakyRelu", {"x"}, {"y"});
  Refer(maker, "alpha", "slope", onnx::AttributeProto::FLOAT).Output("y");
  EXPECT_THAT(Refusal(maker), HasSubstr("refers to \"slope\" of a function around it"));
}

TEST(OnnxFunctions, AnUnknownAttributeOfACallIsRefused) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Silu", {"x"}, {"y"}).Float("beta", 1).Output("y");
  AddFunction(maker, "my", "Silu", Silu());
  EXPECT_THAT(Refusal(maker), HasSubstr("does not know its attribute beta"));
}

// Softmax flattens before opset 13.
TEST(OnnxFunctions, TheBodyHasTheOpsetThatItImports) {
  for (const int opset : {11, 13}) {
    OnnxMaker maker(18);
    maker.Input("x", {1, 2, 2}).Node("my.F", {"x"}, {"y"}).Output("y");
    OnnxMaker body;
    body.Input("a", {}).Node("Softmax", {"a"}, {"b"}).Int("axis", 1).Output("b");
    AddFunction(maker, "my", "F", body, opset);
    const float each = opset == 11 ? 0.25F : 0.5F;
    EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({1, 2, 2}, {1, 1, 1, 1})})),
                ElementsAre(each, each, each, each));
  }
}

TEST(OnnxFunctions, WithoutAnImportTheBodyHasTheOpsetOfTheModel) {
  OnnxMaker maker(11);
  maker.Input("x", {1, 2, 2}).Node("my.F", {"x"}, {"y"}).Output("y");
  OnnxMaker body;
  body.Input("a", {}).Node("Softmax", {"a"}, {"b"}).Int("axis", 1).Output("b");
  AddFunction(maker, "my", "F", body).clear_opset_import();
  EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({1, 2, 2}, {1, 1, 1, 1})})),
              ElementsAre(0.25F, 0.25F, 0.25F, 0.25F));
}

TEST(OnnxFunctions, AModelOfCallsAloneNeedsNoOpset) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Silu", {"x"}, {"y"}).Output("y");
  AddFunction(maker, "my", "Silu", Silu());
  maker.proto().mutable_opset_import(0)->set_domain("my");
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})),
              Pointwise(FloatNear(1e-6), {-0.23840584F, 0.F, 2.8577223F}));
  maker.Node("Relu", {"x"}, {"z"});
  EXPECT_THAT(Refusal(maker), HasSubstr("an opset of ONNX's own domain was expected"));
}

TEST(OnnxFunctions, AFunctionStandsBeforeTheOperatorOfItsName) {
  for (const char* const domain : {"", "ai.onnx"}) {
    OnnxMaker maker(18);
    maker.Input("x", {3}).Node("Relu", {"x"}, {"y"}).Output("y");
    OnnxMaker body;
    body.Input("a", {}).Node("Neg", {"a"}, {"b"}).Output("b");
    AddFunction(maker, domain, "Relu", body);
    EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})), ElementsAre(2, 0, -3));
  }
}

TEST(OnnxFunctions, AFunctionMayBeNamedAsControlFlow) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.If", {"x"}, {"y"}).Output("y");
  OnnxMaker body;
  body.Input("a", {}).Node("Neg", {"a"}, {"b"}).Output("b");
  AddFunction(maker, "my", "If", body);
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})), ElementsAre(2, 0, -3));
}

TEST(OnnxFunctions, TheOverloadChooses) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.F", {"x"}, {"t"}).Node("my.F", {"t"}, {"y"}).Output("y");
  onnx::NodeProto& call = LastNode(maker);
  call.GetReflection()->MutableUnknownFields(&call)->AddLengthDelimited(kNodeOverloadField, "b");
  OnnxMaker negate;
  negate.Input("a", {}).Node("Neg", {"a"}, {"b"}).Output("b");
  OnnxMaker relu;
  relu.Input("a", {}).Node("Relu", {"a"}, {"b"}).Output("b");
  AddFunction(maker, "my", "F", negate);
  onnx::FunctionProto& other = AddFunction(maker, "my", "F", relu);
  other.GetReflection()->MutableUnknownFields(&other)->AddLengthDelimited(kFunctionOverloadField,
                                                                          "b");
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})), ElementsAre(2, 0, 0));
}

TEST(OnnxFunctions, TwoOfOneNameAndOverloadAreRefused) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Silu", {"x"}, {"y"}).Output("y");
  AddFunction(maker, "my", "Silu", Silu());
  AddFunction(maker, "my", "Silu", Silu());
  EXPECT_THAT(Refusal(maker), HasSubstr("two functions \"my.Silu\" of one overload"));
}

OnnxMaker ClipBody() {
  OnnxMaker body;
  body.Input("a", {}).Input("low", {}).Input("high", {});
  body.Node("Clip", {"a", "low", "high"}, {"b"}).Output("b");
  return body;
}

TEST(OnnxFunctions, OptionalInputsMayBeMissing) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<float>>> cases = {
      {{"x", "low", "high"}, {-1, 0, 1}},
      {{"x", "low"}, {-1, 0, 3}},
      {{"x", "", "high"}, {-2, 0, 1}},
      {{"x"}, {-2, 0, 3}}};
  for (const auto& [operands, expected] : cases) {
    OnnxMaker maker(18);
    maker.Input("x", {3})
        .Initializer("low", FloatTensor({}, {-1}))
        .Initializer("high", FloatTensor({}, {1}))
        .Node("my.Clip", operands, {"y"})
        .Output("y");
    AddFunction(maker, "my", "Clip", ClipBody());
    EXPECT_EQ(Floats(FirstOutput(maker, {kThreeFloats})), expected);
  }
}

TEST(OnnxFunctions, AMissingInputIsMissingInTheNextFunctionToo) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Outer", {"x"}, {"y"}).Output("y");
  AddFunction(maker, "my", "Clip", ClipBody());
  OnnxMaker outer;
  outer.Input("a", {}).Input("p", {}).Node("my.Clip", {"a", "p", "p"}, {"b"}).Output("b");
  AddFunction(maker, "my", "Outer", outer);
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})), ElementsAre(-2, 0, 3));
}

TEST(OnnxFunctions, AMissingInputThatTheBodyNeedsIsNamed) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Add", {"x"}, {"y"}).Output("y");
  OnnxMaker body;
  body.Input("a", {}).Input("p", {}).Node("Add", {"a", "p"}, {"b"}).Output("b");
  AddFunction(maker, "my", "Add", body);
  EXPECT_THAT(Refusal(maker), HasSubstr("operand 1 (B) is missing"));
}

TEST(OnnxFunctions, TrailingOutputsMayBeLeftOut) {
  OnnxMaker body;
  body.Input("a", {}).Node("Neg", {"a"}, {"b"}).Node("Abs", {"a"}, {"c"});
  body.Output("b").Output("c");
  OnnxMaker one(18);
  one.Input("x", {3}).Node("my.F", {"x"}, {"y"}).Output("y");
  AddFunction(one, "my", "F", body);
  EXPECT_THAT(Floats(FirstOutput(one, {kThreeFloats})), ElementsAre(2, 0, -3));
  OnnxMaker second(18);
  second.Input("x", {3}).Node("my.F", {"x"}, {"", "y"}).Output("y");
  AddFunction(second, "my", "F", body);
  EXPECT_THAT(Floats(FirstOutput(second, {kThreeFloats})), ElementsAre(2, 0, 3));
}

TEST(OnnxFunctions, AnOutputMayBeAnInput) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Pass", {"x"}, {"y"}).Output("y");
  OnnxMaker body;
  body.Input("a", {}).Output("a");
  AddFunction(maker, "my", "Pass", body);
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})), ElementsAre(-2, 0, 3));
}

TEST(OnnxFunctions, TooManyOperandsAndResultsAreRefused) {
  OnnxMaker operands(18);
  operands.Input("x", {3}).Node("my.Silu", {"x", "x"}, {"y"}).Output("y");
  AddFunction(operands, "my", "Silu", Silu());
  EXPECT_THAT(Refusal(operands), HasSubstr("the function has 1 inputs, and is given 2"));
  OnnxMaker results(18);
  results.Input("x", {3}).Node("my.Silu", {"x"}, {"y", "z"}).Output("y");
  AddFunction(results, "my", "Silu", Silu());
  EXPECT_THAT(Refusal(results), HasSubstr("the function has 1 outputs, 2 were expected"));
}

TEST(OnnxFunctions, OperandsMayBeSequences) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("SequenceConstruct", {"x", "x"}, {"s"});
  maker.Node("my.Count", {"s"}, {"y"}).Output("y");
  OnnxMaker body;
  body.Input("s", {}).Node("SequenceLength", {"s"}, {"n"}).Output("n");
  AddFunction(maker, "my", "Count", body);
  const auto outputs = RunMaker(maker, {kThreeFloats});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0], IntTensor({}, {2}));
}

TEST(OnnxFunctions, ShapesAreKnownInside) {
  OnnxMaker maker(18);
  maker.Input("x", {2, 3}).Node("my.Flat", {"x"}, {"y"}).Output("y");
  OnnxMaker body;
  body.Input("a", {})
      .Node("Constant", {}, {"zero"})
      .Ints("value_ints", {0})
      .Node("Size", {"a"}, {"n"})
      .Node("Unsqueeze", {"n", "zero"}, {"s"})
      .Node("Reshape", {"a", "s"}, {"b"})
      .Output("b");
  AddFunction(maker, "my", "Flat", body);
  const auto outputs = RunMaker(maker, {FloatTensor({2, 3}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT((*outputs)[0].shape, ElementsAre(6));
}

TEST(OnnxFunctions, RecursionIsRefused) {
  OnnxMaker itself(18);
  itself.Input("x", {3}).Node("my.F", {"x"}, {"y"}).Output("y");
  OnnxMaker body;
  body.Input("a", {}).Node("my.F", {"a"}, {"b"}).Output("b");
  AddFunction(itself, "my", "F", body);
  EXPECT_THAT(Refusal(itself), HasSubstr("\"my.F\" calls itself"));
  OnnxMaker circle(18);
  circle.Input("x", {3}).Node("my.F", {"x"}, {"y"}).Output("y");
  OnnxMaker other;
  other.Input("a", {}).Node("my.G", {"a"}, {"b"}).Output("b");
  AddFunction(circle, "my", "F", other);
  AddFunction(circle, "my", "G", body);
  EXPECT_THAT(Refusal(circle), HasSubstr("ONNX has no recursion"));
}

// f<i> calls f<i-1> `calls` times; f0 negates.
OnnxMaker Tower(int height, int calls) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.f" + std::to_string(height), {"x"}, {"y"}).Output("y");
  OnnxMaker first;
  first.Input("a", {}).Node("Neg", {"a"}, {"b"}).Output("b");
  AddFunction(maker, "my", "f0", first);
  for (int i = 1; i <= height; ++i) {
    OnnxMaker body;
    body.Input("a", {});
    std::string last = "a";
    for (int c = 0; c < calls; ++c) {
      const std::string next = "t" + std::to_string(c);
      body.Node("my.f" + std::to_string(i - 1), {last}, {next});
      last = next;
    }
    AddFunction(maker, "my", "f" + std::to_string(i), body.Output(last));
  }
  return maker;
}

TEST(OnnxFunctions, NestingIsBounded) {
  EXPECT_THAT(Floats(FirstOutput(Tower(40, 1), {kThreeFloats})), ElementsAre(2, 0, -3));
  EXPECT_THAT(Refusal(Tower(100, 1)), HasSubstr("functions that nest up to 64 deep"));
  EXPECT_THAT(Refusal(Tower(20000, 1)), HasSubstr("functions that nest up to 64 deep"));
}

TEST(OnnxFunctions, WhatTheyExpandToIsBounded) {
  EXPECT_THAT(Refusal(Tower(30, 2)), HasSubstr("would make the model too large"));
}

TEST(OnnxFunctions, MissingOperatorsOfBodiesAreNamed) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.F", {"x"}, {"y"}).Output("y");
  OnnxMaker body;
  body.Input("a", {}).Node("other.Thing", {"a"}, {"b"}).Output("b");
  AddFunction(maker, "my", "F", body);
  EXPECT_THAT(Refusal(maker), HasSubstr("other.Thing (nodes \"other.Thing_node\")"));
}

TEST(OnnxFunctions, WhatNothingCallsDoesNotMatter) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("Neg", {"x"}, {"y"}).Output("y");
  OnnxMaker body;
  body.Input("a", {}).Node("other.Thing", {"a"}, {"b"}).Output("b");
  AddFunction(maker, "my", "F", body, 99);
  EXPECT_THAT(Floats(FirstOutput(maker, {kThreeFloats})), ElementsAre(2, 0, -3));
}

TEST(OnnxFunctions, ErrorsNameTheCallAndTheNodeInside) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Input("w", {2}).Node("my.F", {"x", "w"}, {"y"}).Output("y");
  OnnxMaker body;
  body.Input("a", {}).Input("b", {}).Node("Add", {"a", "b"}, {"c"}).Output("c");
  AddFunction(maker, "my", "F", body);
  EXPECT_THAT(Refusal(maker), HasSubstr("node \"my.F_node\" (my.F): node \"Add_node\" (Add): "));
}

// Nodes count wherever they stand: a body of one If of 2,000 nodes is one of 2,000.
TEST(OnnxFunctions, NodesOfBranchesCountInWhatTheyExpandTo) {
  OnnxMaker branch;
  branch.Node("Neg", {"a"}, {"n0"});
  for (int i = 1; i < 2000; ++i) {
    branch.Node("Neg", {"n" + std::to_string(i - 1)}, {"n" + std::to_string(i)});
  }
  branch.Output("n1999");
  OnnxMaker body;
  body.Input("a", {}).Input("c", {}).Node("If", {"c"}, {"b"}).Output("b");
  for (const char* const name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto& attr = *LastNode(body).add_attribute();
    attr.set_name(name);
    attr.set_type(onnx::AttributeProto::GRAPH);
    *attr.mutable_g() = branch.proto().graph();
  }
  OnnxMaker maker(18);
  maker.Input("x", {3}).Initializer("yes", {DataType::kBool, {}, std::string(1, '\1')});
  std::string last = "x";
  for (int call = 0; call < 50; ++call) {
    const std::string next = "y" + std::to_string(call);
    maker.Node("my.F", {last, "yes"}, {next});
    last = next;
  }
  maker.Output(last);
  AddFunction(maker, "my", "F", body);
  EXPECT_THAT(Refusal(maker), HasSubstr("would make the model too large"));
}

// Its nodes would be the caller's, and it could call the function that it is given to.
TEST(OnnxFunctions, AGraphThatIsAnAttributeOfACallIsRefused) {
  OnnxMaker body;
  body.Input("a", {}).Input("c", {}).Node("If", {"c"}, {"b"}).Output("b");
  for (const char* const name : {"then_branch", "else_branch"}) {
    Refer(body, name, "branch", onnx::AttributeProto::GRAPH);
  }
  OnnxMaker branch;
  branch.Node("my.F", {"a", "c"}, {"t"}).Output("t");
  OnnxMaker maker(18);
  maker.Input("x", {3})
      .Initializer("yes", {DataType::kBool, {}, std::string(1, '\1')})
      .Node("my.F", {"x", "yes"}, {"y"})
      .Output("y");
  onnx::AttributeProto& attr = *LastNode(maker).add_attribute();
  attr.set_name("branch");
  attr.set_type(onnx::AttributeProto::GRAPH);
  *attr.mutable_g() = branch.proto().graph();
  AddFunction(maker, "my", "F", body).add_attribute("branch");
  EXPECT_THAT(Refusal(maker), HasSubstr("put the graph into the function"));
}

TEST(OnnxFunctions, DamagedDefaultsAreRefused) {
  OnnxMaker maker(18);
  maker.Input("x", {3}).Node("my.Leaky", {"x"}, {"y"}).Output("y");
  onnx::FunctionProto& function = AddFunction(maker, "my", "Leaky", LeakyBody());
  function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(
      kAttributeProtoField, "\xff\xff");
  EXPECT_THAT(Refusal(maker), HasSubstr("default values are damaged"));
}

// Without a seed of its own; with one it gives what the seed says.
TEST(OnnxFunctions, EachCallDrawsItsOwnRandomNumbers) {
  for (const bool seeded : {false, true}) {
    OnnxMaker body;
    body.Node("RandomUniform", {}, {"r"}).Ints("shape", {3});
    if (seeded) body.Float("seed", 1);
    body.Output("r");
    OnnxMaker maker(18);
    AddFunction(maker, "own", "Draw", body);
    maker.Node("own.Draw", {}, {"a"}).Node("own.Draw", {}, {"b"}).Output("a").Output("b");
    const auto outputs = RunMaker(maker, {});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ((*outputs)[0] == (*outputs)[1], seeded);
  }
}

TEST(OnnxFunctions, FourBitIntegersGoInAndOut) {
  constexpr int kInt4 = 22;
  OnnxMaker body;
  body.Input("w", {2}).Node("Identity", {"w"}, {"same"}).Output("same");
  OnnxMaker maker(21);
  AddFunction(maker, "own", "Pass", body, 21);
  onnx::TensorProto& w = *maker.proto().mutable_graph()->add_initializer();
  w.set_name("w");
  w.set_data_type(kInt4);
  w.add_dims(2);
  w.set_raw_data("\xF1");
  maker.Node("own.Pass", {"w"}, {"v"}).Node("Cast", {"v"}, {"y"}).Int("to", 1).Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker, {})), ElementsAre(1, -1));
  maker.Node("Neg", {"v"}, {"z"});
  EXPECT_THAT(Refusal(maker), HasSubstr("but \"v\" goes into something else"));
}

}  // namespace
}  // namespace hone::frontend
