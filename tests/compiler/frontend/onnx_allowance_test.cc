// A small file gets no large graph: what nodes of a few bytes ask for is charged or refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "compiler/frontend/allowance.h"
#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::HasSubstr;

constexpr char kTooMuch[] = "more than a model may ask for";

std::string MessageOfY(OnnxMaker& maker) {
  return std::string(ImportOnnxBytes(maker.Output("y").Bytes()).status().message());
}

// The bytes of all constants of main; -1 where the import failed.
int64_t ConstantBytes(OnnxMaker& maker) {
  const auto module = ImportOnnxBytes(maker.Output("y").Bytes());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return -1;
  int64_t bytes = 0;
  for (const ir::Expr& e : ir::PostOrder(ir::Body(*module->functions.at("main")))) {
    if (e->kind == ir::ExprKind::kConstant) bytes += static_cast<int64_t>(e->data.size_bytes());
  }
  return bytes;
}

// n int64 zeros, as "zeros".
OnnxMaker& Zeros(OnnxMaker& maker, int64_t n) {
  maker.Initializer("n", IntTensor({1}, {n})).Node("ConstantOfShape", {"n"}, {"zeros"});
  onnx::NodeProto& node = *maker.proto().mutable_graph()->mutable_node()->rbegin();
  onnx::AttributeProto& value = *node.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(onnx::TensorProto::INT64);
  value.mutable_t()->add_dims(1);
  value.mutable_t()->add_int64_data(0);
  return maker;
}

TEST(OnnxAllowance, SequencesDoNotNestByAMap) {
  OnnxMaker maker(17);
  maker.Input("x", {2}).Node("SequenceConstruct", {"x", "x"}, {"s0"});
  for (int i = 0; i < 40; ++i) {
    const std::string outer = "s" + std::to_string(i);
    maker.Node("SequenceMap", {outer}, {"s" + std::to_string(i + 1)});
    onnx::NodeProto& map = *maker.proto().mutable_graph()->mutable_node()->rbegin();
    onnx::AttributeProto& body = *map.add_attribute();
    body.set_name("body");
    body.set_type(onnx::AttributeProto::GRAPH);
    body.mutable_g()->add_input()->set_name("item" + std::to_string(i));
    body.mutable_g()->add_output()->set_name(outer);
  }
  maker.Node("SequenceLength", {"s40"}, {"y"});
  EXPECT_THAT(MessageOfY(maker), HasSubstr("tensors were expected of its body, found a sequence"));
}

TEST(OnnxAllowance, CopiesOfLongSequencesAreCharged) {
  for (const char* op : {"SequenceInsert", "SequenceErase"}) {
    OnnxMaker maker(17);
    maker.Input("x", {10000}).Node("SplitToSequence", {"x"}, {"s0"});
    for (int i = 0; i < 1000; ++i) {
      const std::string from = "s" + std::to_string(i);
      const std::string to = "s" + std::to_string(i + 1);
      if (std::string(op) == "SequenceInsert") {
        maker.Node(op, {from, "x"}, {to});
      } else {
        maker.Node(op, {from}, {to});
      }
    }
    maker.Node("SequenceLength", {"s1000"}, {"y"});
    EXPECT_THAT(MessageOfY(maker), HasSubstr(kTooMuch)) << op;
  }
}

TEST(OnnxAllowance, JoiningALongSequenceAgainAndAgainIsCharged) {
  OnnxMaker maker(17);
  maker.Input("x", {10000}).Node("SplitToSequence", {"x"}, {"s"});
  for (int i = 0; i < 1000; ++i) {
    maker.Node("ConcatFromSequence", {"s"}, {i == 0 ? "y" : "y" + std::to_string(i)})
        .Int("axis", 0);
  }
  EXPECT_THAT(MessageOfY(maker), HasSubstr(kTooMuch));
}

TEST(OnnxAllowance, ReadingALongSequenceCopiesNothing) {
  OnnxMaker maker(17);
  maker.Input("x", {20000}).Node("SplitToSequence", {"x"}, {"s"});
  maker.Initializer("at", IntTensor({}, {7}));
  for (int i = 0; i < 20000; ++i) maker.Node("SequenceAt", {"s", "at"}, {"y" + std::to_string(i)});
  maker.Node("Neg", {"y7"}, {"y"});
  EXPECT_EQ(MessageOfY(maker), "");
}

TEST(OnnxAllowance, PartsThatAreGivenAreCharged) {
  OnnxMaker sequence(17);
  Zeros(sequence.Input("x", {0, 2}), 1 << 20)
      .Node("SplitToSequence", {"x", "zeros"}, {"s"})
      .Node("SequenceLength", {"s"}, {"y"});
  EXPECT_THAT(MessageOfY(sequence), HasSubstr("unrolling it would make the model too large"));
  OnnxMaker split(17);
  Zeros(split.Input("x", {0, 2}), 1 << 20).Node("Split", {"x", "zeros"}, {"y"});
  EXPECT_THAT(MessageOfY(split), HasSubstr("split has 1048576 parts, but the node has 1 outputs"));
}

