// Operators that read or write where other tensors say: gathers, scatters, topk and their kin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "compiler/ops/call_type.h"
#include "compiler/ops/evaluate.h"
#include "tests/compiler/ops/op_runner.h"

namespace hone::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

TestTensor Int64(Ints shape, std::vector<double> values) {
  return {std::move(shape), std::move(values), DataType::kInt64};
}

int64_t Within(double index, int64_t extent) {
  auto i = static_cast<int64_t>(index);
  if (i < 0) i += extent;
  return std::clamp<int64_t>(i, 0, extent - 1);
}

TEST(TileTest, RepeatsTheData) {
  const TestTensor x = RandomTensor({2, 3}, 1);
  ExpectNear(RunOp("tile", {x}, {{"reps", Ints{2, 1, 2}}}),
             Generate({2, 2, 6}, [&](const Index& i) { return x.At({i[1], i[2] % 3}); }), 0);
  EXPECT_EQ(RunOp("tile", {x}, {{"reps", Ints{0, 1}}})->values.size(), 0u);
  EXPECT_THAT(InferenceError("tile", {{{2, 3}, DataType::kFloat32}}, {{"reps", Ints{2}}}),
              HasSubstr("reps"));
  EXPECT_THAT(
      InferenceError("tile", {{{2, 3}, DataType::kFloat32}}, {{"reps", Ints{INT64_MAX, 2}}}),
      HasSubstr("reps"));
}

TEST(TriluTest, KeepsOneSideOfADiagonal) {
  const TestTensor x = RandomTensor({2, 3, 4}, 1);
  for (const int64_t k : {-5, -1, 0, 2, 9}) {
    for (const bool upper : {false, true}) {
      ExpectNear(RunOp("trilu", {x}, {{"k", k}, {"upper", upper}}),
                 Generate({2, 3, 4},
                          [&](const Index& i) {
                            const bool kept = upper ? i[2] - i[1] >= k : i[2] - i[1] <= k;
                            return kept ? x.At(i) : 0;
                          }),
                 0);
    }
  }
  ExpectNear(RunOp("trilu", {x}, {{"k", INT64_MIN}}), x, 0);
}

TEST(OneHotTest, IndicesBeyondTheDepthAreOff) {
  const TestTensor indices = Int64({4}, {1, -1, 3, -4});
  const TestTensor values = {{2}, {5, 9}};
  const TestTensor expected = {{4, 3}, {5, 9, 5, 5, 5, 9, 5, 5, 5, 5, 5, 5}};
  ExpectNear(RunOp("one_hot", {indices, values}, {{"depth", int64_t{3}}}), expected, 0);
}

TEST(GatherElementsTest, NoIndexReadsBeyondTheData) {
  const TestTensor x = RandomTensor({3, 4}, 1);
  const TestTensor indices = Int64({2, 4}, {0, -1, 2, -3, 100, -100, 1, 3});
  ExpectNear(
      RunOp("gather_elements", {x, indices}, {{"axis", int64_t{0}}}),
      Generate({2, 4}, [&](const Index& i) { return x.At({Within(indices.At(i), 3), i[1]}); }), 0);
  EXPECT_THAT(
      InferenceError("gather_elements", {{{3, 4}, DataType::kFloat32}, {{2, 5}, DataType::kInt64}}),
      HasSubstr("operand indices"));
}

// Boxes 0 and 1 overlap by a half, 2 is elsewhere, 3 has no area.
TEST(KeepBoxesTest, KeepsTheBestOfThoseThatOverlap) {
  const TestTensor boxes = {{1, 4, 4}, {0, 0, 4, 4, 0, 1, 4, 5, 6, 6, 9, 9, 1, 1, 1, 1}};
  const TestTensor scores = {{1, 2, 4}, {0.5, 0.75, 0.25, 0.125, 1, 0.5, 0.75, 0.25}};
  const TestTensor order = Int64({1, 2, 4}, {1, 0, 2, 3, 0, 2, 1, 3});
  const auto keep = [&](int64_t most, double overlap) {
    return RunOp("nn.keep_boxes", {boxes, scores, order},
                 {{"most", most}, {"iou_threshold", overlap}, {"score_threshold", 0.2}});
  };
  ExpectNear(keep(3, 0.5), Int64({1, 2, 3}, {1, 2, -1, 0, 2, 3}), 0);
  ExpectNear(keep(4, 0.7), Int64({1, 2, 4}, {1, 0, 2, -1, 0, 2, 1, 3}), 0);
  ExpectNear(keep(1, 0.5), Int64({1, 2, 1}, {1, 0}), 0);
  // A wrong order reads nothing beyond the boxes.
  const TestTensor wrong = Int64({1, 2, 4}, {-9, 99, 1, 2, 3, 3, 3, 3});
  EXPECT_EQ(RunOp("nn.keep_boxes", {boxes, scores, wrong}, {{"most", int64_t{2}}})->values.size(),
            4u);
  EXPECT_THAT(InferenceError("nn.keep_boxes",
                             {{{1, 4, 4}, DataType::kFloat32},
                              {{1, 2, 4}, DataType::kFloat32},
                              {{1, 2, 4}, DataType::kInt64}},
                             {{"most", int64_t{5}}}),
              HasSubstr("most"));
}

