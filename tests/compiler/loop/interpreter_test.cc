#include "compiler/loop/interpreter.h"

#include <chrono>
#include <cmath>

#include "compiler/loop/builder.h"
#include "compiler/loop/scalar.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "support/random.h"
#include "tests/compiler/loop/float_type.h"

namespace hone::loop {
namespace {

std::vector<float> RandomFloats(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.Uniform() * 2 - 1);
  return values;
}

RC_GTEST_PROP(InterpreterProperty, PaddedConvolutionEqualsHandLoops, ()) {
  const int64_t c = *rc::gen::inRange(1, 4), k = *rc::gen::inRange(1, 4);
  const int64_t size = *rc::gen::inRange(3, 7), stride = *rc::gen::inRange(1, 3);
  const int64_t out = (size + 2 - 3) / stride + 1;
  NestBuilder builder("conv");
  const Buffer data = builder.AddInput("data", kF32, {1, c, size, size});
  const Buffer weight = builder.AddConstant("weight", kF32, {k, c, 3, 3});
  const Buffer pad =
      builder.Compute("pad", kF32, {1, c, size + 2, size + 2}, [&](const std::vector<Expr>& i) {
        const Expr inside =
            And(And(Ge(i[2], 1), Lt(i[2], size + 1)), And(Ge(i[3], 1), Lt(i[3], size + 1)));
        return Select(inside, Load(data, {i[0], i[1], i[2] - 1, i[3] - 1}), FloatConst(0, kF32));
      });
  const Buffer conv = builder.Reduce(
      "conv", kF32, {1, k, out, out}, {c, 3, 3}, NestBuilder::Combiner::kAdd, FloatConst(0, kF32),
      [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
        return Load(pad, {i[0], r[0], i[2] * stride + r[1], i[3] * stride + r[2]}) *
               Load(weight, {i[1], r[0], r[1], r[2]});
      });
  const Nest nest = builder.Finish({conv});

  std::vector<float> x = RandomFloats(static_cast<size_t>(c * size * size), 1);
  std::vector<float> w = RandomFloats(static_cast<size_t>(k * c * 9), 2);
  std::vector<float> y(static_cast<size_t>(k * out * out));
  const absl::Status status = Interpret(nest, {x.data(), w.data(), nullptr, y.data()});
  if (!status.ok()) RC_FAIL(std::string(status.message()));
  for (int64_t o = 0; o < k; ++o) {
    for (int64_t h = 0; h < out; ++h) {
      for (int64_t v = 0; v < out; ++v) {
        float sum = 0;
        for (int64_t i = 0; i < c; ++i) {
          for (int64_t p = 0; p < 3; ++p) {
            for (int64_t q = 0; q < 3; ++q) {
              const int64_t a = h * stride + p - 1, b = v * stride + q - 1;
              const bool in = a >= 0 && a < size && b >= 0 && b < size;
              const float value = in ? x[static_cast<size_t>((i * size + a) * size + b)] : 0.0f;
              const float product = value * w[static_cast<size_t>(((o * c + i) * 3 + p) * 3 + q)];
              sum = sum + product;
            }
          }
        }
        RC_ASSERT(y[static_cast<size_t>((o * out + h) * out + v)] == sum);
      }
    }
  }
}

// out[i] = value(x[i]) on a vector of one type.
template <typename In, typename Out>
std::vector<Out> Map(std::vector<In> x, DataType in, DataType out,
                     const std::function<Expr(Expr)>& value) {
  NestBuilder builder("map");
  const int64_t n = static_cast<int64_t>(x.size());
  const Buffer a = builder.AddInput("x", in, {n});
  const Buffer b =
      builder.Compute("y", out, {n}, [&](const std::vector<Expr>& i) { return value(Load(a, i)); });
  std::vector<Out> y(x.size());
  const absl::Status status = Interpret(builder.Finish({b}), {x.data(), y.data()});
  EXPECT_TRUE(status.ok()) << status;
  return y;
}

TEST(Interpreter, RoundsAndSaturatesConversions) {
  EXPECT_THAT((Map<float, int8_t>({1.9f, -1.9f, 300, -300, NAN}, kF32, DataType::kInt8,
                                  [](Expr x) { return Cast(DataType::kInt8, x); })),
              testing::ElementsAre(1, -1, 127, -128, 0));
  EXPECT_THAT((Map<int32_t, uint8_t>({255, 256, -1}, DataType::kInt32, DataType::kUInt8,
                                     [](Expr x) { return Cast(DataType::kUInt8, x); })),
              testing::ElementsAre(255, 0, 255));
  EXPECT_THAT(
      (Map<float, uint16_t>({1, 65504, 65520, 0x1p-24f, 1.00048828125f}, kF32, DataType::kFloat16,
                            [](Expr x) { return Cast(DataType::kFloat16, x); })),
      testing::ElementsAre(0x3C00, 0x7BFF, 0x7C00, 0x0001, 0x3C00));
  EXPECT_THAT((Map<float, uint16_t>({1, 1.00390625f, 1.01171875f}, kF32, DataType::kBFloat16,
                                    [](Expr x) { return Cast(DataType::kBFloat16, x); })),
              testing::ElementsAre(0x3F80, 0x3F80, 0x3F82));
  EXPECT_THAT((Map<int8_t, int8_t>({100, -100}, DataType::kInt8, DataType::kInt8,
                                   [](Expr x) { return x + x; })),
              testing::ElementsAre(-56, 56));
}

constexpr uint64_t kTop = uint64_t{1} << 63;  // where the sign of int64 is

// Folded from constants and interpreted from memory.
template <typename T>
T OfTwo(BinaryOp op, DataType dtype, T a, T b) {
  const auto constant = [&](T v) { return IntConst(static_cast<int64_t>(v), dtype); };
  const Expr folded = Binary(op, constant(a), constant(b));
  const T value = Map<T, T>(
      {a}, dtype, dtype, [&](const Expr& x) { return Cast(dtype, Binary(op, x, constant(b))); })[0];
  EXPECT_EQ(static_cast<T>(folded->int_value), value) << Name(op);
  return value;
}

TEST(Interpreter, IntegersWithoutASignHaveNone) {
  constexpr DataType kU64 = DataType::kUInt64;
  const auto of64 = [](BinaryOp op, uint64_t a, uint64_t b) { return OfTwo(op, kU64, a, b); };
  EXPECT_EQ(of64(BinaryOp::kDiv, kTop + 6, 3), (kTop + 6) / 3);
  EXPECT_EQ(of64(BinaryOp::kFloorDiv, ~uint64_t{0}, 16), ~uint64_t{0} / 16);
  EXPECT_EQ(of64(BinaryOp::kDiv, 5, ~uint64_t{0}), 0u);
  EXPECT_EQ(of64(BinaryOp::kMod, kTop + 6, 10), (kTop + 6) % 10);
  EXPECT_EQ(of64(BinaryOp::kFloorMod, ~uint64_t{0}, 10), 5u);
  EXPECT_EQ(of64(BinaryOp::kMax, kTop, 1), kTop);
  EXPECT_EQ(of64(BinaryOp::kMin, kTop, 1), 1u);
  EXPECT_EQ(of64(BinaryOp::kLt, kTop, 1), 0u);
  EXPECT_EQ(of64(BinaryOp::kGe, kTop, 1), 1u);
  EXPECT_EQ(of64(BinaryOp::kGt, 1, kTop), 0u);
  EXPECT_EQ(of64(BinaryOp::kLe, 1, kTop), 1u);
  EXPECT_EQ(of64(BinaryOp::kShiftRight, kTop, 63), 1u);
  EXPECT_EQ(of64(BinaryOp::kShiftRight, ~uint64_t{0}, 64), 0u);
  EXPECT_EQ(of64(BinaryOp::kShiftRight, kTop, kTop), 0u);
  EXPECT_EQ(of64(BinaryOp::kSub, 1, 2), ~uint64_t{0});
  EXPECT_EQ(of64(BinaryOp::kPow, 3, kTop), 1u);  // 3^(2^63) modulo 2^64
  EXPECT_EQ((OfTwo<uint32_t>(BinaryOp::kSub, DataType::kUInt32, 1, 2)), 4294967295u);
  EXPECT_EQ((OfTwo<uint32_t>(BinaryOp::kDiv, DataType::kUInt32, 4294967295u, 2)), 2147483647u);
  EXPECT_EQ((OfTwo<uint16_t>(BinaryOp::kMul, DataType::kUInt16, 300, 300)), 300 * 300 % 65536);
}

TEST(Interpreter, ConversionsOfIntegersWithoutASign) {
  constexpr DataType kU64 = DataType::kUInt64;
  const auto to_double = [](const Expr& x) { return Cast(DataType::kFloat64, x); };
  EXPECT_THAT((Map<uint64_t, double>({kTop, ~uint64_t{0}, 5}, kU64, DataType::kFloat64, to_double)),
              testing::ElementsAre(0x1p63, 0x1p64, 5));
  EXPECT_EQ(to_double(IntConst(-1, kU64))->float_value, 0x1p64);
  const auto to_u64 = [](const Expr& x) { return Cast(kU64, x); };
  EXPECT_THAT((Map<double, uint64_t>({0x1p63, 0x1p64, 1e30, -5, NAN, 2.9}, DataType::kFloat64, kU64,
                                     to_u64)),
              testing::ElementsAre(kTop, ~uint64_t{0}, ~uint64_t{0}, 0, 0, 2));
  EXPECT_THAT((Map<int8_t, uint64_t>({-1, 7}, DataType::kInt8, kU64, to_u64)),
              testing::ElementsAre(~uint64_t{0}, 7));
  EXPECT_THAT(
      (Map<double, uint32_t>({0x1p32, 4294967295.0, -1}, DataType::kFloat64, DataType::kUInt32,
                             [](const Expr& x) { return Cast(DataType::kUInt32, x); })),
      testing::ElementsAre(4294967295u, 4294967295u, 0));
  EXPECT_THAT((Map<uint32_t, int32_t>({4294967295u}, DataType::kUInt32, DataType::kInt32,
                                      [](const Expr& x) { return Cast(DataType::kInt32, x); })),
              testing::ElementsAre(-1));
}

TEST(Interpreter, Float16SurvivesEveryBitPattern) {
  for (int bits = 0; bits < 0x7C00; ++bits) {
    const double value = DecodeFloat16(static_cast<uint16_t>(bits));
    ASSERT_EQ(EncodeFloat16(value), bits);
    ASSERT_EQ(RoundToFloat(value, DataType::kFloat16), value);
  }
}

TEST(Interpreter, NamesAccessesThatLieOutside) {
  const Buffer x = MakeBuffer("x", kF32, {4}, Role::kInput);
  const Buffer y = MakeBuffer("y", kF32, {4}, Role::kOutput);
  const Expr i = Var("i");
  const Nest nest{"k", {x, y}, {{"l", Phase::kRun, For(i, 0, 4, Store(y, {i}, Load(x, {i + 1})))}}};
  std::vector<float> a(4), b(4);
  const absl::Status status = Interpret(nest, {a.data(), b.data()});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(),
            "nest k, launch l: access %x[i + 1] lies outside: index 0 is 4, expected 0 to 3");
}

