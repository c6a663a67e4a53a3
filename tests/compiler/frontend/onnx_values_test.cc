// Values that are easily wrong: no axes, NaN in order, positions that fall on a border, integers
// that no double is, functions near zero. Expected ones are those of the ONNX reference evaluator,
// and of onnxruntime where that says the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/compiler/frontend/one_node.h"

namespace hone::frontend {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::NanSensitiveFloatNear;
using testing::Pointwise;

void ExpectCloseFloats(const TensorData& found, const std::vector<float>& expected) {
  EXPECT_EQ(found.dtype, DataType::kFloat32);
  EXPECT_THAT(Floats(found), Pointwise(NanSensitiveFloatNear(1e-6f), expected));
}

TEST(ReduceOverNoAxesTest, DoesToEachElementWhatItDoesToOne) {
  const TensorData x = FloatTensor({2}, {-2, 3});
  const std::pair<const char*, std::vector<float>> expected[] = {
      {"ReduceL1", {2, 3}},         {"ReduceL2", {2, 3}},
      {"ReduceSumSquare", {4, 9}},  {"ReduceLogSum", {kNan, 1.0986123f}},
      {"ReduceLogSumExp", {-2, 3}}, {"ReduceSum", {-2, 3}},
      {"ReduceMean", {-2, 3}},      {"ReduceMax", {-2, 3}},
      {"ReduceMin", {-2, 3}},       {"ReduceProd", {-2, 3}}};
  for (const auto& [op, values] : expected) {
    SCOPED_TRACE(op);
    ExpectCloseFloats(OneNode(18, op, {x}).Int("noop_with_empty_axes", 1).Run()[0], values);
    const TensorData no_axes = IntTensor({0}, {});
    ExpectCloseFloats(OneNode(18, op, {x, no_axes}).Int("noop_with_empty_axes", 1).Run()[0],
                      values);
  }
}

TEST(ReduceOverNoAxesTest, OverflowsOnlyWhereItsResultDoes) {
  const TensorData x = FloatTensor({2}, {-1e30f, kInf});
  for (const char* op : {"ReduceL1", "ReduceL2"}) {
    EXPECT_THAT(Floats(OneNode(18, op, {x}).Int("noop_with_empty_axes", 1).Run()[0]),
                ElementsAre(1e30f, kInf))
        << op;
  }
}

TEST(NanOrderTest, TopKTakesNanForTheLargest) {
  const auto top = [](std::vector<float> values, int64_t k, int64_t largest) {
    const auto count = static_cast<int64_t>(values.size());
    return OneNode(11, "TopK", {FloatTensor({count}, values), IntTensor({1}, {k})}, 2)
        .Int("largest", largest)
        .Run();
  };
  const auto two = top({1, kNan, 9, 8}, 2, 1);
  ExpectCloseFloats(two[0], {kNan, 9});
  EXPECT_THAT(Ints(two[1]), ElementsAre(1, 2));
  const auto smallest = top({kNan, 1, 9}, 1, 0);
  ExpectCloseFloats(smallest[0], {1});
  EXPECT_THAT(Ints(smallest[1]), ElementsAre(1));
  const auto all = top({kNan, 1, kNan, 9}, 4, 0);
  ExpectCloseFloats(all[0], {1, 9, kNan, kNan});
  EXPECT_THAT(Ints(all[1]), ElementsAre(1, 3, 0, 2));
}

// Many positions are merged in sorted runs.
TEST(NanOrderTest, TopKOfManyTakesNanForTheLargest) {
  constexpr int64_t kCount = 40;
  std::vector<float> values;
  for (int64_t i = 0; i < kCount; ++i) {
    values.push_back(i % 7 == 3 ? kNan : static_cast<float>((i * 11) % kCount));
  }
  for (const bool largest : {true, false}) {
    std::vector<int64_t> order(kCount);
    for (int64_t i = 0; i < kCount; ++i) order[i] = i;
    const auto key = [&](int64_t i) {
      const float value = std::isnan(values[i]) ? 1000 : values[i];
      return largest ? -value : value;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return key(a) < key(b); });
    const auto found =
        OneNode(11, "TopK", {FloatTensor({kCount}, values), IntTensor({1}, {kCount})}, 2)
            .Int("largest", largest ? 1 : 0)
            .Run();
    EXPECT_THAT(Ints(found[1]), ElementsAreArray(order));
  }
}

