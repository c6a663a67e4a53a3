// Random operators: drawn at import, the same at every run and on every machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

OnnxMaker Drawn(const std::string& op, const std::string& result = "y") {
  OnnxMaker maker(18);
  return maker.Node(op, {}, {result}).Ints("shape", {100, 100}).Output(result);
}

double MeanOf(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double DeviationOf(const std::vector<float>& values) {
  const double mean = MeanOf(values);
  double sum = 0;
  for (const float v : values) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(RandomOperators, NormalHasItsMeanAndDeviation) {
  OnnxMaker maker = Drawn("RandomNormal");
  const TensorData y = FirstOutput(maker.Float("mean", 3).Float("scale", 2).Float("seed", 1));
  EXPECT_EQ(y.dtype, DataType::kFloat32);
  EXPECT_THAT(y.shape, ElementsAre(100, 100));
  EXPECT_NEAR(MeanOf(Floats(y)), 3, 0.1);
  EXPECT_NEAR(DeviationOf(Floats(y)), 2, 0.1);
  // 68 of 100 are within one deviation.
  const std::vector<float> values = Floats(y);
  const auto near =
      std::count_if(values.begin(), values.end(), [](float v) { return std::abs(v - 3) < 2; });
  EXPECT_NEAR(static_cast<double>(near), 6827, 200);
}

TEST(RandomOperators, UniformIsWithinItsBounds) {
  OnnxMaker maker = Drawn("RandomUniform");
  const std::vector<float> y =
      Floats(FirstOutput(maker.Float("low", -2).Float("high", 6).Float("seed", 1)));
  EXPECT_THAT(y, Each(testing::AllOf(testing::Ge(-2), testing::Lt(6))));
  EXPECT_NEAR(MeanOf(y), 2, 0.1);
  EXPECT_NEAR(DeviationOf(y), 8 / std::sqrt(12), 0.1);
}

TEST(RandomOperators, OneSeedGivesTheSameAndAnotherDoesNot) {
  const auto with = [](float seed) {
    OnnxMaker maker = Drawn("RandomNormal");
    return FirstOutput(maker.Float("seed", seed));
  };
  EXPECT_EQ(with(1), with(1));
  EXPECT_NE(with(1), with(2));
  EXPECT_NE(with(1), with(1.5F));
}

TEST(RandomOperators, WithoutASeedTheNameOfTheResultIsOne) {
  EXPECT_EQ(FirstOutput(Drawn("RandomUniform")), FirstOutput(Drawn("RandomUniform")));
  EXPECT_NE(FirstOutput(Drawn("RandomUniform")), FirstOutput(Drawn("RandomUniform", "z")));
}

// The same on every machine.
TEST(RandomOperators, TheFirstNumbersAreThese) {
  OnnxMaker maker(18);
  maker.Node("RandomUniform", {}, {"y"}).Ints("shape", {2}).Float("seed", 0).Output("y");
  // std::mt19937_64 of seed 0 begins with 2947667278772165694 and 18301848765998365067.
  EXPECT_THAT(Floats(FirstOutput(maker)),
              ElementsAre(static_cast<float>(2947667278772165694U >> 40) * 0x1p-24F,
                          static_cast<float>(18301848765998365067U >> 40) * 0x1p-24F));
}

// The same to the last bit, also of normal numbers: these were computed in Python by the same
// method.
TEST(RandomOperators, TheFirstNormalNumbersAreThese) {
  OnnxMaker maker(18);
  maker.Node("RandomNormal", {}, {"y"}).Ints("shape", {4}).Float("seed", 0);
  maker.Int("dtype", onnx::TensorProto::DOUBLE).Output("y");
  const TensorData y = FirstOutput(maker);
  std::vector<double> values(4);
  ASSERT_EQ(y.bytes.size(), values.size() * sizeof(double));
  std::memcpy(values.data(), y.bytes.data(), y.bytes.size());
  EXPECT_THAT(values, ElementsAre(0x1.442642fe065d0p-5, -0x1.b1bc791516090p-2,
                                  -0x1.dc61770a3a8f0p-1, -0x1.2e06f8c09cdc2p+0));
}

TEST(RandomOperators, TypesOfResults) {
  for (const auto& [number, dtype] :
       {std::pair(onnx::TensorProto::DOUBLE, DataType::kFloat64),
        std::pair(onnx::TensorProto::FLOAT16, DataType::kFloat16),
        std::pair(onnx::TensorProto::BFLOAT16, DataType::kBFloat16)}) {
    OnnxMaker maker = Drawn("RandomNormal");
    EXPECT_EQ(FirstOutput(maker.Int("dtype", number)).dtype, dtype);
  }
  OnnxMaker integer = Drawn("RandomNormal");
  EXPECT_THAT(Refusal(integer.Int("dtype", onnx::TensorProto::INT32)),
              HasSubstr("a type of floats was expected, found int32"));
}

TEST(RandomOperators, LikeTakesShapeAndTypeOfItsOperand) {
  for (const char* const op : {"RandomNormalLike", "RandomUniformLike"}) {
    OnnxMaker maker(18);
    maker.Input("x", {2, 3}, DataType::kFloat64).Node(op, {"x"}, {"y"}).Output("y");
    const TensorData x = {DataType::kFloat64, {2, 3}, std::string(48, '\0')};
    EXPECT_EQ(FirstOutput(maker, {x}).dtype, DataType::kFloat64);
    EXPECT_THAT(FirstOutput(maker, {x}).shape, ElementsAre(2, 3));
    OnnxMaker other(18);
    other.Input("x", {2, 3}, DataType::kFloat64).Node(op, {"x"}, {"y"});
    other.Int("dtype", onnx::TensorProto::FLOAT).Output("y");
    EXPECT_EQ(FirstOutput(other, {x}).dtype, DataType::kFloat32);
  }
}

TEST(RandomOperators, BernoulliHasItsProbabilities) {
  OnnxMaker maker(18);
  maker.Input("p", {3, 1000}).Node("Bernoulli", {"p"}, {"y"}).Float("seed", 4).Output("y");
  std::vector<float> p(3000, 0);
  std::fill(p.begin() + 1000, p.begin() + 2000, 0.3F);
  std::fill(p.begin() + 2000, p.end(), 1);
  const std::vector<float> y = Floats(FirstOutput(maker, {FloatTensor({3, 1000}, p)}));
  EXPECT_THAT(std::vector<float>(y.begin(), y.begin() + 1000), Each(0));
  EXPECT_NEAR(MeanOf({y.begin() + 1000, y.begin() + 2000}), 0.3, 0.05);
  EXPECT_THAT(std::vector<float>(y.begin() + 2000, y.end()), Each(1));
}

TEST(RandomOperators, BernoulliOfAnotherType) {
  OnnxMaker maker(18);
  maker.Input("p", {2}).Node("Bernoulli", {"p"}, {"y"}).Int("dtype", onnx::TensorProto::BOOL);
  const TensorData y = FirstOutput(maker.Output("y"), {FloatTensor({2}, {0, 1})});
  EXPECT_EQ(y, (TensorData{DataType::kBool, {2}, std::string("\0\1", 2)}));
}

TEST(RandomOperators, MultinomialHasItsProbabilities) {
  OnnxMaker maker(18);
  maker.Input("x", {1, 3}).Node("Multinomial", {"x"}, {"y"}).Int("sample_size", 2000);
  maker.Int("dtype", onnx::TensorProto::INT64).Float("seed", 7).Output("y");
  const TensorData y =
      FirstOutput(maker, {FloatTensor({1, 3}, {std::log(1.F), std::log(5.F), std::log(2.F)})});
  ASSERT_EQ(y.dtype, DataType::kInt64);
  ASSERT_THAT(y.shape, ElementsAre(1, 2000));
  std::vector<int64_t> drawn(2000);
  std::memcpy(drawn.data(), y.bytes.data(), y.bytes.size());
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 0)), 250, 60);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 1)), 1250, 90);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 2)), 500, 80);
}

TEST(RandomOperators, WhatIsDrawnIsBounded) {
  OnnxMaker maker(18);
  maker.Node("RandomNormal", {}, {"y"}).Ints("shape", {1 << 20, 1 << 20}).Output("y");
  EXPECT_THAT(Refusal(maker), HasSubstr("more than a model may ask for"));
  OnnxMaker negative(18);
  negative.Node("RandomNormal", {}, {"y"}).Ints("shape", {-2, 3}).Output("y");
  EXPECT_FALSE(ImportOnnxBytes(negative.Bytes()).ok());
}

}  // namespace
}  // namespace hone::frontend
