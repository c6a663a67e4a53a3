// Operators along axes: argmax, argmin, cumsum, nn.layer_norm, einsum, linalg.det.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/compiler/ops/op_runner.h"

namespace hone::ops {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(ArgReduceTest, GivesTheFirstOrTheLastOfSeveral) {
  const TestTensor x = {{2, 4}, {1, 3, 3, 2, -1, -5, -1, -5}};
  const ir::Attrs row = {{"axis", int64_t{-1}}};
  ir::Attrs last = row;
  last["select_last_index"] = true;
  last["keepdims"] = true;
  ExpectNear(RunOp("argmax", {x}, row), {{2}, {1, 0}});
  ExpectNear(RunOp("argmax", {x}, last), {{2, 1}, {2, 2}});
  ExpectNear(RunOp("argmin", {x}, row), {{2}, {0, 1}});
  ExpectNear(RunOp("argmin", {x}, last), {{2, 1}, {0, 3}});
  const auto column = RunOp("argmax", {x});
  ExpectNear(column, {{4}, {0, 0, 0, 0}});
  EXPECT_EQ(column->dtype, DataType::kInt64);
}

TEST(ArgReduceTest, TakesEveryTypeAndOddValues) {
  ExpectNear(RunOp("argmin", {{{3}, {200, 7, 7}, DataType::kUInt8}}), {{}, {1}});
  ExpectNear(RunOp("argmax", {{{3}, {-100, -7, -100}, DataType::kInt8}}), {{}, {1}});
  ExpectNear(RunOp("argmax", {{{3}, {-kInf, -kInf, -kInf}}}), {{}, {0}});
  ExpectNear(RunOp("argmax", {{{4}, {1, kNan, 5, kNan}}}), {{}, {1}});
  EXPECT_THAT(InferenceError("argmax", {{{2, 0}, DataType::kFloat32}}, {{"axis", int64_t{1}}}),
              HasSubstr("an axis that is not empty"));
}

TEST(CumsumTest, InclusiveExclusiveAndFromTheEnd) {
  const TestTensor x = {{2, 3}, {1, 2, 3, 4, 5, 6}};
  const auto run = [&](bool exclusive, bool reverse) {
    return RunOp("cumsum", {x},
                 {{"axis", int64_t{1}}, {"exclusive", exclusive}, {"reverse", reverse}});
  };
  ExpectNear(run(false, false), {{2, 3}, {1, 3, 6, 4, 9, 15}});
  ExpectNear(run(true, false), {{2, 3}, {0, 1, 3, 0, 4, 9}});
  ExpectNear(run(false, true), {{2, 3}, {6, 5, 3, 15, 11, 6}});
  ExpectNear(run(true, true), {{2, 3}, {5, 3, 0, 11, 6, 0}});
  ExpectNear(RunOp("cumsum", {x}, {{"axis", int64_t{-2}}}), {{2, 3}, {1, 2, 3, 5, 7, 9}});
  ExpectNear(RunOp("cumsum", {{{3}, {100, 100, 100}, DataType::kInt8}}), {{3}, {100, -56, 44}});
}

TEST(LayerNormTest, NormalisesTheAxesNamed) {
  const TestTensor x = RandomTensor({2, 3, 4}, 1, DataType::kFloat32, 5, 9);
  const auto normal = [&](const Index& i, bool both) {
    double sum = 0;
    double squares = 0;
    const int64_t count = both ? 12 : 4;
    const auto at = [&](int64_t k) {
      return both ? x.At({i[0], k / 4, k % 4}) : x.At({i[0], i[1], k});
    };
    for (int64_t k = 0; k < count; ++k) sum += at(k) / count;
    for (int64_t k = 0; k < count; ++k) squares += std::pow(at(k) - sum, 2) / count;
    return (x.At(i) - sum) / std::sqrt(squares + 0.01);
  };
  const TestTensor gamma = RandomTensor({4}, 2);
  const TestTensor beta = RandomTensor({4}, 3);
  ExpectNear(RunOp("nn.layer_norm", {x, gamma, beta}, {{"epsilon", 0.01}}),
             Generate(x.shape, [&](const Index& i) {
               return normal(i, false) * gamma.At({i[2]}) + beta.At({i[2]});
             }));
  ExpectNear(RunOp("nn.layer_norm", {x}, {{"epsilon", 0.01}, {"axis", Ints{1, 2}}}),
             Generate(x.shape, [&](const Index& i) { return normal(i, true); }));
  EXPECT_THAT(
      InferenceError("nn.layer_norm", {{{2, 3}, DataType::kFloat32}, {{2}, DataType::kFloat32}}),
      HasSubstr("operand gamma: expected Tensor[(3), float32]"));
}

TEST(EinsumTest, ContractsDiagonalsAndBroadcasts) {
  const TestTensor a = RandomTensor({2, 3, 3}, 1);
  const TestTensor b = RandomTensor({3, 4}, 2);
  ExpectNear(RunOp("einsum", {a, b}, {{"equation", std::string("bij,jk->bik")}}),
             Generate({2, 3, 4}, [&](const Index& i) {
               double sum = 0;
               for (int64_t j = 0; j < 3; ++j) sum += a.At({i[0], i[1], j}) * b.At({j, i[2]});
               return sum;
             }));
  ExpectNear(RunOp("einsum", {a}, {{"equation", std::string("bii->ib")}}),
             Generate({3, 2}, [&](const Index& i) { return a.At({i[1], i[0], i[0]}); }));
  const TestTensor one = RandomTensor({2, 1}, 3);
  ExpectNear(RunOp("einsum", {one, b}, {{"equation", std::string("ij,jk->ik")}}),
             Generate({2, 4}, [&](const Index& i) {
               double sum = 0;
               for (int64_t j = 0; j < 3; ++j) sum += one.At({i[0], 0}) * b.At({j, i[1]});
               return sum;
             }));
  const ir::TensorType matrix = {{2, 3}, DataType::kFloat32};
  EXPECT_THAT(InferenceError("einsum", {matrix}, {{"equation", std::string("ij->k")}}),
              HasSubstr("attribute equation"));
  EXPECT_THAT(InferenceError("einsum", {matrix, matrix}, {{"equation", std::string("ij,jk->k")}}),
              HasSubstr("extent 3 on axis j"));
}

TEST(DetTest, OfAStackWithPivoting) {
  const TestTensor x = {{4, 3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 4,    //
                                    0, 1, 0, 1, 0, 0, 0, 0, 1,    // a permutation: -1
                                    1, 2, 3, 2, 4, 6, 1, 1, 1,    // singular
                                    0, 0, 0, 0, 1, 0, 0, 0, 1}};  // a column of zeros
  ExpectNear(RunOp("linalg.det", {x}), {{4}, {18, -1, 0, 0}});
  ExpectNear(RunOp("linalg.det", {{{1, 1}, {7}}}), {{}, {7}});
  EXPECT_THAT(InferenceError("linalg.det", {{{2, 3}, DataType::kFloat32}}),
              HasSubstr("square matrices"));
}

}  // namespace
}  // namespace hone::ops
