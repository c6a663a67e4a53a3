// Transposed convolutions, pools with indices, col2im, resampling, grid sampling.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ops/lower.h"
#include "fmt/format.h"
#include "support/random.h"
#include "tests/compiler/ops/op_runner.h"

namespace hone::ops {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

TEST(ConvTransposeTest, IsTheSumOfScaledKernels) {
  const TestTensor x = RandomTensor({2, 4, 3, 5}, 1);
  const TestTensor w = RandomTensor({4, 3, 3, 2}, 2);
  constexpr int64_t kGroups = 2;
  constexpr int64_t kHeight = 2 * 2 + 2 * 2 + 1 + 1 - 1;  // output padding 1, padding 1 and 0
  constexpr int64_t kWidth = 4 * 3 + 1 + 1 - 1;
  TestTensor y = Generate({2, 6, kHeight, kWidth}, [](const Index&) { return 0.0; });
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 4; ++c)
      for (int64_t m = 0; m < 3; ++m)
        for (int64_t i = 0; i < 3; ++i)
          for (int64_t j = 0; j < 5; ++j)
            for (int64_t a = 0; a < 3; ++a)
              for (int64_t b = 0; b < 2; ++b) {
                const int64_t row = i * 2 + a * 2 - 1;
                const int64_t column = j * 3 + b - 0;
                if (row < 0 || row >= kHeight || column >= kWidth) continue;
                y.values[y.Offset({n, c / 2 * 3 + m, row, column})] +=
                    x.At({n, c, i, j}) * w.At({c, m, a, b});
              }
  ExpectNear(RunOp("nn.conv2d_transpose", {x, w},
                   {{"strides", Ints{2, 3}},
                    {"padding", Ints{1, 0, 0, 1}},
                    {"dilation", Ints{2, 1}},
                    {"output_padding", Ints{1, 0}},
                    {"groups", kGroups}}),
             y);
}

size_t LaunchesOfTransposed(int taps, const std::string& numerics) {
  const absl::StatusOr<KernelDefinition> def = LowerWorkload(
      fmt::format("fn (p0: Tensor[(1, 1, 2), float32], const p1: Tensor[(1, 1, {}), float32]) {{ "
                  "nn.conv1d_transpose(p0, p1, strides=[2]) }} accumulate=float32 numerics={}",
                  taps, numerics));
  EXPECT_TRUE(def.ok()) << def.status();
  return def.ok() ? def->naive.launches.size() : 0;
}

// A tap that is made up has the value zero, and zero times infinity is no number.
TEST(ConvTransposeTest, StrictNumericsMakeNoTapsUp) {
  const size_t padded_data = LaunchesOfTransposed(4, "strict");
  EXPECT_EQ(LaunchesOfTransposed(4, "default"), padded_data);
  EXPECT_GT(LaunchesOfTransposed(3, "default"), LaunchesOfTransposed(3, "strict"));
}

// Strides that divide the taps and that do not, dilations, strides beyond the taps.
TEST(ConvTransposeTest, OfAnyWindowIsTheSumOfScaledKernels) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto any = [&](int64_t least, int64_t count) {
      return least + static_cast<int64_t>(random.Below(static_cast<uint64_t>(count)));
    };
    const int64_t groups = any(1, 2), in = any(1, 3), out = any(1, 3), taps = any(1, 5);
    const int64_t stride = any(1, 4), dilation = any(1, 2), extra = any(0, 3), size = any(1, 5);
    const int64_t before = any(0, taps), after = any(0, taps);
    const int64_t length = (size - 1) * stride + dilation * (taps - 1) + 1 + extra - before - after;
    if (length < 1) continue;
    const TestTensor x = RandomTensor({2, groups * in, size}, seed + 1);
    const TestTensor w = RandomTensor({groups * in, out, taps}, seed + 2);
    TestTensor y = Generate({2, groups * out, length}, [](const Index&) { return 0.0; });
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t c = 0; c < groups * in; ++c)
        for (int64_t m = 0; m < out; ++m)
          for (int64_t i = 0; i < size; ++i)
            for (int64_t k = 0; k < taps; ++k) {
              const int64_t at = i * stride + k * dilation - before;
              if (at < 0 || at >= length) continue;
              y.values[y.Offset({n, c / in * out + m, at})] += x.At({n, c, i}) * w.At({c, m, k});
            }
    ExpectNear(RunOp("nn.conv1d_transpose", {x, w},
                     {{"strides", Ints{stride}},
                      {"padding", Ints{before, after}},
                      {"dilation", Ints{dilation}},
                      {"output_padding", Ints{extra}},
                      {"groups", groups}}),
               y);
    if (HasFailure()) FAIL() << seed;
  }
}

TEST(MaxPoolIndicesTest, PointIntoTheWholeTensor) {
  const TestTensor x = {{1, 2, 2, 3}, {1, 5, 5, 2, 0, 3, -1, -2, -3, -4, -5, -6}};
  const ir::Attrs rows = {{"pool_size", Ints{2, 2}}};
  const TestTensor expected = {{1, 2, 1, 2}, {1, 1, 6, 7}, DataType::kInt64};
  ExpectNear(RunOp("nn.max_pool2d_indices", {x}, rows), expected, 0);
  ir::Attrs columns = rows;
  columns["column_major"] = true;
  const TestTensor by_column = {{1, 2, 1, 2}, {2, 2, 6, 8}, DataType::kInt64};
  ExpectNear(RunOp("nn.max_pool2d_indices", {x}, columns), by_column, 0);
}

