// Sampled windows against values of ONNX's reference evaluator (1.23) and of onnxruntime (1.31).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::HasSubstr;

void Expect(const OnnxMaker& maker, const std::vector<TensorData>& inputs,
            const TensorData& expected) {
  const auto module = ImportOnnxBytes(maker.Bytes());
  ASSERT_TRUE(module.ok()) << module.status();
  const auto outputs = RunModel(*module, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(Difference((*outputs)[0], expected), "");
}

// Two groups, of weights and of offsets, with padding, strides, bias and mask.
TEST(OnnxDeformConvTest, ReadsWhereItsOffsetsSay) {
  const TensorData x =
      FloatTensor({1, 4, 3, 4}, {1.25,  -1.75, -1.25, -1, -1.25, 1.25,  1.5,  0.25, -2,   -1.75,
                                 -0.75, -0.25, 0.5,   0,  -1,    -1.5,  0.75, 1,    -2,   -1.75,
                                 -0.25, -0.5,  1.75,  0,  -0.25, -0.25, 0.75, 0.25, -1.5, 1,
                                 1,     2,     1.25,  -1, -0.75, 0.75,  0.75, 0.75, 1.5,  -1,
                                 1.75,  -2,    -1.75, 2,  2,     -0.75, -1.5, -0.75});
  const TensorData weight =
      FloatTensor({4, 2, 2, 2}, {-2,  1.75, 0.75, 0.25,  -1,    0,   -1.25, 1.25, 0,    -2,   -1,
                                 1,   0,    -0.5, -1,    -1.75, 0.5, 0.75,  0,    1.75, 1.75, -1.25,
                                 0.5, 0.5,  -1,   -0.75, 0,     1,   -1,    1,    0.75, -1.25});
  const TensorData offset = FloatTensor(
      {1, 16, 3, 2},
      {-0.25, 1,     1,     0.5,   -1.5,  0.5,  -1,    1,     1.25, -0.25, 1.5,   0.75,
       -0.5,  1.25,  -0.5,  -1.25, 0.25,  1.25, 0.5,   -0.25, 1.25, 0,     -0.25, -1.25,
       -1,    0.75,  1,     -0.75, 0.5,   1.25, -1.25, -0.75, 0,    0.25,  -0.25, -0.25,
       -1.25, 0.25,  1.5,   -1,    1,     -1,   -1.5,  0.75,  -1,   0.75,  -0.5,  0.25,
       1.5,   1.25,  0,     -1,    -0.75, 1.25, 0.25,  -1,    1.25, 1.5,   1.5,   0.5,
       1.5,   0.25,  0,     1.5,   0.25,  1,    -0.5,  1,     1.5,  -1.5,  0,     -0.5,
       -1.5,  -1.25, -0.75, -1,    0.75,  -1,   0.5,   1.25,  0,    -1.25, -1.5,  -0.75,
       -0.25, 0,     -0.75, 1.25,  0.25,  1.5,  1.5,   0.75,  -1.5, -1,    0.75,  0.25});
  const TensorData bias = FloatTensor({4}, {2, 1, 1.25, -2});
  const TensorData mask = FloatTensor(
      {1, 8, 3, 2},
      {0.25, 0.75, 0.75, 0.25, 0,    0.5,  0, 0.75, 1,    0.75, 0,   0.5,  0.25, 0.5,  0.75, 0,
       0,    0.5,  0.75, 0,    1,    0.5,  1, 0.5,  0.75, 0.75, 0.5, 0.25, 0.75, 0,    0.75, 0.5,
       0,    0.25, 0,    0.75, 0.75, 0.25, 1, 0.25, 0.25, 1,    0,   0.25, 0,    0.25, 0.75, 0.25});
  OnnxMaker maker(19);
  maker.Input("x", x.shape)
      .Initializer("w", weight)
      .Input("offset", offset.shape)
      .Initializer("b", bias)
      .Input("mask", mask.shape)
      .Node("DeformConv", {"x", "w", "offset", "b", "mask"}, {"y"})
      .Int("group", 2)
      .Int("offset_group", 2)
      .Ints("pads", {1, 0, 0, 0})
      .Ints("strides", {1, 2})
      .Output("y");
  Expect(maker, {x, offset, mask},
         FloatTensor({1, 4, 3, 2}, {2,        3.90234, -2.49219, 1.96875,  2,        0.796875,
                                    1,        2.18945, 3.375,    1.20312,  1,        2.76953,
                                    1.63086,  1.35156, 2.57031,  1.4375,   0.737305, 1.33594,
                                    -1.78906, -2,      -1.71875, -2.03516, -2.14355, -4.29688}));
}

TEST(OnnxDeformConvTest, WithoutOffsetsItIsAConvolution) {
  const TensorData x = FloatTensor({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  OnnxMaker maker(19);
  maker.Input("x", x.shape)
      .Initializer("w", FloatTensor({1, 1, 2, 2}, {1, 10, 100, 1000}))
      .Initializer("offset", FloatTensor({1, 8, 2, 2}, std::vector<float>(32, 0)))
      .Node("DeformConv", {"x", "w", "offset"}, {"y"})
      .Output("y");
  Expect(maker, {x}, FloatTensor({1, 1, 2, 2}, {5421, 6532, 8754, 9865}));
}

TEST(OnnxDeformConvTest, OffsetsOfAnotherShapeAreNamed) {
  OnnxMaker maker(19);
  maker.Input("x", {1, 1, 3, 3})
      .Initializer("w", FloatTensor({1, 1, 2, 2}, {1, 2, 3, 4}))
      .Input("offset", {1, 8, 3, 2})
      .Node("DeformConv", {"x", "w", "offset"}, {"y"})
      .Output("y");
  EXPECT_THAT(std::string(ImportOnnxBytes(maker.Bytes()).status().message()),
              HasSubstr("operand offset: expected float32 of shape (1, 8, 2, 2)"));
}

// Regions inside, over the border, of less than an element, and beyond the data.
TEST(OnnxMaxRoiPoolTest, TakesTheMaximumOfEachBin) {
  const TensorData x =
      FloatTensor({1, 2, 5, 6},
                  {7,  43, 51, 9,  13, 24, 22, 5,  44, 38, 26, 47, 16, 3,  48, 30, 36, 27, 20, 6,
                   54, 58, 55, 50, 34, 23, 40, 19, 45, 31, 14, 57, 11, 21, 12, 42, 52, 4,  10, 2,
                   29, 35, 0,  8,  37, 46, 25, 59, 39, 1,  32, 18, 53, 15, 56, 41, 28, 49, 17, 33});
  const TensorData rois =
      FloatTensor({5, 5}, {0,    0,    0, 5,  4,  0,   2,   1, 9,  7,  0,  3.1f, 2.9f,
                           3.4f, 3.2f, 0, -3, -2, 1.5, 2.5, 0, 20, 20, 30, 30});
  const TensorData whole = FloatTensor(
      {5, 2, 2, 3}, {43, 51, 47, 34, 58, 55, 57, 46, 59, 56, 49, 59, 58, 55, 0,  45, 45, 0, 53, 59,
                     0,  49, 33, 0,  58, 58, 58, 58, 58, 58, 18, 18, 18, 18, 18, 18, 0,  7, 51, 0,
                     22, 54, 0,  14, 57, 0,  52, 37, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0, 0,  0});
  const TensorData half =
      FloatTensor({5, 2, 2, 3},
                  {43, 51, 51, 22, 48, 48, 57, 57, 21, 52, 37, 46, 48, 48, 47, 54, 58, 55, 37, 46,
                   59, 41, 53, 53, 44, 44, 44, 48, 48, 48, 10, 10, 10, 37, 37, 37, 0,  7,  43, 0,
                   22, 43, 0,  14, 57, 0,  52, 57, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0});
  for (const bool halved : {false, true}) {
    OnnxMaker maker(13);
    maker.Input("x", x.shape)
        .Input("rois", rois.shape)
        .Node("MaxRoiPool", {"x", "rois"}, {"y"})
        .Ints("pooled_shape", {2, 3})
        .Float("spatial_scale", halved ? 0.5f : 1.0f)
        .Output("y");
    Expect(maker, {x, rois}, halved ? half : whole);
  }
}

}  // namespace
}  // namespace hone::frontend