TEST(NanOrderTest, WhatSelectsOneElementSelectsANan) {
  const TensorData x = FloatTensor({4}, {1, kNan, 9, kNan});
  ExpectCloseFloats(OneNode(18, "ReduceMax", {x}).Run()[0], {kNan});
  ExpectCloseFloats(OneNode(18, "ReduceMin", {x}).Run()[0], {kNan});
  for (const char* op : {"ArgMax", "ArgMin"}) {
    EXPECT_THAT(Ints(OneNode(13, op, {x}).Run()[0]), ElementsAre(1)) << op;
    EXPECT_THAT(Ints(OneNode(13, op, {x}).Int("select_last_index", 1).Run()[0]), ElementsAre(3))
        << op;
  }
  const TensorData y = FloatTensor({4}, {kNan, 1, 2, 3});
  ExpectCloseFloats(OneNode(13, "Max", {x, y}).Run()[0], {kNan, kNan, 9, kNan});
  ExpectCloseFloats(OneNode(13, "Min", {x, y}).Run()[0], {kNan, kNan, 2, kNan});
}

TEST(NanOrderTest, MaxPoolsNameThePlaceOfTheNanThatTheyGive) {
  const TensorData x = FloatTensor({1, 1, 6}, {1, kNan, kNan, 4, 5, 6});
  const auto pooled =
      OneNode(12, "MaxPool", {x}, 2).Ints("kernel_shape", {2}).Ints("strides", {2}).Run();
  ExpectCloseFloats(pooled[0], {kNan, kNan, 6});
  EXPECT_THAT(Ints(pooled[1]), ElementsAre(1, 2, 5));
}

TEST(NanOrderTest, NonMaxSuppressionSortsNanAsTopK) {
  const TensorData boxes =
      FloatTensor({1, 3, 4}, {0, 0, 1, 1, 0, 2, 1, 3, 0, 4, 1, 5});  // none covers another
  const TensorData scores = FloatTensor({1, 1, 3}, {0.5f, kNan, 0.9f});
  const TensorData most = IntTensor({1}, {3});
  const TensorData iou = FloatTensor({1}, {0.5f});
  EXPECT_THAT(Ints(OneNode(11, "NonMaxSuppression", {boxes, scores, most, iou}).Run()[0]),
              ElementsAre(0, 0, 1, 0, 0, 2, 0, 0, 0));
  // No NaN is above a threshold.
  const TensorData lowest = FloatTensor({1}, {0.1f});
  EXPECT_THAT(Ints(OneNode(11, "NonMaxSuppression", {boxes, scores, most, iou, lowest}).Run()[0]),
              ElementsAre(0, 0, 2, 0, 0, 0));
}

struct NearestCase {
  const char* coordinates;
  const char* nearest;
  std::vector<float> by_scale;  // [0, 1, 2] by 2.5
  std::vector<float> to_size;   // [0 ... 6] to 4
};