TEST(MaxPoolIndicesTest, PaddingIsNeverTheMaximum) {
  const TestTensor x = {{1, 1, 2}, {-INFINITY, -INFINITY}};
  const TestTensor expected = {{1, 1, 3}, {0, 0, 1}, DataType::kInt64};
  ExpectNear(RunOp("nn.max_pool1d_indices", {x}, {{"pool_size", Ints{2}}, {"padding", Ints{1, 1}}}),
             expected, 0);
}

TEST(LpPoolTest, IsTheNormOfEachWindow) {
  const TestTensor x = {{1, 1, 3}, {3, -4, 12}};
  ExpectNear(RunOp("nn.lp_pool1d", {x}, {{"pool_size", Ints{2}}, {"padding", Ints{1, 0}}}),
             {{1, 1, 3}, {3, 5, std::sqrt(160.0)}});
  ExpectNear(RunOp("nn.lp_pool1d", {x}, {{"pool_size", Ints{2}}, {"p", int64_t{1}}}),
             {{1, 1, 2}, {7, 16}});
  ExpectNear(RunOp("nn.lp_pool1d", {x}, {{"pool_size", Ints{3}}, {"p", int64_t{3}}}),
             {{1, 1, 1}, {std::cbrt(27.0 + 64 + 1728)}});
}

TEST(Col2ImTest, SumsWhatOverlaps) {
  const TestTensor x = RandomTensor({1, 4, 9}, 1);
  TestTensor y = Generate({1, 1, 4, 4}, [](const Index&) { return 0.0; });
  for (int64_t a = 0; a < 2; ++a)
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 3; ++j)
          y.values[y.Offset({0, 0, i + a, j + b})] += x.At({0, a * 2 + b, i * 3 + j});
  ExpectNear(RunOp("col2im", {x}, {{"image_shape", Ints{4, 4}}, {"block_shape", Ints{2, 2}}}), y);
  EXPECT_THAT(InferenceError("col2im", {{{1, 4, 8}, DataType::kFloat32}},
                             {{"image_shape", Ints{4, 4}}, {"block_shape", Ints{2, 2}}}),
              HasSubstr("9 positions"));
}

TEST(ResampleTest, WeighsThePositionsNamed) {
  const TestTensor x = RandomTensor({2, 4, 3}, 1);
  const TestTensor indices = {{2, 2}, {0, 3, -1, 99}, DataType::kInt64};
  const TestTensor weights = {{2, 2}, {0.25, 0.75, 2, 1}};
  ExpectNear(RunOp("resample", {x, indices, weights}, {{"axis", int64_t{1}}}),
             Generate({2, 2, 3}, [&](const Index& i) {
               return i[1] == 0 ? 0.25 * x.At({i[0], 0, i[2]}) + 0.75 * x.At({i[0], 3, i[2]})
                                : 3 * x.At({i[0], 3, i[2]});
             }));
}

TEST(GridSampleTest, CornersAndWhatIsBeyondThem) {
  const TestTensor x = {{1, 1, 2, 2}, {1, 2, 3, 4}};
  // x, y: the centre, the upper left corner, far outside, not a number.
  const TestTensor grid = {{1, 1, 4, 2}, {0, 0, -1, -1, 9, 9, NAN, NAN}};
  const auto sample = [&](const char* padding, bool align) {
    return RunOp("nn.grid_sample", {x, grid},
                 {{"padding_mode", std::string(padding)}, {"align_corners", align}});
  };
  EXPECT_NEAR(sample("zeros", true)->values[0], 2.5, 1e-6);
  EXPECT_NEAR(sample("zeros", true)->values[1], 1, 1e-6);
  EXPECT_NEAR(sample("zeros", false)->values[1], 0.25, 1e-6);
  EXPECT_NEAR(sample("zeros", false)->values[2], 0, 1e-6);
  EXPECT_NEAR(sample("border", false)->values[2], 4, 1e-6);
  EXPECT_NEAR(sample("reflection", true)->values[2], 4, 1e-6);
}

TEST(RoiAlignTest, AdaptiveSamplesOfAConstantAreTheConstant) {
  const TestTensor x = Generate({1, 2, 6, 6}, [](const Index& i) { return 1.0 + i[1]; });
  const TestTensor rois = {{2, 4}, {1, 1, 4, 5, 0, 0, 2, 2}};
  const TestTensor batch = {{2}, {0, 0}, DataType::kInt64};
  for (const char* const mode : {"avg", "max"}) {
    const auto y = RunOp("nn.roi_align", {x, rois, batch},
                         {{"pooled_size", Ints{2, 3}}, {"mode", std::string(mode)}});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->shape, (Ints{2, 2, 2, 3}));
    if (std::string(mode) == "avg") {
      for (size_t i = 0; i < y->values.size(); ++i) {
        EXPECT_NEAR(y->values[i], 1.0 + i / 6 % 2, 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace hone::ops
