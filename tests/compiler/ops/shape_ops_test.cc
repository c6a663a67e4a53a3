#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/compiler/ops/op_runner.h"

namespace hone::ops {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

TestTensor SameOrder(const TestTensor& x, Ints shape) { return {std::move(shape), x.values}; }

TEST(ReshapeTest, KeepsTheRowMajorOrder) {
  const TestTensor x = RandomTensor({2, 3, 4, 5}, 1);
  const std::pair<Ints, Ints> cases[] = {
      {{120}, {120}},           {{6, 20}, {6, 20}},           {{2, -1, 5}, {2, 12, 5}},
      {{0, 0, 20}, {2, 3, 20}}, {{3, 2, 5, 4}, {3, 2, 5, 4}}, {{1, 2, 1, 60, 1}, {1, 2, 1, 60, 1}},
      {{8, 15}, {8, 15}}};
  for (const auto& [asked, shape] : cases) {
    ExpectNear(RunOp("reshape", {x}, {{"newshape", asked}}), SameOrder(x, shape), 0);
  }
  ExpectNear(RunOp("nn.batch_flatten", {x}), SameOrder(x, {2, 60}), 0);
  ExpectNear(RunOp("reshape", {RandomTensor({1, 1}, 7)}, {{"newshape", Ints{}}}),
             SameOrder(RandomTensor({1, 1}, 7), {}), 0);
  EXPECT_EQ(
      InferenceError("reshape", {{{2, 3}, DataType::kFloat32}}, {{"newshape", Ints{4, -1}}}),
      "reshape: operand data: expected the elements of newshape=(4, -1), found Tensor[(2, 3), "
      "float32]");
  EXPECT_THAT(InferenceError("reshape", {{{2, 3}, DataType::kFloat32}}),
              HasSubstr("attribute newshape is missing"));
}

TEST(SqueezeTest, DropsAxesOfOne) {
  const TestTensor x = RandomTensor({1, 3, 1, 2}, 1);
  ExpectNear(RunOp("squeeze", {x}), SameOrder(x, {3, 2}), 0);
  ExpectNear(RunOp("squeeze", {x}, {{"axis", Ints{-2}}}), SameOrder(x, {1, 3, 2}), 0);
  ExpectNear(RunOp("expand_dims", {x}, {{"axis", int64_t{2}}, {"num_newaxis", int64_t{2}}}),
             SameOrder(x, {1, 3, 1, 1, 1, 2}), 0);
  EXPECT_THAT(InferenceError("squeeze", {{{2, 3}, DataType::kFloat32}}, {{"axis", Ints{0}}}),
              HasSubstr("expected extent 1 on axis 0"));
}

TEST(TransposeTest, PermutesAxes) {
  const TestTensor x = RandomTensor({2, 3, 4}, 1);
  ExpectNear(RunOp("transpose", {x}, {{"axes", Ints{2, 0, 1}}}),
             Generate({4, 2, 3}, [&](const Index& i) { return x.At({i[1], i[2], i[0]}); }), 0);
  ExpectNear(RunOp("transpose", {x}),
             Generate({4, 3, 2}, [&](const Index& i) { return x.At({i[2], i[1], i[0]}); }), 0);
  EXPECT_THAT(InferenceError("transpose", {{{2, 3}, DataType::kFloat32}}, {{"axes", Ints{0, 0}}}),
              HasSubstr("attribute axes: expected each axis of the data once, found (0, 0)"));
}

TEST(LayoutTransformTest, IsTheIdentityOnLogicalValues) {
  const TestTensor x = RandomTensor({1, 5, 2, 2}, 1);
  ExpectNear(RunOp("layout_transform", {x},
                   {{"src_layout", std::string("NCHW")}, {"dst_layout", std::string("NCHW4c")}}),
             x, 0);
  EXPECT_THAT(InferenceError("layout_transform", {{{1, 5}, DataType::kFloat32}},
                             {{"dst_layout", std::string("NCHW")}}),
              HasSubstr("attribute dst_layout: expected a layout of the axes NC, found NCHW"));
}

TEST(ConcatenateTest, JoinsInOrder) {
  const TestTensor a = RandomTensor({2, 3, 2}, 1);
  const TestTensor b = RandomTensor({2, 1, 2}, 2);
  const TestTensor c = RandomTensor({2, 4, 2}, 3);
  ExpectNear(RunOp("concatenate", {a, b, c}, {{"axis", int64_t{1}}}),
             Generate({2, 8, 2},
                      [&](const Index& i) {
                        if (i[1] < 3) return a.At(i);
                        if (i[1] < 4) return b.At({i[0], 0, i[2]});
                        return c.At({i[0], i[1] - 4, i[2]});
                      }),
             0);
  const auto bad = RunOp("concatenate", {a, RandomTensor({2, 1, 3}, 2)}, {{"axis", int64_t{1}}});
  EXPECT_THAT(std::string(bad.status().message()),
              HasSubstr("operand data.1: expected Tensor[(2, 3, 2), float32] but for axis 1"));
}

TEST(StridedSliceTest, FollowsNumpy) {
  const TestTensor x = RandomTensor({5, 6}, 1);
  ExpectNear(RunOp("strided_slice", {x},
                   {{"begin", Ints{1, 5}}, {"end", Ints{100, 0}}, {"strides", Ints{2, -2}}}),
             Generate({2, 3}, [&](const Index& i) { return x.At({1 + 2 * i[0], 5 - 2 * i[1]}); }),
             0);
  ExpectNear(RunOp("strided_slice", {x},
                   {{"begin", Ints{-2}}, {"end", Ints{INT64_MAX}}, {"axes", Ints{-1}}}),
             Generate({5, 2}, [&](const Index& i) { return x.At({i[0], 4 + i[1]}); }), 0);
  ExpectNear(RunOp("strided_slice", {x},
                   {{"begin", Ints{-1}}, {"end", Ints{INT64_MIN}}, {"strides", Ints{-1}}}),
             Generate({5, 6}, [&](const Index& i) { return x.At({4 - i[0], i[1]}); }), 0);
  EXPECT_THAT(InferenceError("strided_slice", {{{5}, DataType::kFloat32}},
                             {{"begin", Ints{0}}, {"end", Ints{1}}, {"strides", Ints{0}}}),
              HasSubstr("attribute strides: expected steps other than 0 and -9223372036854775808"));
}

TEST(PadTest, ConstantEdgeAndReflect) {
  const TestTensor x = RandomTensor({3, 4}, 1);
  const Ints widths = {1, 2, 0, 3};
  const auto padded = [&](auto pick) {
    return Generate({6, 7}, [&](const Index& i) { return pick(i[0] - 1, i[1]); });
  };
  ExpectNear(
      RunOp("nn.pad", {x}, {{"pad_width", widths}, {"pad_value", 1.5}}),
      padded([&](int64_t r, int64_t c) { return r >= 0 && r < 3 && c < 4 ? x.At({r, c}) : 1.5; }),
      0);
  ExpectNear(RunOp("nn.pad", {x}, {{"pad_width", widths}, {"pad_mode", std::string("edge")}}),
             padded([&](int64_t r, int64_t c) {
               return x.At({std::clamp<int64_t>(r, 0, 2), std::min<int64_t>(c, 3)});
             }),
             0);
  ExpectNear(RunOp("nn.pad", {x}, {{"pad_width", widths}, {"pad_mode", std::string("reflect")}}),
             padded([&](int64_t r, int64_t c) {
               const int64_t row = r < 0 ? -r : r > 2 ? 4 - r : r;
               return x.At({row, c > 3 ? 6 - c : c});
             }),
             0);
}

TEST(TakeTest, GathersAlongAnAxis) {
  const TestTensor x = RandomTensor({2, 5, 3}, 1);
  TestTensor indices = {{2, 2}, {4, -1, 0, -5}, DataType::kInt64};
  ExpectNear(RunOp("take", {x, indices}, {{"axis", int64_t{1}}}),
             Generate({2, 2, 2, 3},
                      [&](const Index& i) {
                        const auto at = static_cast<int64_t>(indices.At({i[1], i[2]}));
                        return x.At({i[0], at < 0 ? at + 5 : at, i[3]});
                      }),
             0);
}

}  // namespace
}  // namespace hone::ops
