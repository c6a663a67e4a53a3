// Operators of ONNX with attributes, types and opsets that the conformance cases do not have,
// against values worked out by hand or by numpy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/one_node.h"

namespace hone::frontend {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::NanSensitiveFloatNear;
using testing::Pointwise;

TensorData Bytes(std::vector<int64_t> shape, const std::vector<uint8_t>& values) {
  return Tensor(DataType::kUInt8, std::move(shape), values);
}
TensorData SignedBytes(std::vector<int64_t> shape, const std::vector<int8_t>& values) {
  return Tensor(DataType::kInt8, std::move(shape), values);
}
TensorData Int32s(std::vector<int64_t> shape, const std::vector<int32_t>& values) {
  return Tensor(DataType::kInt32, std::move(shape), values);
}

void ExpectFloats(const TensorData& found, const std::vector<float>& expected,
                  float tolerance = 2e-5f) {
  EXPECT_EQ(found.dtype, DataType::kFloat32);
  EXPECT_THAT(Floats(found), Pointwise(NanSensitiveFloatNear(tolerance), expected));
}

// ---- activations ----

TEST(OnnxActivationTest, ValuesFarOutDoNotOverflow) {
  const TensorData x = FloatTensor({5}, {-100, -1, 0, 1, 100});
  ExpectFloats(OneNode(1, "Softplus", {x}).Run()[0], {0, 0.3132617f, 0.6931472f, 1.3132617f, 100});
  ExpectFloats(OneNode(18, "Mish", {x}).Run()[0], {0, -0.3034015f, 0, 0.8650984f, 100});
  ExpectFloats(OneNode(6, "Elu", {x}).Float("alpha", 2).Run()[0], {-2, -1.2642411f, 0, 1, 100});
  ExpectFloats(OneNode(12, "Celu", {x}).Float("alpha", 2).Run()[0], {-2, -0.7869387f, 0, 1, 100});
  ExpectFloats(OneNode(20, "Gelu", {x}).String("approximate", "tanh").Run()[0],
               {0, -0.158808f, 0, 0.841192f, 100});
  EXPECT_THAT(OneNode(20, "Gelu", {x}).String("approximate", "so").Error(), HasSubstr("found so"));
}

TEST(OnnxActivationTest, NanStaysNan) {
  const TensorData x = FloatTensor({1}, {kNan});
  for (const char* op : {"Elu", "Selu", "HardSigmoid", "Softplus", "Softsign", "Mish", "Celu"}) {
    SCOPED_TRACE(op);
    ExpectFloats(OneNode(18, op, {x}).Run()[0], {kNan});
  }
}

TEST(OnnxActivationTest, ShrinkAndPReluTakeIntegers) {
  EXPECT_EQ(OneNode(9, "Shrink", {Int32s({5}, {-3, -1, 0, 1, 3})})
                .Float("lambd", 1.5)
                .Float("bias", 1)
                .Run()[0],
            Int32s({5}, {-2, 0, 0, 0, 2}));
  EXPECT_EQ(
      OneNode(16, "PRelu", {Int32s({2, 2}, {-1, -2, 3, -4}), Int32s({2}, {10, 100})}).Run()[0],
      Int32s({2, 2}, {-10, -200, 3, -400}));
}

TEST(OnnxActivationTest, HardmaxFlattensBeforeOpset13) {
  const TensorData x = FloatTensor({1, 2, 2}, {1, 4, 4, 3});
  ExpectFloats(OneNode(11, "Hardmax", {x}).Run()[0], {0, 1, 0, 0});
  ExpectFloats(OneNode(13, "Hardmax", {x}).Run()[0], {0, 1, 1, 0});
}

// ---- logic ----

TEST(OnnxLogicTest, ModFollowsTheDivisorOrTheDividend) {
  const TensorData a = Int32s({4}, {-4, 7, 5, -7});
  const TensorData b = Int32s({4}, {3, -3, 8, -3});
  EXPECT_EQ(OneNode(13, "Mod", {a, b}).Run()[0], Int32s({4}, {2, -2, 5, -1}));
  EXPECT_EQ(OneNode(13, "Mod", {a, b}).Int("fmod", 1).Run()[0], Int32s({4}, {-1, 1, 5, -1}));
}

TEST(OnnxLogicTest, PowTakesTwoTypes) {
  EXPECT_EQ(OneNode(15, "Pow", {Int32s({3}, {2, 9, -2}), FloatTensor({3}, {3, 0.5, 3})}).Run()[0],
            Int32s({3}, {8, 3, -8}));
  EXPECT_EQ(OneNode(15, "Pow", {Int32s({2}, {2, 3}), IntTensor({}, {3})}).Run()[0],
            Int32s({2}, {8, 27}));
  ExpectFloats(OneNode(15, "Pow", {FloatTensor({2}, {4, 0.5}), IntTensor({2}, {-1, 2})}).Run()[0],
               {0.25f, 0.25f});
}

TEST(OnnxLogicTest, IsInfOfOneSign) {
  const TensorData x = FloatTensor({4}, {kInf, -kInf, kNan, 1});
  EXPECT_EQ(OneNode(10, "IsInf", {x}).Int("detect_negative", 0).Run()[0].bytes,
            std::string({1, 0, 0, 0}));
  EXPECT_EQ(OneNode(10, "IsInf", {x}).Int("detect_positive", 0).Run()[0].bytes,
            std::string({0, 1, 0, 0}));
}

TEST(OnnxLogicTest, CastLikeTakesTheTypeAlone) {
  EXPECT_EQ(OneNode(19, "CastLike", {FloatTensor({2}, {1.7, -2.5}), Int32s({1}, {0})}).Run()[0],
            Int32s({2}, {1, -2}));
}

TEST(OnnxLogicTest, BroadcastingByAxisBeforeOpset7) {
  ExpectFloats(OneNode(6, "Add", {FloatTensor({2, 2}, {1, 2, 3, 4}), FloatTensor({2}, {10, 20})})
                   .Int("broadcast", 1)
                   .Int("axis", 0)
                   .Run()[0],
               {11, 12, 23, 24});
}

// ---- reductions ----

TEST(OnnxReduceTest, IntegersAndEmptyAxes) {
  const TensorData x = Int32s({2, 2}, {-3, 4, 1, 1});
  EXPECT_EQ(OneNode(18, "ReduceL2", {x, IntTensor({1}, {-1})}).Int("keepdims", 0).Run()[0],
            Int32s({2}, {5, 1}));
  EXPECT_EQ(OneNode(13, "ReduceL1", {x}).Ints("axes", {0}).Run()[0], Int32s({1, 2}, {4, 5}));
  EXPECT_EQ(OneNode(18, "ReduceSumSquare", {x, IntTensor({0}, {})}).Run()[0], Int32s({1, 1}, {27}));
  EXPECT_EQ(
      OneNode(18, "ReduceProd", {x, IntTensor({0}, {})}).Int("noop_with_empty_axes", 1).Run()[0],
      x);
  EXPECT_EQ(OneNode(20, "ReduceMax",
                    {Tensor<uint8_t>(DataType::kBool, {2, 2}, {0, 0, 0, 1}), IntTensor({1}, {1})})
                .Run()[0],
            Tensor<uint8_t>(DataType::kBool, {2, 1}, {0, 1}));
}

TEST(OnnxReduceTest, MeansDivideSumsThatWrapAroundIn32BitsOrMore) {
  const auto mean = [](const TensorData& x) {
    return OneNode(18, "ReduceMean", {x}).Int("keepdims", 0).Run()[0];
  };
  EXPECT_EQ(mean(Tensor<uint8_t>(DataType::kUInt8, {2}, {255, 255})),
            Tensor<uint8_t>(DataType::kUInt8, {}, {255}));
  EXPECT_EQ(mean(Tensor<uint32_t>(DataType::kUInt32, {2}, {UINT32_MAX, UINT32_MAX})),
            Tensor<uint32_t>(DataType::kUInt32, {}, {INT32_MAX}));
  EXPECT_EQ(mean(Int32s({2}, {INT32_MAX, INT32_MAX})), Int32s({}, {-1}));
}

TEST(OnnxReduceTest, OfNoElementsAndOfScalars) {
  const TensorData none = FloatTensor({2, 0}, {});
  const TensorData axis = IntTensor({1}, {1});
  ExpectFloats(OneNode(18, "ReduceSum", {none, axis}).Run()[0], {0, 0});
  ExpectFloats(OneNode(18, "ReduceProd", {none, axis}).Run()[0], {1, 1});
  ExpectFloats(OneNode(20, "ReduceMax", {none, axis}).Run()[0], {-kInf, -kInf});
  ExpectFloats(OneNode(18, "ReduceLogSumExp", {none, axis}).Run()[0], {-kInf, -kInf});
  ExpectFloats(OneNode(18, "ReduceL1", {FloatTensor({}, {-3})}).Run()[0], {3});
}

TEST(OnnxReduceTest, LogSumExpDoesNotOverflow) {
  ExpectFloats(
      OneNode(18, "ReduceLogSumExp", {FloatTensor({2}, {1000, 1000})}).Int("keepdims", 0).Run()[0],
      {1000.6931f}, 1e-3f);
}

TEST(OnnxReduceTest, CumSumTakesItsAxisAsAnOperand) {
  EXPECT_EQ(OneNode(14, "CumSum", {Int32s({2, 2}, {1, 2, 3, 4}), IntTensor({}, {-2})})
                .Int("reverse", 1)
                .Run()[0],
            Int32s({2, 2}, {4, 6, 3, 4}));
}

// ---- normalisations ----

TEST(OnnxNormalizationTest, LayerNormalizationGivesItsStatistics) {
  const TensorData x = FloatTensor({2, 2}, {1, 3, 10, 20});
  const auto outputs =
      OneNode(17, "LayerNormalization", {x, FloatTensor({1}, {2}), FloatTensor({2}, {0, 1})}, 3)
          .Float("epsilon", 0)
          .Run();
  ASSERT_EQ(outputs.size(), 3u);
  ExpectFloats(outputs[0], {-2, 3, -2, 3});
  EXPECT_EQ(outputs[1].shape, (std::vector<int64_t>{2, 1}));
  ExpectFloats(outputs[1], {2, 15});
  ExpectFloats(outputs[2], {1, 0.2f});
}

TEST(OnnxNormalizationTest, GroupNormalizationScalesGroupsThenChannels) {
  const TensorData x = FloatTensor({1, 4, 1}, {1, 3, 5, 9});
  ExpectFloats(
      OneNode(18, "GroupNormalization", {x, FloatTensor({2}, {1, 10}), FloatTensor({2}, {0, 100})})
          .Int("num_groups", 2)
          .Float("epsilon", 0)
          .Run()[0],
      {-1, 1, 90, 110}, 1e-4f);
  ExpectFloats(OneNode(21, "GroupNormalization",
                       {x, FloatTensor({4}, {1, 2, 3, 4}), FloatTensor({4}, {0, 0, 0, 1})})
                   .Int("num_groups", 2)
                   .Float("epsilon", 0)
                   .Run()[0],
               {-1, 2, -3, 5}, 1e-4f);
}

TEST(OnnxNormalizationTest, LpNormalizationOfZerosIsZero) {
  ExpectFloats(OneNode(1, "LpNormalization", {FloatTensor({2, 2}, {3, 4, 0, 0})}).Run()[0],
               {0.6f, 0.8f, 0, 0});
  ExpectFloats(OneNode(1, "LpNormalization", {FloatTensor({2, 2}, {3, -1, 1, 1})})
                   .Int("p", 1)
                   .Int("axis", 0)
                   .Run()[0],
               {0.75f, -0.5f, 0.25f, 0.5f});
}

// ---- matrices ----

TEST(OnnxMatMulTest, VectorsAndBroadcastStacks) {
  const TensorData v = FloatTensor({2}, {1, 2});
  const TensorData m = FloatTensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(OneNode(13, "MatMul", {v, v}).Run()[0], FloatTensor({}, {5}));
  EXPECT_EQ(OneNode(13, "MatMul", {v, m}).Run()[0], FloatTensor({2}, {7, 10}));
  EXPECT_EQ(OneNode(13, "MatMul", {m, v}).Run()[0], FloatTensor({2}, {5, 11}));
  const TensorData rows = FloatTensor({2, 1, 1, 2}, {1, 2, 3, 4});
  const TensorData columns = FloatTensor({3, 2, 1}, {1, 0, 0, 1, 1, 1});
  EXPECT_EQ(OneNode(13, "MatMul", {rows, columns}).Run()[0],
            FloatTensor({2, 3, 1, 1}, {1, 2, 3, 3, 4, 7}));
  EXPECT_EQ(OneNode(13, "MatMul", {v, columns}).Run()[0], FloatTensor({3, 1}, {1, 2, 3}));
  EXPECT_EQ(OneNode(13, "MatMul", {m, columns}).Run()[0],
            FloatTensor({3, 2, 1}, {1, 3, 2, 4, 3, 7}));
  EXPECT_EQ(OneNode(13, "MatMul", {Int32s({1, 2}, {2, 3}), Int32s({2, 1}, {5, 7})}).Run()[0],
            Int32s({1, 1}, {31}));
  EXPECT_THAT(OneNode(13, "MatMul", {m, FloatTensor({3}, {1, 2, 3})}).Error(),
              HasSubstr("cannot be multiplied"));
}

TEST(OnnxEinsumTest, EquationsOfEveryKind) {
  const TensorData a = FloatTensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorData b = FloatTensor({3, 2}, {1, 0, 0, 1, 1, 1});
  const auto run = [](const std::string& equation, std::vector<TensorData> inputs) {
    return OneNode(12, "Einsum", std::move(inputs)).String("equation", equation).Run()[0];
  };
  EXPECT_EQ(run("ij, jk -> ik", {a, b}), FloatTensor({2, 2}, {4, 5, 10, 11}));
  EXPECT_EQ(run("ij,jk", {a, b}), FloatTensor({2, 2}, {4, 5, 10, 11}));
  EXPECT_EQ(run("ij,jk->ki", {a, b}), FloatTensor({2, 2}, {4, 10, 5, 11}));
  EXPECT_EQ(run("ij->", {a}), FloatTensor({}, {21}));
  EXPECT_EQ(run("ba", {a}), FloatTensor({3, 2}, {1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(run("i,j->ij", {FloatTensor({2}, {2, 3}), FloatTensor({2}, {5, 7})}),
            FloatTensor({2, 2}, {10, 14, 15, 21}));
  EXPECT_EQ(run("ij,ij->i", {a, a}), FloatTensor({2}, {14, 77}));
  EXPECT_EQ(run("...i,...i->...", {a, a}), FloatTensor({2}, {14, 77}));
  EXPECT_EQ(run("...ij,jk", {a, b}), FloatTensor({2, 2}, {4, 5, 10, 11}));
  EXPECT_EQ(run("ii->i", {FloatTensor({2, 2}, {1, 2, 3, 4})}), FloatTensor({2}, {1, 4}));
  EXPECT_EQ(run("ii", {FloatTensor({2, 2}, {1, 2, 3, 4})}), FloatTensor({}, {5}));
  EXPECT_EQ(run("ij,jk,k->i", {a, b, FloatTensor({2}, {1, 10})}), FloatTensor({2}, {54, 120}));
  EXPECT_EQ(run("ij,kj->i", {a, FloatTensor({2, 3}, {1, 1, 1, 1, 1, 1})}),
            FloatTensor({2}, {12, 30}));
  EXPECT_EQ(run("ij,jk->ik", {SignedBytes({1, 2}, {100, 2}), SignedBytes({2, 1}, {1, 3})}),
            SignedBytes({1, 1}, {106}));
  EXPECT_EQ(run("bij,bjk->bik",
                {FloatTensor({2, 1, 2}, {1, 2, 3, 4}), FloatTensor({2, 2, 1}, {1, 1, 1, 2})}),
            FloatTensor({2, 1, 1}, {3, 11}));
}

TEST(OnnxGemmTest, TakesNoCAndIntegers) {
  EXPECT_EQ(OneNode(13, "Gemm", {Int32s({1, 2}, {3, 5}), Int32s({2, 1}, {1, 2})})
                .Float("alpha", 0.5)
                .Run()[0],
            Int32s({1, 1}, {6}));
}

// ---- quantised ----

TEST(OnnxQuantizedTest, LinearPerAxisPerBlockAndByDefault) {
  const TensorData x = FloatTensor({2, 2}, {1, 2, -30, 4000});
  EXPECT_EQ(
      OneNode(10, "QuantizeLinear", {FloatTensor({2}, {2.5, -1}), FloatTensor({}, {1})}).Run()[0],
      Bytes({2}, {2, 0}));
  EXPECT_EQ(OneNode(13, "QuantizeLinear", {x, FloatTensor({2}, {1, 10}), SignedBytes({2}, {0, 1})})
                .Int("axis", 0)
                .Run()[0],
            SignedBytes({2, 2}, {1, 2, -2, 127}));
  EXPECT_EQ(OneNode(21, "DequantizeLinear",
                    {SignedBytes({1, 4}, {1, 2, 3, 4}), FloatTensor({1, 2}, {1, 100})})
                .Int("axis", 1)
                .Int("block_size", 2)
                .Run()[0],
            FloatTensor({1, 4}, {1, 2, 300, 400}));
  EXPECT_EQ(OneNode(21, "QuantizeLinear", {FloatTensor({2}, {300, -5}), FloatTensor({}, {1})})
                .Int("output_dtype", 5)  // int16
                .Run()[0],
            Tensor<int16_t>(DataType::kInt16, {2}, {300, -5}));
  EXPECT_EQ(OneNode(10, "DequantizeLinear", {Int32s({2}, {1000000, -3}), FloatTensor({1}, {0.5})})
                .Run()[0],
            FloatTensor({2}, {500000, -1.5}));
}

TEST(OnnxQuantizedTest, DynamicQuantizeLinearOfZeros) {
  const auto outputs = OneNode(11, "DynamicQuantizeLinear", {FloatTensor({2}, {0, 0})}, 3).Run();
  EXPECT_EQ(outputs[0], Bytes({2}, {0, 0}));
  EXPECT_EQ(outputs[2], Bytes({}, {0}));
}

TEST(OnnxQuantizedTest, IntegerProductsOfStacksAndVectors) {
  const TensorData a = Bytes({2, 1, 2}, {1, 2, 3, 4});
  const TensorData b = SignedBytes({2, 2, 1}, {1, -1, 2, 3});
  const TensorData za = Bytes({}, {1});
  const TensorData zb = SignedBytes({}, {1});
  EXPECT_EQ(OneNode(10, "MatMulInteger", {a, b, za, zb}).Run()[0], Int32s({2, 1, 1}, {-2, 8}));
  EXPECT_EQ(OneNode(10, "MatMulInteger", {Bytes({2}, {5, 7}), SignedBytes({2}, {2, -2})}).Run()[0],
            Int32s({}, {-4}));
  // A zero point a row, and one a column.
  EXPECT_EQ(OneNode(10, "MatMulInteger",
                    {Bytes({2, 1}, {5, 7}), SignedBytes({1, 2}, {2, 3}), Bytes({2}, {4, 5}),
                     SignedBytes({2}, {1, 0})})
                .Run()[0],
            Int32s({2, 2}, {1, 3, 2, 6}));
}

TEST(OnnxLossTest, ClassesThatAreIgnoredWeighNothing) {
  const TensorData input = FloatTensor({3, 2}, {-1, -2, -3, -4, -5, -6});
  const TensorData classes = IntTensor({3}, {1, 0, -1});
  const TensorData weights = FloatTensor({2}, {1, 3});
  const auto loss = [&](const std::string& reduction) {
    OneNode node(13, "NegativeLogLikelihoodLoss", {input, classes, weights});
    return Floats(node.Int("ignore_index", -1).String("reduction", reduction).Run()[0]);
  };
  EXPECT_THAT(loss("none"), ElementsAre(6, 3, 0));
  EXPECT_THAT(loss("sum"), ElementsAre(9));
  EXPECT_THAT(loss("mean"), ElementsAre(2.25));
  const auto outputs =
      OneNode(13, "SoftmaxCrossEntropyLoss", {FloatTensor({1, 2}, {4, 4}), IntTensor({1}, {0})}, 2)
          .Run();
  EXPECT_THAT(Floats(outputs[0]), Pointwise(FloatNear(1e-6), {std::log(2.F)}));
  EXPECT_THAT(Floats(outputs[1]), Pointwise(FloatNear(1e-6), {-std::log(2.F), -std::log(2.F)}));
}

TEST(OnnxGenerateTest, WindowsAndGrids) {
  EXPECT_THAT(Floats(OneNode(17, "HannWindow", {IntTensor({}, {4})}).Run()[0]),
              Pointwise(FloatNear(1e-6), {0.F, 0.5F, 1.F, 0.5F}));
  EXPECT_THAT(
      Floats(OneNode(17, "BlackmanWindow", {IntTensor({}, {3})}).Int("periodic", 0).Run()[0]),
      Pointwise(FloatNear(1e-6), {0.F, 1.F, 0.F}));
  EXPECT_THAT(
      Floats(OneNode(20, "AffineGrid",
                     {FloatTensor({1, 2, 3}, {1, 0, 0, 0, 2, 1}), IntTensor({4}, {1, 1, 2, 2})})
                 .Int("align_corners", 1)
                 .Run()[0]),
      ElementsAre(-1, -1, 1, -1, -1, 3, 1, 3));
}

TEST(OnnxShapeTest, AZeroMayMoveToAnotherAxis) {
  EXPECT_EQ(OneNode(14, "Reshape", {FloatTensor({0, 3, 4}, {}), IntTensor({3}, {3, 4, 0})})
                .Int("allowzero", 1)
                .Run()[0],
            FloatTensor({3, 4, 0}, {}));
}

TEST(OnnxQuantizedTest, MicrosoftsOperatorsOfQuantizedModels) {
  const TensorData half = FloatTensor({}, {0.5});
  const TensorData one = FloatTensor({}, {1});
  const TensorData two = FloatTensor({}, {2});
  const TensorData none = Bytes({}, {0});
  EXPECT_EQ(OneNode(13, "com.microsoft.QLinearAdd",
                    {Bytes({2}, {10, 20}), half, Bytes({}, {10}), Bytes({2}, {3, 1}), one,
                     Bytes({}, {1}), half, Bytes({}, {2})})
                .Run()[0],
            Bytes({2}, {6, 12}));
  EXPECT_EQ(OneNode(13, "com.microsoft.QLinearGlobalAveragePool",
                    {Bytes({1, 1, 1, 2}, {4, 8}), one, none, two, none})
                .Int("channels_last", 0)
                .Run()[0],
            Bytes({1, 1, 1, 1}, {3}));
  EXPECT_EQ(OneNode(13, "com.microsoft.QLinearConcat",
                    {one, none, Bytes({1}, {2}), two, none, Bytes({1}, {3}), one, Bytes({}, {1})})
                .Int("axis", 0)
                .Run()[0],
            Bytes({2}, {4, 2}));
  EXPECT_EQ(OneNode(13, "com.microsoft.QLinearSoftmax",
                    {Bytes({1, 2}, {7, 7}), one, none, FloatTensor({}, {1.F / 256}), none})
                .Int("axis", 1)
                .Int("opset", 13)
                .Run()[0],
            Bytes({1, 2}, {128, 128}));
}

TEST(OnnxQuantizedTest, MicrosoftsGemmGivesIntegersOrReals) {
  std::vector<TensorData> inputs = {Bytes({1, 2}, {1, 2}),
                                    FloatTensor({}, {1}),
                                    Bytes({}, {0}),
                                    SignedBytes({2, 1}, {1, 3}),
                                    FloatTensor({}, {0.5}),
                                    SignedBytes({}, {0}),
                                    Tensor<int32_t>(DataType::kInt32, {1}, {1})};
  EXPECT_THAT(Floats(OneNode(13, "com.microsoft.QGemm", inputs).Run()[0]), ElementsAre(4));
  inputs.push_back(FloatTensor({}, {2}));
  inputs.push_back(Bytes({}, {1}));
  EXPECT_EQ(OneNode(13, "com.microsoft.QGemm", inputs).Run()[0], Bytes({1, 1}, {3}));
}

TEST(OnnxQuantizedTest, QLinearMatMulScalesByColumn) {
  const TensorData one = Bytes({}, {0});
  EXPECT_EQ(OneNode(10, "QLinearMatMul",
                    {Bytes({1, 2}, {10, 20}), FloatTensor({}, {0.5}), one,
                     SignedBytes({2, 2}, {1, 2, 3, 4}), FloatTensor({2}, {1, 0.1}),
                     SignedBytes({2}, {0, 0}), FloatTensor({}, {1}), one})
                .Run()[0],
            Bytes({1, 2}, {35, 5}));
}

}  // namespace
}  // namespace hone::frontend
