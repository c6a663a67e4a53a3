#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/compiler/ops/op_runner.h"

namespace hone::ops {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

TestTensor Number(double value, DataType dtype) { return {{}, {value}, dtype}; }

TEST(QnnScaleTest, QuantizeRoundsToEvenAndSaturates) {
  const TestTensor x = {{6}, {1, 3, -1, 500, -500, 0.9}};
  ExpectNear(RunOp("qnn.quantize", {x, {{}, {2}}, Number(10, DataType::kUInt8)}),
             {{6}, {10, 12, 10, 255, 0, 10}});
  ExpectNear(RunOp("qnn.quantize", {x, {{}, {2}}, Number(-3, DataType::kInt8)}),
             {{6}, {-3, -1, -3, 127, -128, -3}});
  const auto wide =
      RunOp("qnn.quantize", {{{2}, {1e6, -1e6}}, {{}, {1}}, Number(0, DataType::kInt8)});
  ExpectNear(wide, {{2}, {127, -128}});
}

TEST(QnnScaleTest, ParametersAreNumbersVectorsOrBroadcast) {
  const TestTensor q = {{2, 2}, {1, 2, 3, 4}, DataType::kInt8};
  const TestTensor zero = Number(0, DataType::kInt8);
  const TestTensor zeros = {{2}, {1, 0}, DataType::kInt8};
  const ir::Attrs rows = {{"axis", int64_t{0}}};
  ExpectNear(RunOp("qnn.dequantize", {q, {{2}, {1, 10}}, zeros}, rows), {{2, 2}, {0, 1, 30, 40}});
  ExpectNear(RunOp("qnn.dequantize", {q, {{2}, {1, 10}}, zero}), {{2, 2}, {1, 20, 3, 40}});
  ExpectNear(RunOp("qnn.dequantize", {q, {{2, 1}, {1, 10}}, zero}), {{2, 2}, {1, 2, 30, 40}});
  EXPECT_THAT(
      InferenceError("qnn.dequantize",
                     {{{2, 2}, DataType::kInt8}, {{3}, DataType::kFloat32}, {{}, DataType::kInt8}}),
      HasSubstr("operand scale: expected a number, a vector along axis 1"));
  EXPECT_THAT(
      InferenceError("qnn.dequantize",
                     {{{2, 2}, DataType::kInt8}, {{}, DataType::kFloat32}, {{}, DataType::kUInt8}}),
      HasSubstr("operand zero_point: expected int8 as the data"));
}

TEST(QnnScaleTest, RequantizeScalesSums) {
  const TestTensor sums = {{1, 2}, {1000, -37}, DataType::kInt32};
  ExpectNear(RunOp("qnn.requantize", {sums, {{2}, {0.01, 0.5}}, Number(5, DataType::kUInt8)}),
             {{1, 2}, {15, 0}});
}

TEST(QnnConvTest, PadsWithTheZeroPoint) {
  const TestTensor x = RandomTensor({1, 4, 5, 5}, 1, DataType::kUInt8, 0, 256);
  const TestTensor w = RandomTensor({6, 2, 3, 3}, 2, DataType::kInt8, -128, 128);
  const TestTensor zw = {{6}, {0, 1, -2, 3, -4, 5}, DataType::kInt8};
  const auto found = RunOp("qnn.conv2d", {x, w, Number(7, DataType::kUInt8), zw},
                           {{"padding", Ints{1, 1, 1, 1}}, {"groups", int64_t{2}}});
  ExpectNear(found, Generate({1, 6, 5, 5}, [&](const Index& i) {
               double sum = 0;
               for (int64_t t = 0; t < 18; ++t) {
                 const int64_t c = t / 9;
                 const int64_t y = i[2] + t % 9 / 3 - 1;
                 const int64_t z = i[3] + t % 3 - 1;
                 if (y < 0 || y > 4 || z < 0 || z > 4) continue;
                 sum += (x.At({0, i[1] / 3 * 2 + c, y, z}) - 7) *
                        (w.At({i[1], c, t % 9 / 3, t % 3}) - zw.At({i[1]}));
               }
               return sum;
             }));
  EXPECT_EQ(found->dtype, DataType::kInt32);
}

TEST(QnnDenseTest, SubtractsZeroPointsByRowAndColumn) {
  const TestTensor a = RandomTensor({3, 7}, 1, DataType::kUInt8, 0, 256);
  const TestTensor b = RandomTensor({4, 7}, 2, DataType::kInt8, -128, 128);
  const TestTensor za = {{3}, {1, 128, 255}, DataType::kUInt8};
  const TestTensor zb = {{4}, {0, 5, -5, 127}, DataType::kInt8};
  ExpectNear(RunOp("qnn.dense", {a, b, za, zb}), Generate({3, 4}, [&](const Index& i) {
               double sum = 0;
               for (int64_t k = 0; k < 7; ++k) {
                 sum += (a.At({i[0], k}) - za.At({i[0]})) * (b.At({i[1], k}) - zb.At({i[1]}));
               }
               return sum;
             }));
  EXPECT_THAT(InferenceError("qnn.batch_matmul", {{{2, 3, 4}, DataType::kUInt8},
                                                  {{2, 5, 4}, DataType::kInt8},
                                                  {{3}, DataType::kUInt8},
                                                  {{}, DataType::kInt8}}),
              HasSubstr("operand data_zero_point: expected a number of type uint8"));
}

}  // namespace
}  // namespace hone::ops
