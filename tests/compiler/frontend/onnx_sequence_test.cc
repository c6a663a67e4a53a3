// Sequences and optionals, of which the import leaves nothing.
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

// x = [[0, 1], [2, 3], [4, 5]].
OnnxMaker Maker() {
  OnnxMaker maker(17);
  maker.Input("x", {3, 2});
  for (const int64_t i : {-1, 0, 1, 2, 7}) {
    maker.Initializer("i" + std::to_string(i), IntTensor({}, {i}));
  }
  return maker;
}

TensorData Give(OnnxMaker& maker) {
  maker.Output("y");
  const auto module = ImportOnnxBytes(maker.Bytes());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto outputs = RunModel(*module, {FloatTensor({3, 2}, {0, 1, 2, 3, 4, 5})});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? (*outputs)[0] : TensorData{};
}

TEST(OnnxSequence, PartsOfASplit) {
  OnnxMaker rows = Maker();
  rows.Node("SplitToSequence", {"x"}, {"s"}).Int("keepdims", 0);
  rows.Node("SequenceAt", {"s", "i-1"}, {"y"});
  TensorData y = Give(rows);
  EXPECT_EQ(y.shape, (std::vector<int64_t>{2}));
  EXPECT_THAT(Floats(y), ElementsAre(4, 5));

  OnnxMaker pairs = Maker();
  pairs.Node("SplitToSequence", {"x", "i2"}, {"s"}).Node("SequenceAt", {"s", "i1"}, {"y"});
  y = Give(pairs);
  EXPECT_EQ(y.shape, (std::vector<int64_t>{1, 2}));

  OnnxMaker given = Maker();
  given.Initializer("sizes", IntTensor({2}, {2, 1}));
  given.Node("SplitToSequence", {"x", "sizes"}, {"s"}).Node("SequenceAt", {"s", "i0"}, {"y"});
  EXPECT_THAT(Floats(Give(given)), ElementsAre(0, 1, 2, 3));

  OnnxMaker wrong = Maker();
  wrong.Initializer("sizes", IntTensor({2}, {2, 2}));
  wrong.Node("SplitToSequence", {"x", "sizes"}, {"s"}).Node("SequenceAt", {"s", "i0"}, {"y"});
  EXPECT_THAT(Refusal(wrong.Output("y")), HasSubstr("parts that sum to 3"));
}

TEST(OnnxSequence, InsertedErasedAndJoined) {
  OnnxMaker maker = Maker();
  maker.Node("SplitToSequence", {"x"}, {"rows"})
      .Node("SequenceEmpty", {}, {"none"})
      .Node("SequenceAt", {"rows", "i0"}, {"first"})
      .Node("SequenceAt", {"rows", "i2"}, {"last"})
      .Node("SequenceInsert", {"none", "first"}, {"one"})
      .Node("SequenceInsert", {"one", "last", "i0"}, {"two"})
      .Node("SequenceInsert", {"two", "last"}, {"three"})
      .Node("SequenceErase", {"three", "i1"}, {"left"})
      .Node("Identity", {"left"}, {"same"})
      .Node("ConcatFromSequence", {"same"}, {"y"})
      .Int("axis", 1);
  const TensorData y = Give(maker);
  EXPECT_EQ(y.shape, (std::vector<int64_t>{1, 4}));
  EXPECT_THAT(Floats(y), ElementsAre(4, 5, 4, 5));
}

TEST(OnnxSequence, StackedAlongANewAxis) {
  OnnxMaker maker = Maker();
  maker.Node("SequenceConstruct", {"x", "x"}, {"s"});
  maker.Node("ConcatFromSequence", {"s"}, {"y"}).Int("axis", -1).Int("new_axis", 1);
  const TensorData y = Give(maker);
  EXPECT_EQ(y.shape, (std::vector<int64_t>{3, 2, 2}));
  EXPECT_THAT(Floats(y), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5));
}