const NearestCase kNearestCases[] = {
    {"half_pixel", "round_prefer_floor", {0, 0, 0, 1, 1, 2, 2}, {0, 2, 4, 6}},
    {"half_pixel", "round_prefer_ceil", {0, 0, 1, 1, 1, 2, 2}, {0, 2, 4, 6}},
    {"half_pixel", "floor", {0, 0, 0, 0, 1, 1, 2}, {0, 2, 3, 5}},
    {"half_pixel", "ceil", {0, 1, 1, 1, 2, 2, 2}, {1, 3, 4, 6}},
    {"half_pixel_symmetric", "round_prefer_floor", {0, 0, 1, 1, 1, 2, 2}, {0, 2, 4, 6}},
    {"half_pixel_symmetric", "round_prefer_ceil", {0, 0, 1, 1, 1, 2, 2}, {0, 2, 4, 6}},
    {"half_pixel_symmetric", "floor", {0, 0, 0, 1, 1, 1, 2}, {0, 2, 3, 5}},
    {"half_pixel_symmetric", "ceil", {0, 1, 1, 1, 2, 2, 2}, {1, 3, 4, 6}},
    {"pytorch_half_pixel", "round_prefer_floor", {0, 0, 0, 1, 1, 2, 2}, {0, 2, 4, 6}},
    {"pytorch_half_pixel", "round_prefer_ceil", {0, 0, 1, 1, 1, 2, 2}, {0, 2, 4, 6}},
    {"pytorch_half_pixel", "floor", {0, 0, 0, 0, 1, 1, 2}, {0, 2, 3, 5}},
    {"pytorch_half_pixel", "ceil", {0, 1, 1, 1, 2, 2, 2}, {1, 3, 4, 6}},
    {"align_corners", "round_prefer_floor", {0, 0, 1, 1, 1, 2, 2}, {0, 2, 4, 6}},
    {"align_corners", "round_prefer_ceil", {0, 0, 1, 1, 1, 2, 2}, {0, 2, 4, 6}},
    // onnxruntime rounds 7.5 down to 7 first: 0, 0, 0, 1, 1, 1, 2.
    {"align_corners", "floor", {0, 0, 0, 0, 1, 1, 1}, {0, 2, 4, 6}},
    {"align_corners", "ceil", {0, 1, 1, 1, 2, 2, 2}, {0, 2, 4, 6}},
    {"asymmetric", "round_prefer_floor", {0, 0, 1, 1, 2, 2, 2}, {0, 2, 3, 5}},
    {"asymmetric", "round_prefer_ceil", {0, 0, 1, 1, 2, 2, 2}, {0, 2, 4, 5}},
    {"asymmetric", "floor", {0, 0, 0, 1, 1, 2, 2}, {0, 1, 3, 5}},
    {"asymmetric", "ceil", {0, 1, 1, 2, 2, 2, 2}, {0, 2, 4, 6}},
};

std::vector<float> Nearest(const NearestCase& c, const std::vector<float>& values,
                           std::vector<TensorData> size) {
  size.insert(size.begin(),
              {FloatTensor({static_cast<int64_t>(values.size())}, values), FloatTensor({0}, {})});
  return Floats(OneNode(19, "Resize", size)
                    .String("mode", "nearest")
                    .String("coordinate_transformation_mode", c.coordinates)
                    .String("nearest_mode", c.nearest)
                    .Run()[0]);
}

TEST(ResizeNearestTest, OfEveryModeIsAsTheReferencesHaveIt) {
  for (const NearestCase& c : kNearestCases) {
    SCOPED_TRACE(std::string(c.coordinates) + " " + c.nearest);
    EXPECT_EQ(Nearest(c, {0, 1, 2}, {FloatTensor({1}, {2.5f})}), c.by_scale);
    EXPECT_EQ(Nearest(c, {0, 1, 2, 3, 4, 5, 6}, {FloatTensor({0}, {}), IntTensor({1}, {4})}),
              c.to_size);
  }
}

// As onnxruntime and PyTorch have it: 3 / 0.6 is 5, though no float32 is 0.6.
TEST(ResizeNearestTest, AScaleIsWhatItsAuthorWrote) {
  const NearestCase asymmetric = {"asymmetric", "floor", {}, {}};
  EXPECT_THAT(Nearest(asymmetric, {0, 1, 2, 3, 4, 5, 6}, {FloatTensor({1}, {0.6f})}),
              ElementsAre(0, 1, 3, 5));
}

// Products of extents beyond 2^24 are no float32, and what they are divided by does not matter to
// that: every second element of a long row, and each of them three times.
TEST(ResizeNearestTest, LongRowsAreExact) {
  std::vector<float> values(8986);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const NearestCase half_pixel = {"half_pixel", "round_prefer_floor", {}, {}};
  const std::vector<float> halved =
      Nearest(half_pixel, values, {FloatTensor({0}, {}), IntTensor({1}, {4493})});
  ASSERT_EQ(halved.size(), 4493u);
  for (size_t i = 0; i < halved.size(); ++i) ASSERT_EQ(halved[i], 2 * static_cast<float>(i));
  values.resize(2537);
  const NearestCase asymmetric = {"asymmetric", "floor", {}, {}};
  const std::vector<float> tripled =
      Nearest(asymmetric, values, {FloatTensor({0}, {}), IntTensor({1}, {7611})});
  ASSERT_EQ(tripled.size(), 7611u);
  for (size_t i = 0; i < tripled.size(); ++i) ASSERT_EQ(tripled[i], static_cast<float>(i / 3));
}

