#include "compiler/loop/reference.h"

#include <cmath>

#include "compiler/loop/builder.h"
#include "compiler/loop/interpreter.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "support/random.h"
#include "tests/compiler/loop/float_type.h"

namespace hone::loop {
namespace {

Expr F(double value) { return FloatConst(value, kF32); }

TEST(Reference, MagnitudeOfADotProductIsTheSumOfProducts) {
  NestBuilder builder("dot");
  const Buffer a = builder.AddInput("a", kF32, {3});
  const Buffer b = builder.AddConstant("b", kF32, {3});
  const Buffer dot = builder.Reduce("dot", kF32, {}, {3}, NestBuilder::Combiner::kAdd, F(0),
                                    [&](const std::vector<Expr>&, const std::vector<Expr>& r) {
                                      return Load(a, {r[0]}) * Load(b, {r[0]});
                                    });
  const Buffer relu = builder.Compute(
      "relu", kF32, {}, [&](const std::vector<Expr>&) { return Max(Load(dot, {}), F(0)); });
  const Nest reference = ReferenceNest(builder.Finish({relu}));
  std::vector<std::string> names;
  for (const Buffer& buffer : reference.buffers) names.push_back(buffer->name);
  EXPECT_THAT(names,
              testing::ElementsAre("a", "b", "dot", "dot.magnitude", "relu", "relu.magnitude"));
  std::vector<float> x = {1, -2, 3}, y = {4, 5, 6};
  double value = 0, magnitude = 0;
  const absl::Status status =
      Interpret(reference, {x.data(), y.data(), nullptr, nullptr, &value, &magnitude});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(value, 12);
  EXPECT_EQ(magnitude, 4 + 10 + 18);
}

// A step that bfloat16 is rounded by within the nest may be as large as 2^-8 of it.
TEST(Reference, LetsRoundingWithinTheNestPass) {
  constexpr DataType kHalf = DataType::kBFloat16;
  NestBuilder builder("rounded");
  const Buffer a = builder.AddInput("a", kF32, {1});
  const auto at = [](const Buffer& b, const std::vector<Expr>& i) { return Load(b, i); };
  const Buffer narrow = builder.Compute(
      "narrow", kHalf, {1}, [&](const std::vector<Expr>& i) { return Cast(kHalf, at(a, i)); });
  const Buffer out = builder.Compute("out", kHalf, {1}, [&](const std::vector<Expr>& i) {
    return Cast(kHalf, Cast(kF32, at(narrow, i)) - F(255));
  });
  const Nest reference = ReferenceNest(builder.Finish({out}));
  float x = 257;
  double value = 0, magnitude = 0;
  ASSERT_TRUE(Interpret(reference, {&x, nullptr, nullptr, &value, &magnitude}).ok());
  EXPECT_EQ(value, 2);
  const double rounding = 17 * 0x1p-24 * (magnitude - 257 - 255);
  EXPECT_GE(rounding, 0.999 * 0x1p-8 * 257);
  EXPECT_LE(rounding, 1.001 * 0x1p-8 * 257);
}

// The output check multiplies magnitudes by the bound; what it lets pass of such a rounding is the
// rounding, whatever the bound. Operators that are exact add none.
TEST(Reference, LetsNoMoreThanRoundingWithinTheNestPass) {
  constexpr DataType kHalf = DataType::kBFloat16;
  NestBuilder builder("rounded");
  const Buffer a = builder.AddInput("a", kHalf, {1});
  const Buffer out = builder.Compute("out", kHalf, {1}, [&](const std::vector<Expr>& i) {
    const Expr sum = Load(a, i) + Load(a, i);
    const Expr positive = Unary(UnaryOp::kAbs, Max(sum, FloatConst(0, kHalf)));
    return Unary(UnaryOp::kNeg, Min(positive, FloatConst(1000, kHalf)));
  });
  const Nest nest = builder.Finish({out});
  for (const double bound : {17.0, 592.0, 5000.0}) {
    const Nest reference = ReferenceNest(nest, bound);
    uint16_t x = 0x4040;  // 3
    double value = 0, magnitude = 0;
    ASSERT_TRUE(Interpret(reference, {&x, &value, &magnitude}).ok());
    EXPECT_EQ(value, -6);
    EXPECT_NEAR(bound * 0x1p-24 * magnitude, (0x1p-8 + bound * 0x1p-24) * 6, 1e-9) << bound;
  }
}

TEST(Reference, KeepsIntegersExact) {
  NestBuilder builder("sum");
  const Buffer a = builder.AddInput("a", DataType::kInt32, {2});
  const Buffer sum = builder.Reduce(
      "sum", DataType::kInt32, {1}, {2}, NestBuilder::Combiner::kAdd, IntConst(0, DataType::kInt32),
      [&](const std::vector<Expr>&, const std::vector<Expr>& r) { return Load(a, {r[0]}); });
  const Nest reference = ReferenceNest(builder.Finish({sum}));
  std::vector<int32_t> x = {2147483647, 1};
  double value = 0, magnitude = -1;
  ASSERT_EQ(reference.buffers.size(), 4u);
  ASSERT_TRUE(Interpret(reference, {x.data(), nullptr, &value, &magnitude}).ok());
  EXPECT_EQ(value, -2147483648.0);
  EXPECT_EQ(magnitude, 0);
}

// Rounded floats may go to the other side of a tie; that reaches all that is computed of them.
TEST(Reference, LetsAStepPassWhereAQuantisedValueIsNearATie) {
  NestBuilder builder("quantise");
  const Buffer a = builder.AddInput("a", DataType::kInt32, {3});
  const Buffer scale = builder.Compute("scale", kF32, {}, [](const auto&) { return F(0.1f); });
  const Buffer bytes =
      builder.Compute("bytes", DataType::kUInt8, {3}, [&](const std::vector<Expr>& i) {
        const Expr x = Cast(kF32, Load(a, {i[0]})) * Load(scale, {});
        return Cast(DataType::kUInt8, Min(Max(Unary(UnaryOp::kRound, x), F(0)), F(255)));
      });
  const Buffer wide =
      builder.Compute("wide", DataType::kInt32, {3}, [&](const std::vector<Expr>& i) {
        return Cast(DataType::kInt32, Load(bytes, {i[0]})) * IntConst(2, DataType::kInt32);
      });
  const Nest reference = ReferenceNest(builder.Finish({bytes, wide}));
  std::vector<int32_t> x = {25, 27, -25};
  std::vector<double> results[4];
  std::vector<void*> pointers(reference.buffers.size(), nullptr);
  pointers[0] = x.data();
  for (int i = 0; i < 4; ++i) {
    results[i].resize(3);
    pointers[reference.buffers.size() - 4 + i] = results[i].data();
  }
  ASSERT_TRUE(Interpret(reference, pointers).ok());
  constexpr double kOneStep = 0x1p20;
  EXPECT_GE(results[1][0], kOneStep);
  EXPECT_EQ(results[0][1], 3);
  EXPECT_EQ(results[1][1], 0);
  EXPECT_EQ(results[2][1], 6);
  EXPECT_GE(results[3][0], 2 * kOneStep);
  EXPECT_EQ(results[3][1], 0);
}

// float32 of the naive nest stays within c * 2^-24 * magnitude of the reference.
RC_GTEST_PROP(ReferenceProperty, BoundsFloat32Rounding, (uint64_t seed)) {
  Random random(seed);
  const int64_t n = 1 + static_cast<int64_t>(random.Below(40));
  NestBuilder builder("softmax");
  const Buffer x = builder.AddInput("x", kF32, {n});
  const Buffer w = builder.AddConstant("w", kF32, {n});
  const Buffer top = builder.Reduce(
      "top", kF32, {}, {n}, NestBuilder::Combiner::kMax, F(-1e30),
      [&](const std::vector<Expr>&, const std::vector<Expr>& r) { return Load(x, {r[0]}); });
  const auto exp = [&](const Expr& i) {
    return Unary(UnaryOp::kExp, Load(x, {i}) - Load(top, {}));
  };
  const Buffer total = builder.Reduce(
      "total", kF32, {}, {n}, NestBuilder::Combiner::kAdd, F(0),
      [&](const std::vector<Expr>&, const std::vector<Expr>& r) { return exp(r[0]); });
  const Buffer y = builder.Compute("y", kF32, {n}, [&](const std::vector<Expr>& i) {
    return Unary(UnaryOp::kTanh, Binary(BinaryOp::kDiv, exp(i[0]) * Load(w, i), Load(total, {})) +
                                     Unary(UnaryOp::kSqrt, Unary(UnaryOp::kAbs, Load(w, i))));
  });
  const Nest nest = builder.Finish({y});
  std::vector<float> a(static_cast<size_t>(n)), b(a.size()), out(a.size());
  for (float& value : a) value = static_cast<float>(random.Uniform() * 8 - 4);
  for (float& value : b) value = static_cast<float>(random.Uniform() * 2 - 1);
  std::vector<double> value(a.size()), magnitude(a.size());
  std::vector<void*> buffers(nest.buffers.size(), nullptr);
  buffers[0] = a.data();
  buffers[1] = b.data();
  buffers.back() = out.data();
  RC_ASSERT(Interpret(nest, buffers).ok());
  const Nest reference = ReferenceNest(nest);
  buffers.assign(reference.buffers.size(), nullptr);
  buffers[0] = a.data();
  buffers[1] = b.data();
  buffers[buffers.size() - 2] = value.data();
  buffers.back() = magnitude.data();
  RC_ASSERT(Interpret(reference, buffers).ok());
  for (size_t i = 0; i < out.size(); ++i) {
    RC_ASSERT(std::abs(out[i] - value[i]) <= 4 * 0x1p-24 * magnitude[i] + 1e-30);
    RC_ASSERT(magnitude[i] < 1e3);
  }
}

}  // namespace
}  // namespace hone::loop
