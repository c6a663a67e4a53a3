// Steps of recurrent nets: nn.lstm_cell, nn.gru_cell, nn.gru_gates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ops/call_type.h"
#include "compiler/ops/evaluate.h"
#include "tests/compiler/ops/op_runner.h"

namespace hone::ops {
namespace {

using testing::HasSubstr;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<TestTensor> RunPair(const std::string& op, const std::vector<TestTensor>& args) {
  std::vector<ir::Expr> constants;
  for (const TestTensor& arg : args) constants.push_back(ToConstant(arg));
  const absl::StatusOr<ir::Expr> call = TypedCall(op, std::move(constants), {});
  EXPECT_TRUE(call.ok()) << call.status();
  const absl::StatusOr<ir::Expr> result = Evaluate(*call);
  EXPECT_TRUE(result.ok()) << result.status();
  return {FromConstant((*result)->args[0]), FromConstant((*result)->args[1])};
}

// What a gate sums up: the projection and the state's products.
double Sum(const TestTensor& projected, const TestTensor& h, const TestTensor& recurrence,
           const Index& at, int64_t gate, bool with_projection = true) {
  double sum = with_projection ? projected.At({at[0], gate, at[1]}) : 0;
  for (int64_t k = 0; k < h.shape[1]; ++k) {
    sum += h.At({at[0], k}) * recurrence.At({gate, at[1], k});
  }
  return sum;
}

TEST(LstmCellTest, GivesTheStateAndTheCell) {
  const TestTensor x = RandomTensor({2, 4, 3}, 1);
  const TestTensor h = RandomTensor({2, 5}, 2);
  const TestTensor c = RandomTensor({2, 3}, 3);
  const TestTensor weights = RandomTensor({4, 3, 5}, 4);
  const TestTensor peepholes = RandomTensor({3, 3}, 5);
  for (const bool looks : {false, true}) {
    const auto look = [&](int64_t gate, const Index& at, double cell) {
      return Sum(x, h, weights, at, gate) + (looks ? peepholes.At({gate, at[1]}) * cell : 0);
    };
    const TestTensor next = Generate({2, 3}, [&](const Index& at) {
      return Sigmoid(look(2, at, c.At(at))) * c.At(at) +
             Sigmoid(look(0, at, c.At(at))) * std::tanh(Sum(x, h, weights, at, 3));
    });
    const TestTensor shown = Generate({2, 3}, [&](const Index& at) {
      return Sigmoid(look(1, at, next.At(at))) * std::tanh(next.At(at));
    });
    std::vector<TestTensor> args = {x, h, c, weights};
    if (looks) args.push_back(peepholes);
    const std::vector<TestTensor> found = RunPair("nn.lstm_cell", args);
    ExpectNear(found[0], shown);
    ExpectNear(found[1], next);
  }
}

TEST(GruCellTest, ResetsBehindTheProduct) {
  const TestTensor x = RandomTensor({2, 3, 4}, 1);
  const TestTensor h = RandomTensor({2, 4}, 2);
  const TestTensor weights = RandomTensor({3, 4, 4}, 3);
  const TestTensor bias = RandomTensor({4}, 4);
  for (const bool biased : {false, true}) {
    const TestTensor next = Generate({2, 4}, [&](const Index& at) {
      const double update = Sigmoid(Sum(x, h, weights, at, 0));
      const double reset = Sigmoid(Sum(x, h, weights, at, 1));
      const double recurred = Sum(x, h, weights, at, 2, false) + (biased ? bias.At({at[1]}) : 0);
      const double candidate = std::tanh(x.At({at[0], 2, at[1]}) + reset * recurred);
      return (1 - update) * candidate + update * h.At(at);
    });
    std::vector<TestTensor> args = {x, h, weights};
    if (biased) args.push_back(bias);
    ExpectNear(RunOp("nn.gru_cell", args), next);
  }
}

TEST(GruGatesTest, GiveTheUpdateAndTheResetState) {
  const TestTensor x = RandomTensor({3, 2, 4}, 1);
  const TestTensor h = RandomTensor({3, 4}, 2);
  const TestTensor weights = RandomTensor({2, 4, 4}, 3);
  const std::vector<TestTensor> found = RunPair("nn.gru_gates", {x, h, weights});
  ExpectNear(found[0],
             Generate({3, 4}, [&](const Index& at) { return Sigmoid(Sum(x, h, weights, at, 0)); }));
  ExpectNear(found[1], Generate({3, 4}, [&](const Index& at) {
               return Sigmoid(Sum(x, h, weights, at, 1)) * h.At(at);
             }));
}

TEST(RecurrentCells, SayWhatDoesNotFit) {
  const DataType f = DataType::kFloat32;
  EXPECT_THAT(
      InferenceError("nn.lstm_cell", {{{2, 3, 4}, f}, {{2, 5}, f}, {{2, 4}, f}, {{4, 4, 5}, f}}),
      HasSubstr("operand projected: expected floats of 4 gates"));
  EXPECT_THAT(
      InferenceError("nn.lstm_cell", {{{2, 4, 4}, f}, {{2, 5}, f}, {{2, 5}, f}, {{4, 4, 5}, f}}),
      HasSubstr("operand c: expected Tensor[(2, 4), float32]"));
  EXPECT_THAT(
      InferenceError("nn.lstm_cell", {{{2, 4, 4}, f}, {{2, 5}, f}, {{2, 4}, f}, {{4, 5, 5}, f}}),
      HasSubstr("operand recurrence: expected Tensor[(4, 4, 5), float32]"));
  EXPECT_THAT(InferenceError("nn.gru_cell", {{{2, 3, 4}, f}, {{2, 5}, f}, {{3, 4, 5}, f}}),
              HasSubstr("operand h: expected Tensor[(2, 4), float32]"));
  EXPECT_THAT(InferenceError("nn.gru_gates", {{{2, 2, 4}, f}, {{2, 4}, f}, {{3, 4, 4}, f}}),
              HasSubstr("operand recurrence: expected Tensor[(2, 4, 4), float32]"));
}

}  // namespace
}  // namespace hone::ops