TEST(CumProdTest, ExclusiveOverOneElementIsOneWhateverTheElement) {
  for (const float x : {2.0f, INFINITY, kNan}) {
    ExpectCloseFloats(OneNode(26, "CumProd", {FloatTensor({1}, {x}), IntTensor({}, {0})})
                          .Int("exclusive", 1)
                          .Run()[0],
                      {1});
  }
}

OnnxMaker AddModel() {
  OnnxMaker maker;
  maker.Input("x", {1}).Initializer("w", FloatTensor({1}, {1}));
  maker.Node("Add", {"x", "w"}, {"y"}).Output("y");
  return maker;
}

void AddSparse(OnnxMaker& maker, const std::string& name) {
  auto* sparse = maker.proto().mutable_graph()->add_sparse_initializer();
  sparse->add_dims(1);
  sparse->mutable_values()->set_name(name);
  sparse->mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse->mutable_values()->add_dims(1);
  sparse->mutable_values()->add_float_data(1);
  sparse->mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse->mutable_indices()->add_dims(1);
  sparse->mutable_indices()->add_int64_data(0);
}

TEST(OneNameTest, TwoTensorsOfOneNameAreRefused) {
  OnnxMaker initializers = AddModel();
  initializers.Initializer("w", FloatTensor({1}, {2}));
  EXPECT_THAT(Refusal(initializers), HasSubstr("the graph has two initializers named \"w\""));

  OnnxMaker sparse = AddModel();
  AddSparse(sparse, "w");
  EXPECT_THAT(Refusal(sparse), HasSubstr("the graph has two initializers named \"w\""));

  OnnxMaker both_sparse = AddModel();
  AddSparse(both_sparse, "s");
  AddSparse(both_sparse, "s");
  EXPECT_THAT(Refusal(both_sparse), HasSubstr("the graph has two initializers named \"s\""));

  OnnxMaker inputs = AddModel();
  inputs.Input("x", {1});
  EXPECT_THAT(Refusal(inputs), HasSubstr("the graph has two inputs named \"x\""));

  OnnxMaker listed = AddModel();
  listed.Input("w", {1}).Input("w", {1});
  EXPECT_THAT(Refusal(listed), HasSubstr("the graph has two inputs named \"w\""));
}

TEST(OneNameTest, ANodeGivesNoTensorThatIsThereAlready) {
  for (const char* name : {"x", "w", "s", "y"}) {
    SCOPED_TRACE(name);
    OnnxMaker maker = AddModel();
    AddSparse(maker, "s");
    maker.Node("Neg", {"x"}, {name});
    EXPECT_THAT(Refusal(maker), HasSubstr("it gives \"" + std::string(name) +
                                          "\", which something before it gives, too"));
  }
  OnnxMaker twice = AddModel();
  twice.Input("v", {2}).Node("Split", {"v"}, {"z", "z"});
  EXPECT_THAT(Refusal(twice), HasSubstr("it gives \"z\", which something before it gives, too"));
}

TEST(OneNameTest, TwoAttributesOfOneNameAreRefused) {
  OnnxMaker maker = AddModel();
  maker.Node("LeakyRelu", {"x"}, {"z"}).Float("alpha", 1).Float("alpha", 2);
  EXPECT_THAT(Refusal(maker), HasSubstr("it has two attributes named \"alpha\""));
}

// ---- what is next to 1 or to 0 ----

// Within two units in the last place.
void ExpectClose(const TensorData& found, const std::vector<double>& expected) {
  const std::vector<float> values = Floats(found);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_LE(std::abs(values[i] - expected[i]), std::abs(expected[i]) * 0x1p-22 + 0x1p-149)
        << i << ": " << values[i] << ", expected " << expected[i];
  }
}

