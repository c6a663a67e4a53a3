// Constants of 4-bit integers, two in a byte: moved, cast and dequantised; refused elsewhere.
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

// The first output of a model without inputs.
std::vector<float> Values(const OnnxMaker& maker) {
  const auto module = ImportOnnxBytes(maker.Bytes());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto outputs = RunModel(*module, {});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? Floats((*outputs)[0]) : std::vector<float>();
}

std::string Refusal(const OnnxMaker& maker) {
  const auto module = ImportOnnxBytes(maker.Bytes());
  EXPECT_FALSE(module.ok());
  return std::string(module.status().message());
}

TEST(FourBitConstants, AreCastWithTheirSign) {
  for (const bool raw : {true, false}) {
    for (const int type : {kInt4, kUInt4}) {
      OnnxMaker maker(21);
      // -8 7 -1 of int4; 8 7 15 of uint4. The last half of a byte is of nothing.
      FourBit(maker, "w", type, {3}, "\x78\x0F", raw);
      maker.Node("Cast", {"w"}, {"y"}).Int("to", onnx::TensorProto::FLOAT).Output("y");
      const auto expected = type == kInt4 ? ElementsAre(-8, 7, -1) : ElementsAre(8, 7, 15);
      EXPECT_THAT(Values(maker), expected);
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
  EXPECT_THAT(Values(maker), ElementsAre(1, 2, 4, -4, -30, 15, 0, 16));
}

TEST(FourBitConstants, AreDequantisedByChannelWithoutAZeroPoint) {
  OnnxMaker maker(23);
  FourBit(maker, "w", kUInt4, {2, 2}, "\x21\xF3");  // 1 2, 3 15
  maker.Initializer("s", FloatTensor({2}, {1, 2}))
      .Node("DequantizeLinear", {"w", "s"}, {"y"})
      .Int("axis", 0)
      .Output("y");
  EXPECT_THAT(Values(maker), ElementsAre(1, 2, 6, 30));
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
  EXPECT_THAT(Values(maker), ElementsAre(-4, 0.5, 3.5, 1));
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
  EXPECT_THAT(Values(maker), ElementsAre(1, -1));
  maker.Node("Add", {"w", "w"}, {"z"});
  EXPECT_THAT(Refusal(maker), HasSubstr("moves, casts and dequantises constants of 4-bit"));
}

// An int8 in the place of an int4 would let through what does not fit into 4 bits.
TEST(FourBitConstants, AreNoZeroPointsToQuantiseBy) {
  OnnxMaker maker(21);
  FourBit(maker, "z", kInt4, {}, std::string(1, '\0'));
  maker.Input("x", {2})
      .Initializer("s", FloatTensor({}, {1}))
      .Node("QuantizeLinear", {"x", "s", "z"}, {"q"})
      .Node("DequantizeLinear", {"q", "s"}, {"y"})
      .Output("y");
  EXPECT_THAT(Refusal(maker), HasSubstr("but \"z\" goes into something else"));
}

TEST(FourBitConstants, AreNoOutputs) {
  OnnxMaker maker(21);
  FourBit(maker, "w", kInt4, {2}, "\xF1");
  maker.Node("Identity", {"w"}, {"y"}).Output("y");
  EXPECT_THAT(Refusal(maker), HasSubstr("the output \"y\" is of 4-bit integers"));
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