TEST(Interpreter, ReachesPadLanesOfBlockedLayoutsOnly) {
  auto blocked = std::make_shared<BufferNode>(*MakeBuffer("y", kF32, {1, 3}, Role::kOutput));
  blocked->layout = *Layout::Parse("NC4c", 2);
  const Expr i = Var("i");
  const auto run = [&](int64_t extent) {
    std::vector<float> y(4, -1);
    const Nest nest{"k",
                    {blocked},
                    {{"l", Phase::kRun, For(i, 0, extent, Store(blocked, {0, i}, Cast(kF32, i)))}}};
    return Interpret(nest, {y.data()});
  };
  EXPECT_TRUE(run(4).ok());
  EXPECT_EQ(run(5).code(), absl::StatusCode::kInternal);
}

TEST(Interpreter, RunsDataDependentLoopsAndWhile) {
  NestBuilder builder("csr");
  const Buffer rows = builder.AddInput("rows", DataType::kInt32, {4});
  const Buffer values = builder.AddInput("values", kF32, {5});
  const auto row = [&](const Expr& i) { return Cast(DataType::kInt64, Load(rows, {i})); };
  const Buffer sums = builder.Reduce(
      "sums", kF32, {3},
      [&](const std::vector<Expr>& i) { return std::vector<Expr>{row(i[0] + 1) - row(i[0])}; },
      NestBuilder::Combiner::kAdd, FloatConst(0, kF32),
      [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
        return Load(values, {row(i[0]) + r[0]});
      });
  const Buffer halvings = MakeBuffer("halvings", DataType::kInt64, {1});
  const Buffer left = MakeBuffer("left", DataType::kInt64, {1});
  builder.AddStage(left, Store(left, {0}, 100));
  builder.AddStage(halvings, Seq({Store(halvings, {0}, 0),
                                  While(Binary(BinaryOp::kGt, Load(left, {0}), Expr(1)),
                                        Seq({Store(left, {0}, FloorDiv(Load(left, {0}), 2)),
                                             Store(halvings, {0}, Load(halvings, {0}) + 1)}))}));
  const Nest nest = builder.Finish({sums, halvings});
  std::vector<int32_t> r = {0, 2, 2, 5};
  std::vector<float> v = {1, 2, 3, 4, 5}, s(3);
  std::vector<int64_t> h(1);
  const absl::Status status = Interpret(nest, {r.data(), v.data(), nullptr, s.data(), h.data()});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(s, testing::ElementsAre(3, 0, 12));
  EXPECT_EQ(h[0], 6);
}

TEST(Interpreter, ReversedGridShowsDependentIterations) {
  const Buffer y = MakeBuffer("y", DataType::kInt64, {1}, Role::kOutput);
  const Expr i = Var("i");
  const Nest nest{
      "k", {y}, {{"l", Phase::kRun, For(i, 0, 4, Store(y, {0}, i), LoopKind::kParallel)}}};
  int64_t value = -1;
  ASSERT_TRUE(Interpret(nest, {&value}).ok());
  EXPECT_EQ(value, 3);
  ASSERT_TRUE(Interpret(nest, {&value}, {.reverse_grid = true}).ok());
  EXPECT_EQ(value, 0);
}

TEST(Interpreter, NamesVariablesThatNothingBinds) {
  const Buffer y = MakeBuffer("y", DataType::kInt64, {1}, Role::kOutput);
  int64_t value = 0;
  const auto run = [&](Expr e) {
    return Interpret(Nest{"k", {y}, {{"l", Phase::kRun, Store(y, {0}, e)}}}, {&value});
  };
  EXPECT_THAT(std::string(run(Var("ghost")).message()), testing::HasSubstr("ghost"));
}

}  // namespace
}  // namespace hone::loop
