// Control flow, recurrence and operators whose operands decide a shape.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <set>

#include "compiler/frontend/onnx/import.h"
#include "compiler/ir/printer.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TensorData Bool(bool value) { return {DataType::kBool, {}, std::string(1, value ? 1 : 0)}; }

// Moves the graph of `body` into an attribute of the node last made.
OnnxMaker OperatorBranch(const std::string& op) {
  OnnxMaker branch;
  branch.Node(op, {"x"}, {"branch_" + op}).Output("branch_" + op);
  return branch;
}

OnnxMaker IfModel() {
  OnnxMaker maker(16);
  maker.Input("x", {2}).Input("c", {}, DataType::kBool).Node("If", {"c"}, {"y"}).Output("y");
  maker.Graph("then_branch", OperatorBranch("Neg"));
  maker.Graph("else_branch", OperatorBranch("Relu"));
  return maker;
}

TEST(IfTest, AKnownConditionChoosesABranchAndAnotherComputesBoth) {
  const TensorData x = FloatTensor({2}, {-1, 2});
  for (const bool condition : {true, false}) {
    const auto expected = condition ? ElementsAre(1, -2) : ElementsAre(0, 2);
    EXPECT_THAT(Floats(FirstOutput(IfModel(), {x, Bool(condition)})), expected);
    ImportOptions options;
    options.constants["c"] = Bool(condition);
    EXPECT_THAT(Floats(FirstOutput(IfModel(), {x}, options)), expected);
  }
}

// Carries s: s = s + x; scans s, or another value of the body.
OnnxMaker LoopModel(int64_t trips, const std::string& scanned = "t") {
  OnnxMaker maker(16);
  maker.Input("x", {2})
      .Initializer("trips", IntTensor({}, {trips}))
      .Initializer("start", FloatTensor({2}, {10, 20}))
      .Node("Loop", {"trips", "", "start"}, {"last", "all"})
      .Output("all");
  OnnxMaker body;
  body.Input("i", {}, DataType::kInt64)
      .Input("going", {}, DataType::kBool)
      .Input("s", {2})
      .Node("Identity", {"going"}, {"still"})
      .Node("Add", {"s", "x"}, {"t"})
      .Node("Identity", {scanned}, {"seen"})
      .Output("still")
      .Output("t")
      .Output("seen");
  maker.Graph("body", body);
  return maker;
}

TEST(LoopTest, FewTripsAreUnrolled) {
  const TensorData x = FloatTensor({2}, {1, 2});
  const TensorData y = FirstOutput(LoopModel(3), {x});
  EXPECT_THAT(y.shape, ElementsAre(3, 2));
  EXPECT_THAT(Floats(y), ElementsAre(11, 22, 12, 24, 13, 26));
  EXPECT_THAT(FirstOutput(LoopModel(0), {x}).shape, ElementsAre(0, 2));
}

// A state that grows has another shape in each trip.
TEST(LoopTest, TripsThatDifferInMoreThanValuesAreUnrolledUpToALimit) {
  const auto growing = [](int64_t trips) {
    OnnxMaker maker(16);
    maker.Input("x", {2})
        .Initializer("trips", IntTensor({}, {trips}))
        .Node("Loop", {"trips", "", "x"}, {"last"})
        .Output("last");
    OnnxMaker body;
    body.Input("i", {}, DataType::kInt64).Input("going", {}, DataType::kBool).Input("s", {-1});
    body.Node("Identity", {"going"}, {"still"}).Node("Concat", {"s", "x"}, {"t"}).Int("axis", 0);
    maker.Graph("body", body.Output("still").Output("t"));
    return maker;
  };
  EXPECT_THAT(FirstOutput(growing(20), {FloatTensor({2}, {1, 2})}).shape, ElementsAre(42));
  EXPECT_THAT(Refusal(growing(5000)),
              AllOf(HasSubstr("loops of up to 1024 trips were expected where trips differ"),
                    HasSubstr("found states that keep their type from trip to trip were expected, "
                              "found one that becomes Tensor[(4), float32]")));
}

TEST(ScanTest, TripsThatDifferInMoreThanValuesAreUnrolledUpToALimit) {
  OnnxMaker maker(16);
  maker.Input("x", {3000, 2})
      .Initializer("start", FloatTensor({2}, {0, 0}))
      .Node("Scan", {"start", "x"}, {"last"})
      .Int("num_scan_inputs", 1)
      .Output("last");
  OnnxMaker body;
  body.Input("s", {-1}).Input("v", {2}).Node("Concat", {"s", "v"}, {"t"}).Int("axis", 0);
  maker.Graph("body", body.Output("t"));
  EXPECT_THAT(Refusal(maker), HasSubstr("scans of up to 1024 trips were expected"));
}

