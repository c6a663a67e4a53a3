// What operators say differently in the oldest opsets and in the newest. Expected values: ONNX's
// reference evaluator of 1.23, or by hand from the operator's text where it has none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>

#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/one_node.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

OnnxMaker& FloatList(OnnxMaker& maker, const std::string& name, const std::vector<float>& values) {
  auto* nodes = maker.proto().mutable_graph()->mutable_node();
  onnx::AttributeProto& attr = *nodes->Mutable(nodes->size() - 1)->add_attribute();
  attr.set_name(name);
  attr.set_type(onnx::AttributeProto::FLOATS);
  for (const float value : values) attr.add_floats(value);
  return maker;
}

TEST(OldOpsets, CastNamesItsTypeInWords) {
  const std::pair<const char*, DataType> types[] = {{"INT64", DataType::kInt64},
                                                    {"FLOAT", DataType::kFloat32},
                                                    {"Double", DataType::kFloat64},
                                                    {"bool", DataType::kBool},
                                                    {"UINT8", DataType::kUInt8}};
  for (const auto& [word, dtype] : types) {
    OnnxMaker maker(1);
    maker.Input("x", {2}).Node("Cast", {"x"}, {"y"}).String("to", word).Output("y");
    const TensorData y = FirstOutput(maker, {FloatTensor({2}, {1, 0})});
    EXPECT_EQ(y.dtype, dtype) << word;
  }
  OnnxMaker unknown(5);
  unknown.Input("x", {2}).Node("Cast", {"x"}, {"y"}).String("to", "NUMBER").Output("y");
  EXPECT_THAT(Refusal(unknown), HasSubstr("Hone has no element type NUMBER"));
}

TEST(OldOpsets, AttributesWithoutAKindHaveThatOfTheirValue) {
  OnnxMaker maker(1);
  maker.Input("x", {2, 3})
      .Node("LeakyRelu", {"x"}, {"t"})
      .Float("alpha", 0.5F)
      .Node("Transpose", {"t"}, {"y"})
      .Ints("perm", {1, 0})
      .Output("y");
  for (onnx::NodeProto& node : *maker.proto().mutable_graph()->mutable_node()) {
    for (onnx::AttributeProto& attr : *node.mutable_attribute()) attr.clear_type();
  }
  const TensorData y = FirstOutput(maker, {FloatTensor({2, 3}, {-2, 1, 2, 3, -4, 5})});
  EXPECT_THAT(Floats(y), ElementsAre(-1, 3, 1, -2, 2, 5));
}

TEST(OldOpsets, ASecondOperandFromAnAxisOn) {
  const std::pair<const char*, std::vector<float>> cases[] = {
      {"Add", {11, 12, 13, 24, 25, 26}},
      {"Sub", {-9, -8, -7, -16, -15, -14}},
      {"Mul", {10, 20, 30, 80, 100, 120}},
      {"Div", {0.1F, 0.2F, 0.3F, 0.2F, 0.25F, 0.3F}}};
  for (const auto& [op, expected] : cases) {
    OnnxMaker maker(6);
    maker.Input("a", {2, 3}).Input("b", {2}).Node(op, {"a", "b"}, {"y"});
    maker.Int("broadcast", 1).Int("axis", 0).Output("y");
    const TensorData y =
        FirstOutput(maker, {FloatTensor({2, 3}, {1, 2, 3, 4, 5, 6}), FloatTensor({2}, {10, 20})});
    EXPECT_THAT(Floats(y), Pointwise(FloatNear(1e-6), expected)) << op;
  }
}

TEST(OldOpsets, APowerFromAnAxisOn) {
  OnnxMaker maker(1);
  maker.Input("a", {2, 2}).Input("b", {2}).Node("Pow", {"a", "b"}, {"y"});
  maker.Int("broadcast", 1).Int("axis", 0).Output("y");
  const TensorData y =
      FirstOutput(maker, {FloatTensor({2, 2}, {2, 3, 4, 5}), FloatTensor({2}, {1, 2})});
  EXPECT_THAT(Floats(y), Pointwise(FloatNear(1e-5), {2.F, 3.F, 16.F, 25.F}));
}

