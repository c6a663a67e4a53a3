// 4-bit integers, as constants two in a byte: moved, cast, quantised and dequantised; refused
// elsewhere.
// Expected values: ONNX's reference evaluator of 1.23.
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

constexpr int kUInt4 = 21;
constexpr int kInt4 = 22;

// `bytes` has two elements in each, the first in the low bits.
void SetFourBit(onnx::TensorProto& tensor, int type, const std::vector<int64_t>& shape,
                const std::string& bytes, bool raw = true) {
  tensor.set_data_type(type);
  for (const int64_t extent : shape) tensor.add_dims(extent);
  if (raw) tensor.set_raw_data(bytes);
  for (const char byte : bytes) {
    if (!raw) tensor.add_int32_data(static_cast<uint8_t>(byte));
  }
}

OnnxMaker& FourBit(OnnxMaker& maker, const std::string& name, int type,
                   const std::vector<int64_t>& shape, const std::string& bytes, bool raw = true) {
  onnx::TensorProto& tensor = *maker.proto().mutable_graph()->add_initializer();
  tensor.set_name(name);
  SetFourBit(tensor, type, shape, bytes, raw);
  return maker;
}

TEST(FourBitConstants, AreCastWithTheirSign) {
  for (const bool raw : {true, false}) {
    for (const int type : {kInt4, kUInt4}) {
      OnnxMaker maker(21);
      // -8 7 -1 of int4; 8 7 15 of uint4. The last half of a byte is of nothing.
      FourBit(maker, "w", type, {3}, "\x78\x0F", raw);
      maker.Node("Cast", {"w"}, {"y"}).Int("to", onnx::TensorProto::FLOAT).Output("y");
      const auto expected = type == kInt4 ? ElementsAre(-8, 7, -1) : ElementsAre(8, 7, 15);
      EXPECT_THAT(Floats(FirstOutput(maker)), expected);
    }
  }
}

TEST(FourBitConstants, AreDequantisedInBlocks) {
  OnnxMaker maker(21);
  FourBit(maker, "w", kInt4, {2, 4}, "\x21\xF3\x78\x40");  // 1 2 3 -1, -8 7 0 4
  FourBit(maker, "z", kInt4, {2, 2}, "\x10\x02");          // 0 1, 2 0
  maker.Initializer("s", FloatTensor({2, 2}, {1, 2, 3, 4}))
      .Node("DequantizeLinear", {"w", "s", "z"}, {"y"})
      .Int("axis", 1)
      .Int("block_size", 2)
      .Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker)), ElementsAre(1, 2, 4, -4, -30, 15, 0, 16));
}

TEST(FourBitConstants, AreDequantisedByChannelWithoutAZeroPoint) {
  OnnxMaker maker(23);
  FourBit(maker, "w", kUInt4, {2, 2}, "\x21\xF3");  // 1 2, 3 15
  maker.Initializer("s", FloatTensor({2}, {1, 2}))
      .Node("DequantizeLinear", {"w", "s"}, {"y"})
      .Int("axis", 0)
      .Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker)), ElementsAre(1, 2, 6, 30));
}

TEST(FourBitConstants, AreMovedBefore) {
  OnnxMaker maker(21);
  FourBit(maker, "w", kInt4, {3, 2}, "\x21\xF3\x78");  // 1 2, 3 -1, -8 7
  maker.Initializer("rows", IntTensor({2}, {2, 0}))
      .Initializer("s", FloatTensor({}, {0.5F}))
      .Node("Gather", {"w", "rows"}, {"g"})
      .Node("Transpose", {"g"}, {"t"})
      .Ints("perm", {1, 0})
      .Node("DequantizeLinear", {"t", "s"}, {"y"})
      .Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker)), ElementsAre(-4, 0.5, 3.5, 1));
}