OnnxMaker& TfIdf(OnnxMaker& maker, const std::vector<int64_t>& columns,
                 const std::vector<int64_t>& pool, int64_t skips, const std::string& result) {
  return maker.Node("TfIdfVectorizer", {"x"}, {result})
      .String("mode", "TF")
      .Int("min_gram_length", 1)
      .Int("max_gram_length", 2)
      .Int("max_skip_count", skips)
      .Ints("ngram_counts", {0, 0})
      .Ints("ngram_indexes", columns)
      .Ints("pool_int64s", pool);
}

TEST(OnnxAllowance, CountsOfManyRowsBeginWithoutZerosInMemory) {
  for (const int64_t rows : {0, 1, 1 << 30}) {
    OnnxMaker maker(9);
    TfIdf(maker.Input("x", {rows, 4}, DataType::kInt64), {0, 1}, {1, 2, 3, 4}, 0, "y");
    EXPECT_LT(ConstantBytes(maker), 1 << 10);
  }
}

TEST(OnnxAllowance, WantedGramsAreMadeOnceForAllSteps) {
  std::vector<int64_t> columns(1000);
  for (size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<int64_t>(i);
  OnnxMaker maker(9);
  TfIdf(maker.Input("x", {200}, DataType::kInt64), columns, std::vector<int64_t>(2000, 3), 100,
        "y");
  EXPECT_LT(ConstantBytes(maker), 100'000);
}

TEST(OnnxAllowance, ColumnsThatNothingCountsAreCharged) {
  OnnxMaker maker(9);
  maker.Input("x", {4}, DataType::kInt64);
  for (const char* result : {"y", "y1", "y2", "y3"}) {
    TfIdf(maker, {(1 << 24) - 1}, {1, 2}, 0, result);
  }
  EXPECT_THAT(MessageOfY(maker), HasSubstr(kTooMuch));
}

TEST(OnnxAllowance, WeightsOfALossAreCharged) {
  OnnxMaker maker(13);
  maker.Input("x", {int64_t{1} << 32, 2})
      .Input("classes", {int64_t{1} << 32}, DataType::kInt64)
      .Node("SoftmaxCrossEntropyLoss", {"x", "classes"}, {"y"});
  EXPECT_THAT(MessageOfY(maker), HasSubstr(kTooMuch));
}

// The body is tried as one of a repeat, which it cannot be since a trip ends the loop, and then
// unrolled: both together are more than the allowance, either is not.
TEST(OnnxAllowance, TriesThatComeToNothingAreNotCharged) {
  OnnxMaker body;
  body.Input("i", {}, DataType::kInt64).Input("going", {}, DataType::kBool).Input("s", {1});
  body.Node("Less", {"i", "zero"}, {"still"})
      .Node("SplitToSequence", {"x"}, {"parts"})
      .Node("SequenceAt", {"parts", "zero"}, {"part"})
      .Node("Add", {"s", "part"}, {"t"});
  OnnxMaker maker(16);
  maker.Input("x", {80'000})
      .Initializer("zero", IntTensor({}, {0}))
      .Initializer("trips", IntTensor({}, {20}))
      .Initializer("start", FloatTensor({1}, {0}))
      .Node("Loop", {"trips", "", "start"}, {"y"})
      .Graph("body", body.Output("still").Output("t"));
  EXPECT_EQ(MessageOfY(maker), "");
}

TEST(Allowance, RefundsAddUpToAsMuchAsThereWas) {
  Allowance allowance(100);
  ASSERT_TRUE(allowance.Take(30).ok());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(allowance.Take(50).ok());
    allowance.RefundTo(70);
    EXPECT_EQ(allowance.bytes_left(), 70);
  }
  ASSERT_TRUE(allowance.Take(50).ok());
  allowance.RefundTo(70);
  EXPECT_EQ(allowance.bytes_left(), 20);
  EXPECT_FALSE(allowance.Take(21).ok());
  EXPECT_FALSE(allowance.Take(-1).ok());
  EXPECT_EQ(allowance.bytes_left(), 20);
}

TEST(OnnxAllowance, NumbersOfGroupsAndBlocksMayBeAnyInteger) {
  for (const char* op : {"Conv", "DeformConv"}) {
    for (const int64_t groups : {INT64_MAX, INT64_MIN, int64_t{1} << 62}) {
      OnnxMaker maker(19);
      maker.Input("x", {1, 1, 3, 3}).Input("w", {1, 4, 2, 2}).Input("offset", {1, 8, 2, 2});
      maker.Node(op, {"x", "w"}, {"y"}).Int("group", groups);
      onnx::NodeProto& node = *maker.proto().mutable_graph()->mutable_node(0);
      if (std::string(op) == "DeformConv") node.add_input("offset");
      EXPECT_NE(MessageOfY(maker), "") << op << groups;
    }
  }
  OnnxMaker blocks(21);
  blocks.Input("x", {2, 3}, DataType::kInt8)
      .Initializer("scale", FloatTensor({2, 1}, {1, 2}))
      .Node("DequantizeLinear", {"x", "scale"}, {"y"})
      .Int("axis", 1)
      .Int("block_size", INT64_MAX);
  EXPECT_EQ(MessageOfY(blocks), "");
}

}  // namespace
}  // namespace hone::frontend