TestTensor Int32(Ints shape, std::vector<double> values) {
  return {std::move(shape), std::move(values), DataType::kInt32};
}

TEST(SparseDenseTest, MultipliesRowsOfAnyLength) {
  const TestTensor data = RandomTensor({6}, 1);
  const TestTensor indices = Int32({6}, {4, 0, 2, 2, 1, 3});  // in any order, and twice
  const TestTensor indptr = Int32({5}, {0, 2, 2, 5, 6});
  const TestTensor dense = RandomTensor({5, 3}, 2);
  ExpectNear(RunOp("nn.sparse_dense", {data, indices, indptr, dense}),
             Generate({4, 3}, [&](const Index& i) {
               double sum = 0;
               for (auto j = static_cast<int64_t>(indptr.At({i[0]})); j < indptr.At({i[0] + 1});
                    ++j)
                 sum += data.At({j}) * dense.At({static_cast<int64_t>(indices.At({j})), i[1]});
               return sum;
             }));
}

TEST(SparseDenseTest, NoOffsetOrColumnReadsBeyondTheOperands) {
  const TestTensor data = {{3}, {1, 2, 4}};
  const TestTensor dense = {{2, 1}, {10, 100}};
  // Rows: all; nothing, for it ends before it begins; what is left after clamping.
  const TestTensor indptr = Int64({4}, {-7, 3, 1, 1000});
  const TestTensor indices = Int64({3}, {-5, 1, INT32_MAX});
  const TestTensor expected = {{3, 1}, {610, 0, 600}};
  ExpectNear(RunOp("nn.sparse_dense", {data, indices, indptr, dense}), expected, 0);
}

TEST(SparseDenseTest, EmptyMatrices) {
  const TestTensor none = {{0}, {}};
  const TestTensor no_columns = Int32({0}, {});
  const TestTensor expected = {{2, 3}, {0, 0, 0, 0, 0, 0}};
  ExpectNear(
      RunOp("nn.sparse_dense", {none, no_columns, Int32({3}, {0, 0, 0}), RandomTensor({4, 3}, 1)}),
      expected, 0);
  ExpectNear(
      RunOp("nn.sparse_dense", {none, no_columns, Int32({3}, {0, 0, 0}), RandomTensor({0, 3}, 1)}),
      expected, 0);
  EXPECT_EQ(RunOp("nn.sparse_dense", {none, no_columns, Int32({1}, {0}), RandomTensor({4, 3}, 1)})
                ->values.size(),
            0u);
}

TEST(SparseDenseTest, WrongOperandsAreNamed) {
  const ir::TensorType data{{6}, DataType::kFloat32};
  const ir::TensorType indices{{6}, DataType::kInt32};
  const ir::TensorType indptr{{5}, DataType::kInt32};
  const ir::TensorType dense{{5, 3}, DataType::kFloat32};
  const auto error = [](const std::vector<ir::TensorType>& args) {
    return InferenceError("nn.sparse_dense", args);
  };
  EXPECT_EQ(error({data, indices, indptr, dense}), "");
  EXPECT_THAT(error({dense, indices, indptr, dense}), HasSubstr("operand data"));
  EXPECT_THAT(error({data, data, indptr, dense}), HasSubstr("operand indices"));
  EXPECT_THAT(error({data, indptr, indptr, dense}), HasSubstr("operand indices"));
  EXPECT_THAT(error({data, indices, data, dense}), HasSubstr("operand indptr"));
  EXPECT_THAT(error({data, indices, {{0}, DataType::kInt32}, dense}), HasSubstr("operand indptr"));
  EXPECT_THAT(error({data, indices, indptr, data}), HasSubstr("operand dense"));
  EXPECT_THAT(error({data, indices, indptr, {{5, 3}, DataType::kFloat64}}),
              HasSubstr("operand dense"));
  EXPECT_THAT(error({data, indices, indptr, {{0, 3}, DataType::kFloat32}}),
              HasSubstr("operand dense"));
}

TEST(GatherNdTest, ReadsSlicesOfEachBatchEntry) {
  const TestTensor x = RandomTensor({2, 3, 4, 5}, 1);
  const TestTensor indices = RandomTensor({2, 6, 2}, 2, DataType::kInt64, -6, 6);
  ExpectNear(RunOp("gather_nd", {x, indices}, {{"batch_dims", int64_t{1}}}),
             Generate({2, 6, 5},
                      [&](const Index& i) {
                        return x.At({i[0], Within(indices.At({i[0], i[1], 0}), 3),
                                     Within(indices.At({i[0], i[1], 1}), 4), i[2]});
                      }),
             0);
}

double Reduce(const std::string& reduction, double there, double update) {
  if (reduction == "add") return there + update;
  if (reduction == "mul") return there * update;
  if (reduction == "min") return std::min(there, update);
  if (reduction == "max") return std::max(there, update);
  return update;
}