TEST(NearZeroTest, ActivationsKeepTheirDigits) {
  const TensorData x = FloatTensor({8}, {-100, -20, -15, -5, -1e-4f, 0, 1e-7f, 20});
  ExpectClose(OneNode(1, "Softplus", {x}).Run()[0],
              {3.783506e-44, 2.0611537e-09, 3.0590226e-07, 0.0067153485, 0.69309717, 0.69314718,
               0.69314724, 20});
  ExpectClose(OneNode(18, "Mish", {x}).Run()[0],
              {-3.783506e-42, -4.1223075e-08, -4.5885340e-06, -0.033576236, -5.9996801e-05, 0,
               6.0000005e-08, 20});
  ExpectClose(OneNode(6, "Elu", {x}).Run()[0],
              {-1, -1, -0.99999969, -0.99326205, -9.9994999e-05, 0, 1e-07, 20});
  ExpectClose(OneNode(12, "Celu", {x}).Float("alpha", 2).Run()[0],
              {-2, -1.9999092, -1.9988939, -1.8358301, -9.9997494e-05, 0, 1e-07, 20});
  ExpectClose(OneNode(6, "Selu", {x}).Run()[0], {-1.7580993, -1.7580993, -1.7580988, -1.7462534,
                                                 -0.00017580113, 0, 1.0507010e-07, 21.014020});
}

// ---- integers ----

constexpr int64_t kBig = (int64_t{1} << 53) + 1;  // between two doubles

TEST(BigIntegerTest, RangesAreExact) {
  const auto range = [](int64_t start, int64_t limit, int64_t delta) {
    return Ints(OneNode(11, "Range",
                        {IntTensor({}, {start}), IntTensor({}, {limit}), IntTensor({}, {delta})})
                    .Run()[0]);
  };
  constexpr int64_t kTime = 1700000000000000000;
  EXPECT_THAT(range(kTime, kTime + 5, 1),
              ElementsAre(kTime, kTime + 1, kTime + 2, kTime + 3, kTime + 4));
  EXPECT_THAT(range(kTime + 5, kTime, -2), ElementsAre(kTime + 5, kTime + 3, kTime + 1));
  EXPECT_THAT(range(INT64_MIN, INT64_MAX, INT64_MAX), ElementsAre(INT64_MIN, -1, INT64_MAX - 1));
  EXPECT_THAT(range(INT64_MAX, INT64_MIN, INT64_MIN), ElementsAre(INT64_MAX, -1));
  EXPECT_THAT(range(5, 5, 1), ElementsAre());
  EXPECT_THAT(range(5, 0, 1), ElementsAre());
}

// The first output for one input; all else that the model reads is constant.
TensorData Output(const OnnxMaker& maker, const TensorData& input) {
  const auto module = ImportOnnxBytes(maker.Bytes());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto outputs = RunModel(*module, {input});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? (*outputs)[0] : TensorData();
}

TEST(BigIntegerTest, PadsAreExact) {
  OnnxMaker maker(18);
  maker.Input("x", {2}, DataType::kInt64)
      .Initializer("pads", IntTensor({2}, {1, 0}))
      .Initializer("value", IntTensor({}, {kBig}))
      .Node("Pad", {"x", "pads", "value"}, {"y"})
      .Output("y");
  EXPECT_THAT(Ints(Output(maker, IntTensor({2}, {1, 2}))), ElementsAre(kBig, 1, 2));
}

TEST(BigIntegerTest, BoundsAreExact) {
  for (const auto& [low, high] : {std::pair{-kBig, kBig}, std::pair{INT64_MIN, INT64_MAX}}) {
    OnnxMaker maker(13);
    maker.Input("x", {3}, DataType::kInt64)
        .Initializer("low", IntTensor({}, {low}))
        .Initializer("high", IntTensor({}, {high}))
        .Node("Clip", {"x", "low", "high"}, {"y"})
        .Output("y");
    EXPECT_THAT(Ints(Output(maker, IntTensor({3}, {INT64_MAX, INT64_MIN, 0}))),
                ElementsAre(high, low, 0));
  }
}