TEST(OldOpsets, LogicFromAnAxisOn) {
  for (const char* const op : {"And", "Or", "Xor"}) {
    OnnxMaker maker(6);
    maker.Input("a", {2, 2}, DataType::kBool).Input("b", {2}, DataType::kBool);
    maker.Node(op, {"a", "b"}, {"y"}).Int("broadcast", 1).Int("axis", 0).Output("y");
    const TensorData y = FirstOutput(maker, {Tensor<char>(DataType::kBool, {2, 2}, {0, 1, 0, 1}),
                                             Tensor<char>(DataType::kBool, {2}, {0, 1})});
    const std::string_view name = op;
    const std::vector<char> expected = name == "And"  ? std::vector<char>{0, 0, 0, 1}
                                       : name == "Or" ? std::vector<char>{0, 1, 1, 1}
                                                      : std::vector<char>{0, 1, 1, 0};
    EXPECT_EQ(y, Tensor<char>(DataType::kBool, {2, 2}, expected)) << op;
  }
}

TEST(OldOpsets, AnAxisWithoutBroadcastSaysNothing) {
  OnnxMaker maker(6);
  maker.Input("a", {2}).Input("b", {2}).Node("Add", {"a", "b"}, {"y"});
  maker.Int("broadcast", 0).Int("axis", 0).Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({2}, {1, 2}), FloatTensor({2}, {3, 4})})),
              ElementsAre(4, 6));
}

TEST(OldOpsets, BatchNormalizationOfEachElement) {
  OnnxMaker maker(7);
  maker.Input("x", {2, 2, 1})
      .Initializer("scale", FloatTensor({2, 1}, {2, 3}))
      .Initializer("b", FloatTensor({2, 1}, {1, -1}))
      .Initializer("mean", FloatTensor({2, 1}, {1, 2}))
      .Initializer("var", FloatTensor({2, 1}, {4, 9}))
      .Node("BatchNormalization", {"x", "scale", "b", "mean", "var"}, {"y"})
      .Int("spatial", 0)
      .Float("epsilon", 0)
      .Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({2, 2, 1}, {1, 2, 3, 5})})),
              Pointwise(FloatNear(1e-5), {1.F, -1.F, 3.F, 2.F}));
}

TEST(OldOpsets, BatchNormalizationOfChannelsWithHintsOfTheFirst) {
  OnnxMaker maker(1);
  maker.Input("x", {1, 2, 1, 1})
      .Initializer("scale", FloatTensor({2}, {2, 3}))
      .Initializer("b", FloatTensor({2}, {1, -1}))
      .Initializer("mean", FloatTensor({2}, {1, 2}))
      .Initializer("var", FloatTensor({2}, {4, 9}))
      .Node("BatchNormalization", {"x", "scale", "b", "mean", "var"}, {"y"})
      .Int("spatial", 1)
      .Int("is_test", 1)
      .Ints("consumed_inputs", {0, 0, 0, 1, 1})
      .Float("epsilon", 0)
      .Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({1, 2, 1, 1}, {3, 5})})),
              Pointwise(FloatNear(1e-5), {3.F, 2.F}));
}

TEST(OldOpsets, UpsampleOfTheFirstHasTwoScales) {
  OnnxMaker maker(1);
  maker.Input("x", {1, 1, 1, 2}).Node("Upsample", {"x"}, {"y"}).Float("height_scale", 2);
  maker.Float("width_scale", 2).String("mode", "nearest").Output("y");
  const TensorData y = FirstOutput(maker, {FloatTensor({1, 1, 1, 2}, {1, 2})});
  EXPECT_THAT(y.shape, ElementsAre(1, 1, 2, 4));
  EXPECT_THAT(Floats(y), ElementsAre(1, 1, 2, 2, 1, 1, 2, 2));
}

TEST(OldOpsets, UpsampleOfTheSeventhHasAListOfScales) {
  OnnxMaker maker(7);
  maker.Input("x", {1, 1, 1, 2}).Node("Upsample", {"x"}, {"y"}).String("mode", "nearest");
  FloatList(maker, "scales", {1, 1, 1, 3}).Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({1, 1, 1, 2}, {1, 2})})),
              ElementsAre(1, 1, 1, 2, 2, 2));
}