TEST(FourBitConstants, MayBeAttributesOfConstantNodes) {
  OnnxMaker maker(21);
  maker.Node("Constant", {}, {"w"});
  onnx::AttributeProto& value = *maker.proto().mutable_graph()->mutable_node(0)->add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  SetFourBit(*value.mutable_t(), kInt4, {2}, "\xF1");
  OnnxMaker output = maker;
  maker.Node("Cast", {"w"}, {"y"}).Int("to", onnx::TensorProto::FLOAT).Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker)), ElementsAre(1, -1));
  maker.Node("Add", {"w", "w"}, {"z"});
  EXPECT_THAT(Refusal(maker), HasSubstr("moves, casts and dequantises 4-bit integers"));
}

// An int8 in the place of an int4 would let through what does not fit into 4 bits.
TEST(FourBitIntegers, AreQuantisedTo) {
  for (const int type : {kInt4, kUInt4}) {
    for (const bool by_attribute : {false, true}) {
      OnnxMaker maker(21);
      FourBit(maker, "z", type, {}, std::string(1, '\1'));
      maker.Input("x", {6}).Initializer("s", FloatTensor({}, {0.5F}));
      if (by_attribute) {
        maker.Node("QuantizeLinear", {"x", "s"}, {"q"}).Int("output_dtype", type);
      } else {
        maker.Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
      }
      maker.Node("Cast", {"q"}, {"y"}).Int("to", onnx::TensorProto::FLOAT).Output("y");
      const std::vector<float> y =
          Floats(FirstOutput(maker, {FloatTensor({6}, {-100, -4, 0, 0.7F, 3, 1000})}));
      if (type == kInt4) {
        EXPECT_THAT(
            y, by_attribute ? ElementsAre(-8, -8, 0, 1, 6, 7) : ElementsAre(-8, -7, 1, 2, 7, 7));
      } else {
        EXPECT_THAT(y,
                    by_attribute ? ElementsAre(0, 0, 0, 1, 6, 15) : ElementsAre(0, 0, 1, 2, 7, 15));
      }
    }
  }
}

TEST(FourBitIntegers, AreCastTo) {
  const auto cast = [](int type, const TensorData& x) {
    OnnxMaker maker(21);
    maker.Input("x", x.shape, x.dtype).Node("Cast", {"x"}, {"q"}).Int("to", type);
    maker.Node("Cast", {"q"}, {"y"}).Int("to", onnx::TensorProto::FLOAT).Output("y");
    return Floats(FirstOutput(maker, {x}));
  };
  const TensorData floats = FloatTensor({5}, {-9.5F, -2.7F, 3.9F, 8, 200});
  EXPECT_THAT(cast(kInt4, floats), ElementsAre(-8, -2, 3, 7, 7));
  EXPECT_THAT(cast(kUInt4, floats), ElementsAre(0, 0, 3, 8, 15));
  const TensorData ints = IntTensor({4}, {-9, 8, 300, -1});
  EXPECT_THAT(cast(kInt4, ints), ElementsAre(7, -8, -4, -1));
  EXPECT_THAT(cast(kUInt4, ints), ElementsAre(7, 8, 12, 15));
}

TEST(FourBitIntegers, AreCastLike) {
  OnnxMaker maker(21);
  FourBit(maker, "like", kInt4, {1}, std::string(1, '\0'));
  maker.Input("x", {2}).Node("CastLike", {"x", "like"}, {"q"});
  maker.Node("Cast", {"q"}, {"y"}).Int("to", onnx::TensorProto::FLOAT).Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({2}, {100, -3})})), ElementsAre(7, -3));
  maker.Node("Neg", {"q"}, {"z"});
  EXPECT_THAT(Refusal(maker), HasSubstr("but \"q\" goes into something else"));
}

// A byte an element, as numpy has them.
TEST(FourBitIntegers, AreBytesAsInputsAndOutputs) {
  OnnxMaker maker(21);
  maker.Input("x", {2, 2}).Initializer("s", FloatTensor({}, {0.5F}));
  maker.proto()
      .mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(kInt4);
  maker.Node("Transpose", {"x"}, {"t"}).Node("DequantizeLinear", {"t", "s"}, {"y"});
  maker.Output("t").Output("y");
  const auto module = ImportOnnxBytes(maker.Bytes());
  ASSERT_TRUE(module.ok()) << module.status();
  const TensorData x = {DataType::kInt8, {2, 2}, "\xF8\x01\x02\x07"};
  const auto outputs = RunModel(*module, {x});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0], (TensorData{DataType::kInt8, {2, 2}, "\xF8\x02\x01\x07"}));
  EXPECT_THAT(Floats((*outputs)[1]), ElementsAre(-4, 1, 0.5, 3.5));
  maker.Node("Add", {"x", "x"}, {"sum"});
  EXPECT_THAT(Refusal(maker), HasSubstr("but \"x\" goes into something else"));
}