TEST(BigIntegerTest, SortsSumsAndComparesExactly) {
  const TensorData x = IntTensor({2}, {kBig - 1, kBig});
  EXPECT_THAT(Ints(OneNode(13, "ArgMax", {x}).Run()[0]), ElementsAre(1));
  EXPECT_THAT(Ints(OneNode(11, "TopK", {x, IntTensor({1}, {1})}, 2).Run()[0]), ElementsAre(kBig));
  EXPECT_THAT(Ints(OneNode(13, "ReduceMax", {x}).Int("keepdims", 0).Run()[0]), ElementsAre(kBig));
  EXPECT_THAT(Ints(OneNode(13, "ReduceSum", {x}).Run()[0]), ElementsAre(2 * kBig - 1));
  EXPECT_THAT(Ints(OneNode(14, "CumSum", {x, IntTensor({}, {0})}).Run()[0]),
              ElementsAre(kBig - 1, 2 * kBig - 1));
  EXPECT_THAT(Ints(OneNode(18, "ReduceL2", {IntTensor({1}, {-kBig})})
                       .Int("noop_with_empty_axes", 1)
                       .Run()[0]),
              ElementsAre(kBig));
  EXPECT_EQ(
      OneNode(13, "Equal", {IntTensor({1}, {kBig - 1}), IntTensor({1}, {kBig})}).Run()[0].bytes,
      std::string(1, 0));
}

// ---- indices that the axis does not have ----

TensorData Letters() { return FloatTensor({3}, {10, 20, 30}); }

// A model whose indices are a constant.
OnnxMaker Indexed(const std::string& op, const TensorData& indices, bool scatters) {
  OnnxMaker maker(13);
  maker.Input("x", {3}).Initializer("at", indices);
  if (scatters) {
    maker.Initializer("updates", FloatTensor({1}, {9}));
    return maker.Node(op, {"x", "at", "updates"}, {"y"}).Output("y");
  }
  return maker.Node(op, {"x", "at"}, {"y"}).Output("y");
}

TEST(IndexTest, ConstantsOutOfRangeAreRefused) {
  for (const int64_t index : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    const std::string sentence =
        "an index of -3 to 2 was expected, for the axis has 3 elements, found " +
        std::to_string(index);
    const TensorData flat = IntTensor({1}, {index});
    const TensorData tuple = IntTensor({1, 1}, {index});
    EXPECT_THAT(Refusal(Indexed("Gather", flat, false)), HasSubstr(sentence));
    EXPECT_THAT(Refusal(Indexed("GatherElements", flat, false)), HasSubstr(sentence));
    EXPECT_THAT(Refusal(Indexed("GatherND", tuple, false)), HasSubstr(sentence));
    EXPECT_THAT(Refusal(Indexed("ScatterElements", flat, true)), HasSubstr(sentence));
    EXPECT_THAT(Refusal(Indexed("ScatterND", tuple, true)), HasSubstr(sentence));
  }
}

TEST(IndexTest, ConstantsCountFromTheEndWhereTheyAreNegative) {
  EXPECT_THAT(Floats(Output(Indexed("Gather", IntTensor({2}, {-3, 2}), false), Letters())),
              ElementsAre(10, 30));
}

// A kernel cannot fail: it stays within the data.
TEST(IndexTest, ThoseOfRunTimeAreClamped) {
  OnnxMaker maker(13);
  maker.Input("x", {3}).Input("at", {4}, DataType::kInt64);
  maker.Node("Gather", {"x", "at"}, {"y"}).Output("y");
  const auto module = ImportOnnxBytes(maker.Bytes());
  ASSERT_TRUE(module.ok()) << module.status();
  const auto outputs =
      RunModel(*module, {Letters(), IntTensor({4}, {3, -4, INT64_MAX, INT64_MIN})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(Floats((*outputs)[0]), ElementsAre(30, 10, 30, 10));
}

// None counts from the end, as a cast to int64 would make it.
TEST(IndexTest, OneHotOfUnsignedPlacesBeyondInt64IsOff) {
  const std::vector<uint64_t> values = {~uint64_t{0}, ~uint64_t{2}, uint64_t{1} << 63, 1};
  const TensorData at{
      DataType::kUInt64, {4}, {reinterpret_cast<const char*>(values.data()), values.size() * 8}};
  EXPECT_THAT(
      Floats(OneNode(11, "OneHot", {at, IntTensor({}, {3}), FloatTensor({2}, {0, 1})}).Run()[0]),
      ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0));
}

TEST(IndexTest, OneHotOfNoPlaceIsOffEverywhere) {
  const TensorData at = IntTensor({5}, {3, -4, -1, 0, INT64_MIN});
  EXPECT_THAT(
      Floats(OneNode(11, "OneHot", {at, IntTensor({}, {3}), FloatTensor({2}, {0, 1})}).Run()[0]),
      ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace hone::frontend