TEST(ScatterTest, UpdatesThatMeetAreAppliedInOrder) {
  const TestTensor x = RandomTensor({3, 4}, 1);
  const TestTensor updates = RandomTensor({5, 2}, 2);
  const TestTensor indices = RandomTensor({5, 2}, 3, DataType::kInt64, -5, 5);
  const TestTensor rows = RandomTensor({6, 4}, 4);
  const TestTensor at = RandomTensor({6, 1}, 5, DataType::kInt64, -4, 4);
  for (const char* const reduction : {"none", "add", "mul", "min", "max"}) {
    TestTensor elements = x;
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 2; ++j) {
        double& there = elements.values[elements.Offset({Within(indices.At({i, j}), 3), j})];
        there = static_cast<float>(Reduce(reduction, there, updates.At({i, j})));
      }
    }
    const ir::Attrs attrs = {{"reduction", std::string(reduction)}};
    ExpectNear(RunOp("scatter_elements", {x, indices, updates}, attrs), elements, 0);

    TestTensor slices = x;
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        double& there = slices.values[slices.Offset({Within(at.At({i, 0}), 3), j})];
        there = static_cast<float>(Reduce(reduction, there, rows.At({i, j})));
      }
    }
    ExpectNear(RunOp("scatter_nd", {x, at, rows}, attrs), slices, 0);
  }
}

// The values and the positions that topk gives.
std::pair<TestTensor, TestTensor> TopK(const TestTensor& x, const ir::Attrs& attrs) {
  const absl::StatusOr<ir::Expr> call = TypedCall("topk", {ToConstant(x)}, attrs);
  EXPECT_TRUE(call.ok()) << call.status();
  const absl::StatusOr<ir::Expr> result = Evaluate(*call);
  EXPECT_TRUE(result.ok()) << result.status();
  return {FromConstant((*result)->args[0]), FromConstant((*result)->args[1])};
}

// The cases take all elements, few (which are selected) and many (which are sorted).
TEST(TopKTest, EqualElementsComeByPosition) {
  const std::pair<int64_t, int64_t> cases[] = {{1, 1},   {2, 2},  {3, 3},   {7, 7},   {8, 8},
                                               {33, 33}, {33, 1}, {33, 16}, {33, 17}, {100, 20}};
  for (const auto& [n, k] : cases) {
    const TestTensor x = RandomTensor({2, n, 3}, 10 + n, DataType::kFloat32, 0, 1);
    TestTensor coarse = x;
    for (double& value : coarse.values) value = static_cast<int>(value * 5);
    for (const bool largest : {true, false}) {
      const auto [values, indices] =
          TopK(coarse, {{"k", k}, {"axis", int64_t{1}}, {"largest", largest}});
      for (int64_t a = 0; a < 2; ++a) {
        for (int64_t c = 0; c < 3; ++c) {
          Ints order(n);
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
            const double d = coarse.At({a, i, c}) - coarse.At({a, j, c});
            return largest ? d > 0 : d < 0;
          });
          for (int64_t i = 0; i < k; ++i) {
            ASSERT_EQ(indices.At({a, i, c}), order[i]) << n << " " << k;
            ASSERT_EQ(values.At({a, i, c}), coarse.At({a, order[i], c})) << n << " " << k;
          }
        }
      }
    }
  }
}

TEST(TopKTest, GivesAsManyAsAskedFor) {
  const auto [values, indices] = TopK({{5}, {3, 9, -2, 9, 4}}, {{"k", int64_t{3}}});
  EXPECT_THAT(values.values, ElementsAre(9, 9, 4));
  EXPECT_THAT(indices.values, ElementsAre(1, 3, 4));
  EXPECT_EQ(TopK({{5}, {3, 9, -2, 9, 4}}, {{"k", int64_t{0}}}).first.values.size(), 0);
  EXPECT_THAT(InferenceError("topk", {{{5}, DataType::kFloat32}}, {{"k", int64_t{6}}}),
              HasSubstr("0 to 5"));
}

TEST(ReverseSequenceTest, LengthsAreClampedIntoTheData) {
  const TestTensor x = RandomTensor({4, 3}, 1);
  const Ints lengths = {0, 3, 4};
  ExpectNear(RunOp("reverse_sequence", {x, Int64({3}, {0, 3, 99})},
                   {{"seq_axis", int64_t{0}}, {"batch_axis", int64_t{1}}}),
             Generate({4, 3},
                      [&](const Index& i) {
                        const int64_t n = lengths[i[1]];
                        return x.At({i[0] < n ? n - 1 - i[0] : i[0], i[1]});
                      }),
             0);
}

TEST(PadTest, ReflectsAndWrapsOverAndOver) {
  const TestTensor x = RandomTensor({3}, 1);
  const int64_t reflected[] = {1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1};
  const int64_t wrapped[] = {1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
  for (const bool wrap : {false, true}) {
    ExpectNear(
        RunOp("nn.pad", {x},
              {{"pad_width", Ints{5, 3}}, {"pad_mode", std::string(wrap ? "wrap" : "reflect")}}),
        Generate({11},
                 [&](const Index& i) { return x.At({wrap ? wrapped[i[0]] : reflected[i[0]]}); }),
        0);
  }
}

}  // namespace
}  // namespace hone::ops