// Values that are given for an input, or for one that has a default, are a byte each.
TEST(FourBitIntegers, ValuesThatDoNotFitAreRefused) {
  const auto error = [](int type, int value, bool has_default) {
    OnnxMaker maker(21);
    maker.Input("w", {1}).Input("x", {1});
    onnx::ValueInfoProto& w = *maker.proto().mutable_graph()->mutable_input(0);
    w.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    if (has_default) FourBit(maker, "w", type, {1}, std::string(1, '\1'));
    maker.Node("DequantizeLinear", {"w", "x"}, {"y"}).Output("y");
    ImportOptions options;
    options.constants["w"] = {type == kInt4 ? DataType::kInt8 : DataType::kUInt8,
                              {1},
                              std::string(1, static_cast<char>(value))};
    return std::string(ImportOnnxBytes(maker.Bytes(), options).status().message());
  };
  for (const bool has_default : {false, true}) {
    EXPECT_EQ(error(kInt4, 8, has_default),
              "\"w\": 4-bit integers from -8 to 7 were expected, found 8");
    EXPECT_EQ(error(kInt4, -9, has_default),
              "\"w\": 4-bit integers from -8 to 7 were expected, found -9");
    EXPECT_EQ(error(kUInt4, 255, has_default),
              "\"w\": 4-bit integers from 0 to 15 were expected, found 255");
    for (const int fits : {-8, 7}) EXPECT_EQ(error(kInt4, fits, has_default), "");
    for (const int fits : {0, 15}) EXPECT_EQ(error(kUInt4, fits, has_default), "");
  }
}

// What a name stands for is looked up from within: the branch's own "w" is none of 4 bits.
TEST(FourBitIntegers, GraphsWithinReadThemAndHideThem) {
  const auto model = [](bool hides, const std::string& op) {
    OnnxMaker maker(21);
    FourBit(maker, "w", kInt4, {2}, "\xF1").Input("c", {}, DataType::kBool);
    maker.Node("If", {"c"}, {"y"}).Output("y");
    for (const char* const name : {"then_branch", "else_branch"}) {
      OnnxMaker branch;
      if (hides) branch.Initializer("w", FloatTensor({2}, {1, 2}));
      branch.Node(op, {"w"}, {"r"}).Output("r");
      if (op == "Cast") branch.Int("to", onnx::TensorProto::FLOAT);
      auto* const attr = maker.proto().mutable_graph()->mutable_node(0)->add_attribute();
      attr->set_name(name);
      attr->set_type(onnx::AttributeProto::GRAPH);
      *attr->mutable_g() = branch.proto().graph();
    }
    return maker;
  };
  const TensorData yes = {DataType::kBool, {}, std::string(1, '\1')};
  EXPECT_THAT(Floats(FirstOutput(model(false, "Cast"), {yes})), ElementsAre(1, -1));
  EXPECT_THAT(Floats(FirstOutput(model(true, "Neg"), {yes})), ElementsAre(-1, -2));
  EXPECT_THAT(Refusal(model(false, "Neg")), HasSubstr("but \"w\" goes into something else"));
  EXPECT_THAT(Refusal(model(false, "Identity")), HasSubstr("an output of its graph, is of 4-bit"));
}

TEST(FourBitConstants, OfAnotherSizeAreRefused) {
  for (const bool raw : {true, false}) {
    OnnxMaker maker(21);
    FourBit(maker, "w", kInt4, {5}, "\xF1\x23", raw);
    maker.Node("Cast", {"w"}, {"y"}).Int("to", onnx::TensorProto::FLOAT).Output("y");
    EXPECT_THAT(Refusal(maker), HasSubstr("were expected, found 2"));
  }
}

}  // namespace
}  // namespace hone::frontend
