#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ops/call_type.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/lower.h"
#include "compiler/ops/op.h"
#include "tests/compiler/ops/op_runner.h"

namespace hone::ops {
namespace {

using testing::HasSubstr;
using Function = double (*)(double);

struct UnaryCase {
  const char* op;
  Function function;
  double low, high;
};

class UnaryTest : public testing::TestWithParam<UnaryCase> {};

TEST_P(UnaryTest, EqualsTheFunctionOfDoubles) {
  const UnaryCase& c = GetParam();
  const TestTensor x = RandomTensor({3, 7}, 3, DataType::kFloat32, c.low, c.high);
  ExpectNear(RunOp(c.op, {x}),
             Generate(x.shape, [&](const Index& i) { return c.function(x.At(i)); }), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Functions, UnaryTest,
    testing::Values(
        UnaryCase{"nn.relu", [](double x) { return x > 0 ? x : 0; }, -2, 2},
        UnaryCase{"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -9, 9},
        UnaryCase{"tanh", [](double x) { return std::tanh(x); }, -3, 3},
        UnaryCase{"exp", [](double x) { return std::exp(x); }, -5, 5},
        UnaryCase{"log", [](double x) { return std::log(x); }, 0.1, 9},
        UnaryCase{"sqrt", [](double x) { return std::sqrt(x); }, 0, 9},
        UnaryCase{"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.1, 9},
        UnaryCase{"erf", [](double x) { return std::erf(x); }, -3, 3},
        UnaryCase{"abs", [](double x) { return std::abs(x); }, -3, 3},
        UnaryCase{"negative", [](double x) { return -x; }, -3, 3},
        UnaryCase{"floor", [](double x) { return std::floor(x); }, -3, 3},
        UnaryCase{"ceil", [](double x) { return std::ceil(x); }, -3, 3},
        UnaryCase{"sign", [](double x) { return x > 0   ? 1.0
                                                : x < 0 ? -1.0
                                                        : 0.0; }, -3, 3},
        UnaryCase{"copy", [](double x) { return x; }, -3, 3},
        UnaryCase{"nn.dropout", [](double x) { return x; }, -3, 3},
        UnaryCase{"nn.leaky_relu", [](double x) { return x < 0 ? 0.01 * x : x; }, -3, 3}),
    [](const auto& info) {
      std::string name = info.param.op;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

TEST(ClipTest, TakesEitherBoundOrBoth) {
  const TestTensor x = RandomTensor({20}, 4, DataType::kFloat32, -9, 9);
  ExpectNear(
      RunOp("clip", {x}, {{"a_min", -1.0}, {"a_max", 6.0}}),
      Generate({20}, [&](const Index& i) { return std::min(6.0, std::max(-1.0, x.At(i))); }));
  ExpectNear(RunOp("clip", {x}, {{"a_min", int64_t{0}}}),
             Generate({20}, [&](const Index& i) { return std::max(0.0, x.At(i)); }));
}

// Element of a tensor at an index of a shape it broadcasts to.
double Broadcast(const TestTensor& t, const Index& index) {
  Index own(index.end() - t.shape.size(), index.end());
  for (size_t i = 0; i < own.size(); ++i) own[i] = t.shape[i] == 1 ? 0 : own[i];
  return t.At(own);
}

TEST(BinaryTest, BroadcastsAsNumpyDoes) {
  const TestTensor a = RandomTensor({2, 3, 1, 5}, 1, DataType::kFloat32, 0.5, 2);
  const TestTensor b = RandomTensor({3, 4, 1}, 2, DataType::kFloat32, 0.5, 2);
  const std::pair<const char*, double (*)(double, double)> functions[] = {
      {"add", [](double x, double y) { return x + y; }},
      {"subtract", [](double x, double y) { return x - y; }},
      {"multiply", [](double x, double y) { return x * y; }},
      {"divide", [](double x, double y) { return x / y; }},
      {"maximum", [](double x, double y) { return std::max(x, y); }},
      {"minimum", [](double x, double y) { return std::min(x, y); }},
      {"power", [](double x, double y) { return std::pow(x, y); }},
      {"less", [](double x, double y) { return x < y ? 1.0 : 0.0; }},
      {"greater_equal", [](double x, double y) { return x >= y ? 1.0 : 0.0; }}};
  for (const auto& [op, function] : functions) {
    SCOPED_TRACE(op);
    ExpectNear(RunOp(op, {a, b}), Generate({2, 3, 4, 5}, [&](const Index& i) {
                 return function(Broadcast(a, i), Broadcast(b, i));
               }));
  }
}

TEST(BinaryTest, ErrorsNameBothShapes) {
  const ir::TensorType a = {{2, 3}, DataType::kFloat32};
  EXPECT_EQ(InferenceError("add", {a, {{2}, DataType::kFloat32}}),
            "add: operand rhs: expected a shape that broadcasts with (2, 3), found (2)");
  EXPECT_THAT(InferenceError("add", {a, {{3}, DataType::kInt32}}),
              HasSubstr("operand rhs: expected float32 as the lhs, found Tensor[(3), int32]"));
  EXPECT_THAT(InferenceError("logical_and", {a, a}), HasSubstr("operand lhs: expected bool"));
  EXPECT_THAT(InferenceError("exp", {{{3}, DataType::kInt32}}),
              HasSubstr("exp: operand data: expected floats, found"));
}

TEST(BitsTest, OfIntegersAndBools) {
  const TestTensor a = {{4}, {0b1100, 255, 1, 0}, DataType::kUInt8};
  const TestTensor b = {{4}, {0b1010, 1, 7, 9}, DataType::kUInt8};
  ExpectNear(RunOp("bitwise_and", {a, b}), {{4}, {0b1000, 1, 1, 0}});
  ExpectNear(RunOp("bitwise_or", {a, b}), {{4}, {0b1110, 255, 7, 9}});
  ExpectNear(RunOp("bitwise_xor", {a, b}), {{4}, {0b0110, 254, 6, 9}});
  ExpectNear(RunOp("bitwise_not", {a}), {{4}, {243, 0, 254, 255}});
  ExpectNear(RunOp("left_shift", {a, b}), {{4}, {0, 254, 128, 0}});
  ExpectNear(RunOp("right_shift", {a, b}), {{4}, {0, 127, 0, 0}});
  const TestTensor negative = {{2}, {-8, -1}, DataType::kInt32};
  const TestTensor one = {{}, {1}, DataType::kInt32};
  ExpectNear(RunOp("right_shift", {negative, one}), {{2}, {-4, -1}});
  ExpectNear(RunOp("bitwise_and", {negative, one}), {{2}, {0, 1}});
  const TestTensor p = {{4}, {0, 0, 1, 1}, DataType::kBool};
  const TestTensor q = {{4}, {0, 1, 0, 1}, DataType::kBool};
  ExpectNear(RunOp("logical_xor", {p, q}), {{4}, {0, 1, 1, 0}});
  const ir::TensorType floats = {{2}, DataType::kFloat32};
  EXPECT_THAT(InferenceError("bitwise_or", {floats, floats}), HasSubstr("expected integers"));
}

TEST(WhereTest, SelectsWithBroadcasting) {
  const TestTensor condition = RandomTensor({3, 1}, 1, DataType::kBool, 0, 2);
  const TestTensor x = RandomTensor({3, 4}, 2);
  const TestTensor y = RandomTensor({4}, 3);
  ExpectNear(RunOp("where", {condition, x, y}), Generate({3, 4}, [&](const Index& i) {
               return Broadcast(condition, i) != 0 ? x.At(i) : Broadcast(y, i);
             }));
}

TEST(CastTest, TruncatesAndTests) {
  const TestTensor x = {{5}, {-1.7, -0.2, 0, 0.9, 2.5}};
  ExpectNear(RunOp("cast", {x}, {{"dtype", DataType::kInt32}}), {{5}, {-1, 0, 0, 0, 2}});
  ExpectNear(RunOp("cast", {x}, {{"dtype", DataType::kBool}}), {{5}, {1, 1, 0, 1, 1}});
}

TEST(BiasAddTest, AddsAlongItsAxis) {
  const TestTensor x = RandomTensor({2, 3, 4}, 1);
  const TestTensor b = RandomTensor({3}, 2);
  const TestTensor last = RandomTensor({4}, 3);
  ExpectNear(RunOp("nn.bias_add", {x, b}),
             Generate(x.shape, [&](const Index& i) { return x.At(i) + b.At({i[1]}); }));
  ExpectNear(RunOp("nn.bias_add", {x, last}, {{"axis", int64_t{-1}}}),
             Generate(x.shape, [&](const Index& i) { return x.At(i) + last.At({i[2]}); }));
  EXPECT_THAT(
      InferenceError("nn.bias_add", {{{2, 3}, DataType::kFloat32}, {{2}, DataType::kFloat32}}),
      HasSubstr("operand bias: expected Tensor[(3), float32], found Tensor[(2), float32]"));
}

TEST(MultiplyAddTest, Broadcasts) {
  const TestTensor x = RandomTensor({2, 3, 4}, 1);
  const TestTensor scale = RandomTensor({3, 1}, 2);
  const TestTensor shift = RandomTensor({2, 1, 4}, 3);
  ExpectNear(RunOp("multiply_add", {x, scale, shift}), Generate(x.shape, [&](const Index& i) {
               return x.At(i) * scale.At({i[1], 0}) + shift.At({i[0], 0, i[2]});
             }));
  EXPECT_THAT(InferenceError(
                  "multiply_add",
                  {{{2}, DataType::kFloat32}, {{}, DataType::kFloat32}, {{}, DataType::kFloat16}}),
              HasSubstr("operand shift: expected float32 as the data"));
}

TEST(BatchNormTest, EqualsItsDefinition) {
  const TestTensor x = RandomTensor({2, 3, 4, 2}, 1);
  const TestTensor gamma = RandomTensor({3}, 2);
  const TestTensor beta = RandomTensor({3}, 3);
  const TestTensor mean = RandomTensor({3}, 4);
  const TestTensor variance = RandomTensor({3}, 5, DataType::kFloat32, 0.5, 1.5);
  ExpectNear(RunOp("nn.batch_norm", {x, gamma, beta, mean, variance}, {{"epsilon", 1e-2}}),
             Generate(x.shape, [&](const Index& i) {
               const Index c = {i[1]};
               return (x.At(i) - mean.At(c)) / std::sqrt(variance.At(c) + 1e-2) * gamma.At(c) +
                      beta.At(c);
             }));
}

TEST(LrnTest, EqualsItsDefinition) {
  const TestTensor x = RandomTensor({2, 7, 2, 3}, 1, DataType::kFloat32, -3, 3);
  const int64_t size = 4;
  ExpectNear(RunOp("nn.lrn", {x}, {{"size", size}, {"alpha", 0.5}, {"beta", 0.6}, {"bias", 2.0}}),
             Generate(x.shape, [&](const Index& i) {
               double squares = 0;
               for (int64_t c = i[1] - (size - 1) / 2; c <= i[1] + size / 2; ++c) {
                 if (c >= 0 && c < 7) squares += std::pow(x.At({i[0], c, i[2], i[3]}), 2);
               }
               return x.At(i) / std::pow(2.0 + 0.5 / size * squares, 0.6);
             }));
}

// 16-bit floats are computed in float32 and rounded once.
TEST(HalfTest, DenseAccumulatesInFloat32) {
  const TestTensor x = RandomTensor({2, 64}, 1, DataType::kFloat32, 0, 1);
  const TestTensor w = RandomTensor({3, 64}, 2, DataType::kFloat32, 0, 1);
  const auto half = [](const ir::Expr& e) {
    return *TypedCall("cast", {e}, {{"dtype", DataType::kFloat16}});
  };
  const ir::Expr dense = *TypedCall("nn.dense", {half(ToConstant(x)), half(ToConstant(w))});
  EXPECT_EQ(dense->type->tensor.dtype, DataType::kFloat16);
  const auto result = Evaluate(*TypedCall("cast", {dense}, {{"dtype", DataType::kFloat32}}));
  ASSERT_TRUE(result.ok()) << result.status();
  ExpectNear(FromConstant(*result),
             Generate({2, 3},
                      [&](const Index& i) {
                        double sum = 0;
                        for (int64_t k = 0; k < 64; ++k) sum += x.At({i[0], k}) * w.At({i[1], k});
                        return sum;
                      }),
             2e-3);
}

// A number of 16 bits in a fused function is one of its kernel, as those of other types are.
TEST(HalfTest, NumbersStandInKernels) {
  for (const DataType dtype : {DataType::kFloat16, DataType::kBFloat16}) {
    const ir::Expr number =
        *Evaluate(*TypedCall("cast", {ToConstant({{}, {1.5}})}, {{"dtype", dtype}}));
    const ir::Expr x = ir::TensorVar("x", {2}, dtype);
    const auto kernel = Define(TypedFunction({x}, *TypedCall("multiply", {x, number})), {false});
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    EXPECT_THAT(loop::ToText(kernel->naive), HasSubstr("1.5"));
  }
}

TEST(RegistryTest, EveryOperatorIsWhole) {
  EXPECT_GT(OpNames().size(), 60u);
  for (const std::string& name : OpNames()) {
    const Op* op = FindOp(name);
    ASSERT_NE(op, nullptr) << name;
    EXPECT_TRUE(op->infer_type && op->define) << name;
  }
  EXPECT_EQ(FindOp("nn.magic"), nullptr);
}

}  // namespace
}  // namespace hone::ops
