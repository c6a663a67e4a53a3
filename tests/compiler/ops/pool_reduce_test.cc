#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/compiler/ops/op_runner.h"

namespace hone::ops {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

struct PoolCase {
  const char* name;
  Ints data, taps, strides, padding, dilation;
  bool ceil_mode, count_padding;
  Ints expected_shape;
};

void PrintTo(const PoolCase& c, std::ostream* out) { *out << c.name; }

// Walks the window of a result element; `outside` counts taps in the padding.
struct Taps {
  std::vector<double> inside;
  int64_t padding = 0;
};
Taps Window(const PoolCase& c, const TestTensor& data, const Index& at) {
  Taps taps;
  Generate(c.taps, [&](const Index& tap) {
    Index in = {at[0], at[1]};
    bool inside = true;
    bool padded = true;
    for (size_t i = 0; i < 2; ++i) {
      const int64_t p = at[2 + i] * c.strides[i] + tap[i] * c.dilation[i] - c.padding[i];
      inside = inside && p >= 0 && p < c.data[2 + i];
      padded = padded && p >= -c.padding[i] && p < c.data[2 + i] + c.padding[2 + i];
      in.push_back(p);
    }
    if (inside) taps.inside.push_back(data.At(in));
    if (!inside && padded) ++taps.padding;
    return 0.0;
  });
  return taps;
}

class PoolTest : public testing::TestWithParam<PoolCase> {};

TEST_P(PoolTest, MaxAndAverageEqualTheirDefinitions) {
  const PoolCase& c = GetParam();
  const TestTensor data = RandomTensor(c.data, 1, DataType::kFloat32, -5, -1);
  ir::Attrs attrs = {{"pool_size", c.taps},
                     {"strides", c.strides},
                     {"padding", c.padding},
                     {"dilation", c.dilation},
                     {"ceil_mode", c.ceil_mode}};
  ExpectNear(RunOp("nn.max_pool2d", {data}, attrs),
             Generate(c.expected_shape, [&](const Index& at) {
               double max = -std::numeric_limits<double>::infinity();
               for (const double v : Window(c, data, at).inside) max = std::max(max, v);
               return max;
             }));
  attrs["count_include_pad"] = c.count_padding;
  ExpectNear(RunOp("nn.avg_pool2d", {data}, attrs),
             Generate(c.expected_shape, [&](const Index& at) {
               const Taps taps = Window(c, data, at);
               double sum = 0;
               for (const double v : taps.inside) sum += v;
               const int64_t padding = c.count_padding ? taps.padding : 0;
               return sum / static_cast<double>(taps.inside.size() + padding);
             }));
}

INSTANTIATE_TEST_SUITE_P(
    Windows, PoolTest,
    testing::Values(
        PoolCase{"plain",
                 {1, 2, 6, 6},
                 {2, 2},
                 {2, 2},
                 {0, 0, 0, 0},
                 {1, 1},
                 false,
                 false,
                 {1, 2, 3, 3}},
        PoolCase{"padded",
                 {1, 2, 7, 6},
                 {3, 3},
                 {2, 2},
                 {1, 1, 1, 1},
                 {1, 1},
                 false,
                 false,
                 {1, 2, 4, 3}},
        PoolCase{"padding_counts",
                 {1, 2, 7, 6},
                 {3, 3},
                 {2, 2},
                 {1, 1, 1, 1},
                 {1, 1},
                 false,
                 true,
                 {1, 2, 4, 3}},
        PoolCase{
            "ceil", {1, 1, 6, 6}, {3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1}, true, false, {1, 1, 3, 3}},
        PoolCase{"ceil_counts",
                 {1, 1, 6, 6},
                 {3, 3},
                 {2, 2},
                 {1, 1, 1, 1},
                 {1, 1},
                 true,
                 true,
                 {1, 1, 4, 4}},
        PoolCase{"ceil_drops_windows_in_the_padding",
                 {1, 1, 5, 5},
                 {1, 1},
                 {3, 3},
                 {0, 0, 1, 1},
                 {1, 1},
                 true,
                 false,
                 {1, 1, 2, 2}},
        PoolCase{"dilated",
                 {1, 1, 8, 8},
                 {2, 3},
                 {1, 1},
                 {1, 2, 0, 1},
                 {3, 2},
                 false,
                 false,
                 {1, 1, 6, 7}},
        PoolCase{"uneven",
                 {2, 3, 5, 4},
                 {2, 2},
                 {1, 2},
                 {0, 1, 1, 0},
                 {1, 1},
                 false,
                 false,
                 {2, 3, 5, 2}}),
    [](const auto& info) { return info.param.name; });

TEST(GlobalPoolTest, CoversAllSpatialAxes) {
  const TestTensor x = RandomTensor({2, 3, 4, 5}, 1);
  const auto over = [&](bool average) {
    return Generate({2, 3, 1, 1}, [&](const Index& at) {
      double sum = 0;
      double max = -9;
      for (int64_t i = 0; i < 20; ++i) {
        const double v = x.At({at[0], at[1], i / 5, i % 5});
        sum += v / 20;
        max = std::max(max, v);
      }
      return average ? sum : max;
    });
  };
  ExpectNear(RunOp("nn.global_avg_pool2d", {x}), over(true));
  ExpectNear(RunOp("nn.global_max_pool2d", {x}), over(false));
}

TEST(SoftmaxTest, SumsToOneAlongItsAxis) {
  const TestTensor x = RandomTensor({2, 5, 3}, 1, DataType::kFloat32, -30, 30);
  const auto denominator = [&](const Index& i) {
    double sum = 0;
    for (int64_t c = 0; c < 5; ++c) sum += std::exp(x.At({i[0], c, i[2]}) - x.At(i));
    return sum;
  };
  const ir::Attrs attrs = {{"axis", int64_t{1}}};
  ExpectNear(RunOp("nn.softmax", {x}, attrs),
             Generate(x.shape, [&](const Index& i) { return 1 / denominator(i); }));
  ExpectNear(RunOp("nn.log_softmax", {x}, attrs),
             Generate(x.shape, [&](const Index& i) { return -std::log(denominator(i)); }));
  EXPECT_THAT(InferenceError("nn.softmax", {{{2, 5}, DataType::kFloat32}}, {{"axis", int64_t{2}}}),
              HasSubstr("nn.softmax: attribute axis: expected an axis in [-2, 2), found 2"));
}

// A mask of -100 would leave subnormal shares, and one of -85 some.
TEST(SoftmaxTest, HasNoSubnormalShares) {
  TestTensor x = RandomTensor({200, 64}, 1, DataType::kFloat32, -1, 1);
  for (int64_t row = 0; row < 200; ++row) {
    for (int64_t i = 0; i < 64; i += 2) x.values[x.Offset({row, i})] -= 75 + 0.16 * row;
  }
  const TestTensor shares = RunOp("nn.softmax", {x}, {}).value();
  int zeros = 0;
  for (const double share : shares.values) {
    EXPECT_TRUE(share == 0 || share >= std::numeric_limits<float>::min()) << share;
    zeros += share == 0 ? 1 : 0;
  }
  EXPECT_GT(zeros, 3000);
  EXPECT_LT(zeros, 6000);  // of the 6400 masked
  x.dtype = DataType::kFloat64;
  EXPECT_THAT(RunOp("nn.softmax", {x}, {}).value().values, testing::Each(testing::Gt(0)));
}

TEST(SoftmaxTest, HandsNanOnAndTakesMasksForZero) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const TestTensor x = {
      {3, 3}, {1, std::nan(""), 2, 1, -kInf, -1e9, -kInf, -kInf, -kInf}, DataType::kFloat32};
  const TestTensor y = RunOp("nn.softmax", {x}, {}).value();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::isnan(y.values[i]));
    EXPECT_EQ(y.values[3 + i], i == 0 ? 1 : 0);
    EXPECT_TRUE(std::isnan(y.values[6 + i]));
  }
}