// Few trips are written out anyway; many are because of the numbers.
TEST(LoopTest, EachTripDrawsItsOwnRandomNumbers) {
  for (const int64_t trips : {2, 20}) {
    OnnxMaker maker(16);
    maker.Initializer("trips", IntTensor({}, {trips}))
        .Node("Loop", {"trips", ""}, {"all"})
        .Output("all");
    OnnxMaker body;
    body.Input("i", {}, DataType::kInt64).Input("going", {}, DataType::kBool);
    body.Node("Identity", {"going"}, {"still"}).Node("RandomUniform", {}, {"drawn"});
    body.Ints("shape", {1}).Output("still").Output("drawn");
    maker.Graph("body", body);
    const std::vector<float> drawn = Floats(FirstOutput(maker, {}));
    ASSERT_EQ(drawn.size(), static_cast<size_t>(trips));
    EXPECT_EQ(std::set<float>(drawn.begin(), drawn.end()).size(), drawn.size());
  }
}

TEST(ScanTest, ReadsAndWritesAlongAnyAxisEitherWay) {
  OnnxMaker maker(16);
  maker.Input("x", {2, 3})
      .Initializer("start", FloatTensor({2}, {0, 0}))
      .Node("Scan", {"start", "x"}, {"last", "all"})
      .Int("num_scan_inputs", 1)
      .Ints("scan_input_axes", {1})
      .Ints("scan_input_directions", {1})
      .Ints("scan_output_axes", {-1})
      .Output("all");
  OnnxMaker body;
  body.Input("s", {2}).Input("v", {2}).Node("Add", {"s", "v"}, {"t"});
  body.Node("Identity", {"t"}, {"seen"}).Output("t").Output("seen");
  maker.Graph("body", body);
  const TensorData y = FirstOutput(maker, {FloatTensor({2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_THAT(y.shape, ElementsAre(2, 3));
  EXPECT_THAT(Floats(y), ElementsAre(3, 5, 6, 6, 11, 15));
}

TEST(ControlFlowTest, UnsupportedOperatorsOfBodiesAreNamed) {
  OnnxMaker maker(16);
  maker.Input("x", {2}).Input("c", {}, DataType::kBool).Node("If", {"c"}, {"y"}).Output("y");
  maker.Graph("then_branch", OperatorBranch("Unknown"));
  maker.Graph("else_branch", OperatorBranch("Relu"));
  EXPECT_THAT(Refusal(maker), HasSubstr("Unknown (nodes \"Unknown_node\")"));
}

// However long a sequence is: a body of its own, called once.
TEST(RecurrentTest, LongSequencesAreOneRepeat) {
  const auto nodes = [](int64_t steps) {
    OnnxMaker maker(14);
    maker.Input("x", {steps, 1, 2})
        .Initializer("w", FloatTensor({1, 3, 2}, std::vector<float>(6)))
        .Initializer("r", FloatTensor({1, 3, 3}, std::vector<float>(9)))
        .Node("RNN", {"x", "w", "r"}, {"y"})
        .Output("y");
    const auto module = ImportOnnxBytes(maker.Bytes());
    EXPECT_TRUE(module.ok()) << module.status();
    EXPECT_TRUE(module->functions.contains("repeat0"));
    size_t count = 0;
    for (const auto& [name, function] : module->functions) count += ir::PostOrder(function).size();
    return count;
  };
  EXPECT_EQ(nodes(1'000'000), nodes(17));
}

// A shape may be computed by a loop; one that is too long to be evaluated is refused.
TEST(LoopTest, OverConstantsAloneIsEvaluated) {
  const auto counted = [](int64_t trips) {
    OnnxMaker body;
    body.Input("i", {}, DataType::kInt64).Input("going", {}, DataType::kBool).Input("s", {1});
    body.Node("Identity", {"going"}, {"still"}).Node("Add", {"s", "one"}, {"t"});
    OnnxMaker maker(16);
    maker.Input("x", {4, 5})
        .Initializer("trips", IntTensor({}, {trips}))
        .Initializer("start", IntTensor({1}, {0}))
        .Initializer("one", IntTensor({1}, {1}))
        .Node("Loop", {"trips", "", "start"}, {"count"})
        .Graph("body", body.Output("still").Output("t"))
        .Node("Reshape", {"x", "count"}, {"y"})
        .Output("y");
    return maker;
  };
  const TensorData x = FloatTensor({4, 5}, std::vector<float>(20));
  EXPECT_THAT(FirstOutput(counted(20), {x}).shape, ElementsAre(20));
  EXPECT_THAT(Refusal(counted(5000)), HasSubstr("node \"Reshape_node\" (Reshape): "));
}

// What a file asks for in a body stays charged: the numbers of trips are a constant.
TEST(LoopTest, NumbersOfTripsAreCharged) {
  EXPECT_THAT(Refusal(LoopModel(int64_t{1} << 36, "i")), HasSubstr("loops of up to 1024 trips"));
}

// One of two loops in one another may be a repeat: the outer one, unless the inner one is too long
// to be written out in its body.
TEST(RecurrentTest, OfLoopsInOneAnotherOneIsRepeated) {
  const auto scan = [](int64_t trips, int64_t steps) {
    OnnxMaker maker(16);
    maker.Input("h0", {1, 1, 3})
        .Input("x", {trips, steps, 1, 2})
        .Initializer("w", FloatTensor({1, 3, 2}, std::vector<float>(6)))
        .Initializer("r", FloatTensor({1, 3, 3}, std::vector<float>(9)))
        .Node("Scan", {"h0", "x"}, {"h"})
        .Int("num_scan_inputs", 1)
        .Output("h");
    OnnxMaker body;
    body.Input("s", {1, 1, 3}).Input("v", {steps, 1, 2});
    body.Node("RNN", {"v", "w", "r", "", "", "s"}, {"", "t"});
    maker.Graph("body", body.Output("t"));
    return maker;
  };
  const auto functions = [&](int64_t trips, int64_t steps) {
    const auto module = ImportOnnxBytes(scan(trips, steps).Bytes());
    EXPECT_TRUE(module.ok()) << module.status();
    return module->functions.size();
  };
  EXPECT_EQ(functions(20, 20), 2U);
  EXPECT_EQ(functions(20, 2000), 21U);
  EXPECT_THAT(Refusal(scan(2000, 2000)),
              HasSubstr("sequences of at most 1024 steps were expected in a loop, where they are "
                        "unrolled, found 2000"));
}

TEST(DynamicShapeTest, WhatDecidesTheShapeIsNamed) {
  OnnxMaker maker(11);
  maker.Input("x", {4})
      .Input("c", {4}, DataType::kBool)
      .Node("Compress", {"x", "c"}, {"y"})
      .Int("axis", 0)
      .Output("y");
  EXPECT_THAT(Refusal(maker), HasSubstr("depends on condition, which is computed at run time"));
  ImportOptions options;
  options.constants["c"] = {DataType::kBool, {4}, std::string("\0\1\1\0", 4)};
  EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({4}, {1, 2, 3, 4})}, options)),
              ElementsAre(2, 3));
}