TEST(OldOpsets, ShapesPadsAndBoundsAreAttributes) {
  OnnxMaker maker(1);
  maker.Input("x", {2, 3})
      .Node("Reshape", {"x"}, {"a"})
      .Ints("shape", {3, -1})
      .Ints("consumed_inputs", {0})
      .Node("Pad", {"a"}, {"b"})
      .Ints("paddings", {0, 1, 0, 0})
      .String("mode", "constant")
      .Float("value", 9)
      .Node("Slice", {"b"}, {"c"})
      .Ints("starts", {1})
      .Ints("ends", {3})
      .Ints("axes", {0})
      .Node("Clip", {"c"}, {"y"})
      .Float("max", 5)
      .Ints("consumed_inputs", {0})
      .Output("y");
  const TensorData y = FirstOutput(maker, {FloatTensor({2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_THAT(y.shape, ElementsAre(2, 3));
  EXPECT_THAT(Floats(y), ElementsAre(5, 3, 4, 5, 5, 5));
}

TEST(OldOpsets, DropoutOfInferenceIsItsData) {
  for (const int opset : {1, 6}) {
    OnnxMaker maker(opset);
    maker.Input("x", {2}).Node("Dropout", {"x"}, {"y"}).Float("ratio", 0.3F).Int("is_test", 1);
    if (opset == 1) maker.Ints("consumed_inputs", {0});
    EXPECT_THAT(Floats(FirstOutput(maker.Output("y"), {FloatTensor({2}, {1, 2})})),
                ElementsAre(1, 2));
  }
}

TEST(OldOpsets, HintsOfWhatMayBeOverwrittenSayNothing) {
  for (const char* const op :
       {"Abs", "Ceil", "Elu", "Exp", "Floor", "HardSigmoid", "LeakyRelu", "Log", "Neg", "Relu",
        "Reciprocal", "Selu", "Sigmoid", "Sqrt", "Tanh", "Clip", "Dropout"}) {
    OnnxMaker maker(1);
    maker.Input("x", {2}).Node(op, {"x"}, {"y"}).Ints("consumed_inputs", {0}).Output("y");
    const auto module = ImportOnnxBytes(maker.Bytes());
    EXPECT_TRUE(module.ok()) << op << ": " << module.status();
  }
  for (const char* const op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean", "PRelu"}) {
    OnnxMaker maker(1);
    maker.Input("a", {2}).Input("b", {2}).Node(op, {"a", "b"}, {"y"});
    maker.Ints("consumed_inputs", {0, 0}).Output("y");
    const auto module = ImportOnnxBytes(maker.Bytes());
    EXPECT_TRUE(module.ok()) << op << ": " << module.status();
  }
}

TEST(OldOpsets, TheDefaultsOfSeluWereShort) {
  for (const int opset : {1, 6}) {
    OnnxMaker maker(opset);
    maker.Input("x", {1}).Node("Selu", {"x"}, {"y"}).Output("y");
    const double gamma = opset == 1 ? 1.0507 : 1.05070102214813232421875;
    EXPECT_FLOAT_EQ(Floats(FirstOutput(maker, {FloatTensor({1}, {1000})}))[0],
                    static_cast<float>(1000 * gamma));
  }
}

TEST(OldOpsets, PoolsWithTextForPads) {
  OnnxMaker maker(1);
  maker.Input("x", {1, 1, 1, 3}).Node("MaxPool", {"x"}, {"y"}).Ints("kernel_shape", {1, 2});
  maker.String("auto_pad", "SAME_LOWER").Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({1, 1, 1, 3}, {3, 1, 2})})),
              ElementsAre(3, 3, 2));
}

TEST(OldOpsets, ConcatOfTheFirstIsAlongChannels) {
  OnnxMaker maker(1);
  maker.Input("a", {1, 1}).Input("b", {1, 2}).Node("Concat", {"a", "b"}, {"y"}).Output("y");
  EXPECT_THAT(FirstOutput(maker, {FloatTensor({1, 1}, {1}), FloatTensor({1, 2}, {2, 3})}).shape,
              ElementsAre(1, 3));
}

TEST(ExperimentalOperators, AffineScaleAndScaledTanh) {
  OnnxMaker maker(1);
  maker.Input("x", {2})
      .Node("Affine", {"x"}, {"a"})
      .Float("alpha", 2)
      .Float("beta", 1)
      .Node("Scale", {"a"}, {"b"})
      .Float("scale", 0.5F)
      .Node("ScaledTanh", {"b"}, {"y"})
      .Float("alpha", 3)
      .Float("beta", 2)
      .Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({2}, {0, 1})})),
              Pointwise(FloatNear(1e-5), {3 * std::tanh(1.F), 3 * std::tanh(3.F)}));
}