TEST(ReduceTest, OverAnyAxesKeptOrNot) {
  const TestTensor x = RandomTensor({2, 3, 4}, 1);
  ExpectNear(RunOp("sum", {x}, {{"axis", Ints{-1, 0}}}), Generate({3}, [&](const Index& i) {
               double sum = 0;
               for (int64_t k = 0; k < 8; ++k) sum += x.At({k / 4, i[0], k % 4});
               return sum;
             }));
  ExpectNear(RunOp("mean", {x}, {{"axis", Ints{1}}, {"keepdims", true}}),
             Generate({2, 1, 4}, [&](const Index& i) {
               return (x.At({i[0], 0, i[2]}) + x.At({i[0], 1, i[2]}) + x.At({i[0], 2, i[2]})) / 3;
             }));
  ExpectNear(RunOp("max", {x}), {{}, {*std::max_element(x.values.begin(), x.values.end())}});
  ExpectNear(RunOp("min", {x}, {{"axis", Ints{1}}, {"exclude", true}}),
             Generate({3}, [&](const Index& i) {
               double min = 9;
               for (int64_t k = 0; k < 8; ++k) min = std::min(min, x.At({k / 4, i[0], k % 4}));
               return min;
             }));
  ExpectNear(RunOp("prod", {x}, {{"axis", Ints{2}}}), Generate({2, 3}, [&](const Index& i) {
               double product = 1;
               for (int64_t k = 0; k < 4; ++k) product *= x.At({i[0], i[1], k});
               return product;
             }));
}

TEST(DenseTest, MultipliesByTheTransposedWeight) {
  const TestTensor x = RandomTensor({3, 7}, 1);
  const TestTensor w = RandomTensor({4, 7}, 2);
  ExpectNear(RunOp("nn.dense", {x, w}), Generate({3, 4}, [&](const Index& i) {
               double sum = 0;
               for (int64_t k = 0; k < 7; ++k) sum += x.At({i[0], k}) * w.At({i[1], k});
               return sum;
             }));
  EXPECT_THAT(
      InferenceError("nn.dense", {{{3, 7}, DataType::kFloat32}, {{4, 6}, DataType::kFloat32}}),
      HasSubstr("operand weight: expected float32 with a last extent of 7, found"));
}

TEST(BatchMatmulTest, MultipliesSliceBySlice) {
  const TestTensor a = RandomTensor({2, 3, 5}, 1);
  const TestTensor b = RandomTensor({2, 4, 5}, 2);
  ExpectNear(RunOp("nn.batch_matmul", {a, b}), Generate({2, 3, 4}, [&](const Index& i) {
               double sum = 0;
               for (int64_t k = 0; k < 5; ++k) sum += a.At({i[0], i[1], k}) * b.At({i[0], i[2], k});
               return sum;
             }));
}

}  // namespace
}  // namespace hone::ops