TEST(DynamicShapeTest, AnOfferedValueIsTakenWhereItIsNeeded) {
  OnnxMaker maker(13);
  maker.Input("x", {4})
      .Input("y", {4})
      .Input("n", {1}, DataType::kInt64)
      .Node("Neg", {"n"}, {"m"})
      .Node("Neg", {"m"}, {"reps"})
      .Node("Add", {"x", "y"}, {"sum"})
      .Node("Tile", {"sum", "reps"}, {"z"})
      .Output("z");
  ImportOptions options;
  options.values["x"] = FloatTensor({4}, {1, 2, 3, 4});
  options.values["n"] = IntTensor({1}, {2});
  const auto module = ImportOnnxBytes(maker.Bytes(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::Params(*module->functions.at("main")).size(), 2u);
  options.values.erase("n");
  EXPECT_FALSE(ImportOnnxBytes(maker.Bytes(), options).ok());
}

TEST(ResizeTest, WholeFactorsNeedNoTable) {
  OnnxMaker maker(13);
  maker.Input("x", {1, 1, 2, 2})
      .Initializer("scales", FloatTensor({4}, {1, 1, 2, 3}))
      .Node("Resize", {"x", "", "scales"}, {"y"})
      .String("mode", "nearest")
      .Output("y");
  const auto module = ImportOnnxBytes(maker.Bytes());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(ir::ToText(*module), Not(HasSubstr("take")));
  const TensorData y = FirstOutput(maker, {FloatTensor({1, 1, 2, 2}, {1, 2, 3, 4})});
  EXPECT_THAT(Floats(y),
              ElementsAre(1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4));
}

// The innermost axis, along which lanes gather, where there are the fewest elements.
TEST(ResizeTest, TheInnermostAxisIsInterpolatedFirstWhereElementsGrow) {
  const auto first_shape = [](int64_t from, int64_t to) {
    OnnxMaker maker(13);
    maker.Input("x", {1, 1, from, from})
        .Initializer("sizes", IntTensor({4}, {1, 1, to, to}))
        .Node("Resize", {"x", "", "", "sizes"}, {"y"})
        .String("mode", "linear")
        .Output("y");
    const auto module = ImportOnnxBytes(maker.Bytes());
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return std::vector<int64_t>();
    return ir::Body(*module->functions.at("main"))->args[0]->type->tensor.shape;
  };
  EXPECT_THAT(first_shape(2, 4), ElementsAre(1, 1, 2, 4));
  EXPECT_THAT(first_shape(4, 2), ElementsAre(1, 1, 2, 4));
}

TEST(PadTest, NegativePadsCutOffAndTheValueMayBeComputed) {
  OnnxMaker maker(13);
  maker.Input("x", {3})
      .Input("v", {})
      .Initializer("pads", IntTensor({2}, {-1, 2}))
      .Node("Pad", {"x", "pads", "v"}, {"y"})
      .Output("y");
  const TensorData y = FirstOutput(maker, {FloatTensor({3}, {1, 2, 3}), FloatTensor({}, {7})});
  EXPECT_THAT(Floats(y), ElementsAre(2, 3, 7, 7));
}

}  // namespace
}  // namespace hone::frontend