TEST(ExperimentalOperators, ParametricSoftplus) {
  OnnxMaker maker(1);
  maker.Input("x", {2}).Node("ParametricSoftplus", {"x"}, {"y"}).Float("alpha", 2);
  maker.Float("beta", 3).Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({2}, {0, 1})})),
              Pointwise(FloatNear(1e-5), {2 * std::log(2.F), 2 * std::log(1 + std::exp(3.F))}));
}

TEST(ExperimentalOperators, ImageScalerAddsANumberAChannel) {
  OnnxMaker maker(1);
  maker.Input("x", {1, 2, 1, 1}).Node("ImageScaler", {"x"}, {"y"}).Float("scale", 2);
  FloatList(maker, "bias", {-1, 1}).Output("y");
  EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({1, 2, 1, 1}, {3, 4})})), ElementsAre(5, 9));
}

TEST(ExperimentalOperators, CropByBorderOrToASize) {
  const TensorData x = FloatTensor({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  OnnxMaker border(1);
  border.Input("x", {1, 1, 3, 3}).Node("Crop", {"x"}, {"y"}).Ints("border", {1, 0, 0, 2});
  EXPECT_THAT(Floats(FirstOutput(border.Output("y"), {x})), ElementsAre(2, 3));
  OnnxMaker size(1);
  size.Input("x", {1, 1, 3, 3}).Node("Crop", {"x"}, {"y"}).Ints("border", {1, 1, 0, 0});
  size.Ints("scale", {1, 2}).Output("y");
  EXPECT_THAT(Floats(FirstOutput(size, {x})), ElementsAre(5, 6));
}

TEST(NewOpsets, AllUpTo28AreRead) {
  for (int opset = 22; opset <= 28; ++opset) {
    OnnxMaker maker(opset);
    maker.Input("x", {2, 2})
        .Initializer("w", FloatTensor({2, 2}, {1, 2, 3, 4}))
        .Node("MatMul", {"x", "w"}, {"a"})
        .Node("Relu", {"a"}, {"y"})
        .Output("y");
    EXPECT_THAT(Floats(FirstOutput(maker, {FloatTensor({2, 2}, {1, 0, 0, -1})})),
                ElementsAre(1, 2, 0, 0));
  }
  OnnxMaker next(29);
  next.Input("x", {2}).Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(Refusal(next), HasSubstr("opset 1 to 28 was expected, found 29"));
}

TEST(NewOpsets, ARoundingOfEightBitExponentsSaysNothingToOthers) {
  OnnxMaker maker(24);
  maker.Input("x", {2}).Node("Cast", {"x"}, {"y"}).Int("to", onnx::TensorProto::INT32);
  maker.String("round_mode", "down").Int("saturate", 0).Output("y");
  EXPECT_EQ(FirstOutput(maker, {FloatTensor({2}, {1.5F, -2.5F})}),
            Tensor<int32_t>(DataType::kInt32, {2}, {1, -2}));
}

TEST(NewOpsets, DequantizeLinearSaysItsResultsType) {
  OnnxMaker maker(23);
  maker.Input("x", {2}, DataType::kInt8)
      .Initializer("s", FloatTensor({}, {0.5F}))
      .Node("DequantizeLinear", {"x", "s"}, {"y"})
      .Int("output_dtype", onnx::TensorProto::DOUBLE)
      .Output("y");
  EXPECT_EQ(FirstOutput(maker, {Tensor<int8_t>(DataType::kInt8, {2}, {3, -4})}),
            Tensor<double>(DataType::kFloat64, {2}, {1.5, -2}));
}

TEST(NewOpsets, QuantizeLinearSaysInWhichTypeItDivides) {
  OnnxMaker maker(23);
  maker.Input("x", {2})
      .Initializer("s", FloatTensor({}, {0.5F}))
      .Node("QuantizeLinear", {"x", "s"}, {"y"})
      .Int("precision", onnx::TensorProto::DOUBLE)
      .Int("output_dtype", onnx::TensorProto::INT8)
      .Output("y");
  EXPECT_EQ(FirstOutput(maker, {FloatTensor({2}, {1.25F, -3.75F})}),
            Tensor<int8_t>(DataType::kInt8, {2}, {2, -8}));
}

TEST(NewOpsets, ModOfFloatsHasTheSignOfTheDivisor) {
  const TensorData a = FloatTensor({6}, {-4.3F, 7.2F, 5.0F, 4.3F, -7.2F, 8.0F});
  const TensorData b = FloatTensor({6}, {2.1F, -3.4F, 8.0F, -2.1F, 3.4F, 5.0F});
  for (const int64_t fmod : {0, 1}) {
    OnnxMaker maker(28);
    maker.Input("a", {6}).Input("b", {6}).Node("Mod", {"a", "b"}, {"y"}).Int("fmod", fmod);
    const std::vector<float> expected =
        fmod == 0 ? std::vector<float>{2.0F, -3.0F, 5.0F, -2.0F, 3.0F, 3.0F}
                  : std::vector<float>{-0.1F, 0.4F, 5.0F, 0.1F, -0.4F, 3.0F};
    EXPECT_THAT(Floats(FirstOutput(maker.Output("y"), {a, b})),
                Pointwise(FloatNear(1e-5), expected));
  }
}

TEST(NewOpsets, ModByInfinityIsTheDividendOrTheDivisor) {
  OnnxMaker maker(28);
  maker.Input("a", {2}).Input("b", {2}).Node("Mod", {"a", "b"}, {"y"}).Output("y");
  const std::vector<float> y = Floats(
      FirstOutput(maker, {FloatTensor({2}, {2, -2}), FloatTensor({2}, {INFINITY, INFINITY})}));
  EXPECT_THAT(y, ElementsAre(2, INFINITY));
}

TEST(NewOpsets, ShiftsOfSignedNumbersKeepTheSign) {
  for (const char* const direction : {"RIGHT", "LEFT"}) {
    OnnxMaker maker(28);
    maker.Input("a", {5}, DataType::kInt32).Input("b", {5}, DataType::kInt32);
    maker.Node("BitShift", {"a", "b"}, {"y"}).String("direction", direction).Output("y");
    const std::vector<int32_t> expected = std::string_view(direction) == "RIGHT"
                                              ? std::vector<int32_t>{-4, 3, -1, 0, -1}
                                              : std::vector<int32_t>{-16, 14, 0, 0, 0};
    EXPECT_EQ(FirstOutput(maker, {Tensor<int32_t>(DataType::kInt32, {5}, {-8, 7, -8, 7, -8}),
                                  Tensor<int32_t>(DataType::kInt32, {5}, {1, 1, 32, 40, -1})}),
              Tensor<int32_t>(DataType::kInt32, {5}, expected))
        << direction;
  }
}

TEST(NewOpsets, SpaceToDepthHasTwoOrders) {
  const TensorData x = FloatTensor({1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  for (const char* const mode : {"DCR", "CRD"}) {
    OnnxMaker maker(28);
    maker.Input("x", {1, 2, 2, 2}).Node("SpaceToDepth", {"x"}, {"y"}).Int("blocksize", 2);
    maker.String("mode", mode).Output("y");
    const std::vector<float> expected = std::string_view(mode) == "DCR"
                                            ? std::vector<float>{0, 4, 1, 5, 2, 6, 3, 7}
                                            : std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7};
    EXPECT_EQ(Floats(FirstOutput(maker, {x})), expected) << mode;
  }
}

TEST(NewOpsets, RangesOfHalfPrecisionAreCountedInFloat32) {
  OnnxMaker maker(27);
  const auto half = [](uint16_t bits) { return Tensor<uint16_t>(DataType::kFloat16, {}, {bits}); };
  maker
      .Initializer("start", half(0x3C00))  // 1
      .Initializer("limit", half(0x4000))  // 2
      .Initializer("delta", half(0x3800))  // 0.5
      .Node("Range", {"start", "limit", "delta"}, {"y"})
      .Int("stash_type", 1)
      .Output("y");
  EXPECT_EQ(FirstOutput(maker, {}), Tensor<uint16_t>(DataType::kFloat16, {2}, {0x3C00, 0x3E00}));
}

}  // namespace
}  // namespace hone::frontend