TEST(OnnxSequence, TheirLengthDecidesAShape) {
  OnnxMaker maker = Maker();
  maker.Initializer("two", IntTensor({1}, {2})).Initializer("axis", IntTensor({1}, {0}));
  maker.Node("SplitToSequence", {"x"}, {"s"})
      .Node("SequenceLength", {"s"}, {"n"})
      .Node("Unsqueeze", {"n", "axis"}, {"rows"})
      .Node("Concat", {"two", "rows"}, {"shape"})
      .Int("axis", 0)
      .Node("Reshape", {"x", "shape"}, {"y"});
  EXPECT_EQ(Give(maker).shape, (std::vector<int64_t>{2, 3}));
}

TEST(OnnxSequence, MappedItemByItem) {
  OnnxMaker maker = Maker();
  maker.Node("SplitToSequence", {"x"}, {"rows"})
      .Node("SequenceAt", {"rows", "i1"}, {"second"})
      .Node("SequenceMap", {"rows", "second", "rows"}, {"sums"});
  onnx::AttributeProto& body = *maker.proto().mutable_graph()->mutable_node(2)->add_attribute();
  body.set_name("body");
  body.set_type(onnx::AttributeProto::GRAPH);
  for (const char* name : {"a", "b", "c"}) body.mutable_g()->add_input()->set_name(name);
  const auto add = [&](const char* a, const char* b, const char* sum) {
    onnx::NodeProto& node = *body.mutable_g()->add_node();
    node.set_op_type("Add");
    node.add_input(a);
    node.add_input(b);
    node.add_output(sum);
  };
  add("a", "b", "ab");
  add("ab", "c", "abc");
  body.mutable_g()->add_output()->set_name("abc");
  maker.Node("ConcatFromSequence", {"sums"}, {"y"}).Int("axis", 0);
  EXPECT_THAT(Floats(Give(maker)), ElementsAre(2, 5, 6, 9, 10, 13));
}

TEST(OnnxSequence, OptionalsHoldSomethingOrNot) {
  OnnxMaker maker = Maker();
  maker.Node("Optional", {"x"}, {"some"})
      .Node("Optional", {}, {"none"})
      .Node("OptionalHasElement", {"some"}, {"has"})
      .Node("OptionalHasElement", {"none"}, {"has_not"})
      .Node("OptionalGetElement", {"some"}, {"got"})
      .Node("And", {"has", "has_not"}, {"both"})
      .Node("Where", {"both", "x", "got"}, {"z"})
      .Node("Neg", {"z"}, {"y"});
  EXPECT_THAT(Floats(Give(maker)), ElementsAre(0, -1, -2, -3, -4, -5));
  OnnxMaker empty = Maker();
  empty.Node("Optional", {}, {"none"}).Node("OptionalGetElement", {"none"}, {"y"});
  EXPECT_THAT(Refusal(empty.Output("y")), HasSubstr("holds nothing"));
}

TEST(OnnxSequence, MisuseIsNamed) {
  OnnxMaker beyond = Maker();
  beyond.Node("SplitToSequence", {"x"}, {"s"}).Node("SequenceAt", {"s", "i7"}, {"y"});
  EXPECT_THAT(Refusal(beyond.Output("y")),
              HasSubstr("one position of -3 to 2 in the sequence was expected, "
                        "found 7"));
  OnnxMaker computed = Maker();
  computed.Input("at", {}, DataType::kInt64);
  computed.Node("SplitToSequence", {"x"}, {"s"}).Node("SequenceAt", {"s", "at"}, {"y"});
  EXPECT_THAT(Refusal(computed.Output("y")), HasSubstr("at"));
  OnnxMaker output = Maker();
  output.Node("SplitToSequence", {"x"}, {"y"});
  EXPECT_THAT(Refusal(output.Output("y")),
              HasSubstr("the output \"y\" was expected to be a tensor"));
  for (const char* op : {"Relu", "Concat", "Shape", "Scan", "If"}) {
    OnnxMaker operand = Maker();
    operand.Node("SplitToSequence", {"x"}, {"s"}).Node(op, {"s"}, {"y"});
    EXPECT_THAT(Refusal(operand.Output("y")),
                HasSubstr("was expected to be a tensor, found a sequence"))
        << op;
  }
  OnnxMaker tensor = Maker();
  tensor.Node("SequenceLength", {"x"}, {"y"});
  EXPECT_THAT(Refusal(tensor.Output("y")), HasSubstr("a sequence was expected"));
}

}  // namespace
}  // namespace hone::frontend
