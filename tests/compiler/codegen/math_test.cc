// Elementary functions are within a few units in the last place of libm's.
#include <fmt/format.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "support/random.h"
#include "tests/compiler/codegen/harness.h"

namespace hone::codegen {
namespace {

using loop::UnaryOp;

struct Case {
  UnaryOp op;
  double low;
  double high;
  long double (*exact)(long double);
  double float_ulps;
  double double_error;  // relative
};

long double Sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

const Case kCases[] = {
    {UnaryOp::kExp, -87, 88.7, [](long double x) { return std::exp(x); }, 2.5, 1e-15},
    {UnaryOp::kExp, -0.5, 0.5, [](long double x) { return std::exp(x); }, 2, 1e-15},
    {UnaryOp::kLog, 1e-30, 1e30, [](long double x) { return std::log(x); }, 2, 1e-15},
    {UnaryOp::kLog, 0.5, 2, [](long double x) { return std::log(x); }, 2, 1e-15},
    {UnaryOp::kExpm1, -30, 88.7, [](long double x) { return std::expm1(x); }, 2, 1e-15},
    {UnaryOp::kExpm1, -0.5, 0.5, [](long double x) { return std::expm1(x); }, 2, 1e-15},
    {UnaryOp::kExpm1, 1e-30, 1, [](long double x) { return std::expm1(x); }, 2, 1e-15},
    {UnaryOp::kLog1p, -0.999, 2, [](long double x) { return std::log1p(x); }, 2, 1e-15},
    {UnaryOp::kLog1p, 1e-30, 1e30, [](long double x) { return std::log1p(x); }, 2, 1e-15},
    {UnaryOp::kTanh, -12, 12, [](long double x) { return std::tanh(x); }, 4, 2e-15},
    {UnaryOp::kTanh, -0.01, 0.01, [](long double x) { return std::tanh(x); }, 4, 2e-15},
    {UnaryOp::kSigmoid, -85, 85, Sigmoid, 4, 2e-15},
    {UnaryOp::kErf, -5, 5, [](long double x) { return std::erf(x); }, 4, 2e-15},
    {UnaryOp::kErf, -0.1, 0.1, [](long double x) { return std::erf(x); }, 3, 1e-15},
    {UnaryOp::kSin, -100, 100, [](long double x) { return std::sin(x); }, 1, 1e-13},
    {UnaryOp::kCos, -100, 100, [](long double x) { return std::cos(x); }, 1, 1e-13},
    {UnaryOp::kTan, -100, 100, [](long double x) { return std::tan(x); }, 1, 1e-13},
    {UnaryOp::kSin, 1e3, 1e12, [](long double x) { return std::sin(x); }, 1, 1e-9},
    {UnaryOp::kCos, 1e3, 1e12, [](long double x) { return std::cos(x); }, 1, 1e-9},
    {UnaryOp::kAsin, -1, 1, [](long double x) { return std::asin(x); }, 1, 1e-14},
    {UnaryOp::kAcos, -1, 1, [](long double x) { return std::acos(x); }, 1, 1e-14},
    {UnaryOp::kAtan, -20, 20, [](long double x) { return std::atan(x); }, 1, 1e-14},
    {UnaryOp::kSinh, -20, 20, [](long double x) { return std::sinh(x); }, 1, 1e-14},
    {UnaryOp::kCosh, -20, 20, [](long double x) { return std::cosh(x); }, 1, 1e-14},
    {UnaryOp::kAsinh, -20, 20, [](long double x) { return std::asinh(x); }, 1, 1e-14},
    {UnaryOp::kAcosh, 1, 20, [](long double x) { return std::acosh(x); }, 1, 1e-14},
    {UnaryOp::kAtanh, -0.999, 0.999, [](long double x) { return std::atanh(x); }, 1, 1e-14},
};

constexpr int64_t kArguments = 1 << 14;

using Function = std::function<loop::Expr(const loop::Expr& x)>;

// y[i] = f(x[i]), so many lanes at a time.
loop::Nest MapNest(const Function& f, DataType dtype, int64_t lanes) {
  const auto x = loop::MakeBuffer("x", dtype, {kArguments}, loop::Role::kInput);
  const auto y = loop::MakeBuffer("y", dtype, {kArguments}, loop::Role::kOutput);
  const loop::Expr o = loop::Var("o");
  const loop::Expr i = loop::Var("i");
  const loop::Expr at = o * loop::IntConst(lanes) + i;
  loop::Nest nest;
  nest.name = "map";
  nest.buffers = {x, y};
  nest.launches.push_back(
      {"map", loop::Phase::kRun,
       loop::For(o, 0, kArguments / lanes,
                 loop::For(i, 0, lanes, loop::Store(y, {at}, f(loop::Load(x, {at}))),
                           loop::LoopKind::kVectorize),
                 loop::LoopKind::kParallel)});
  return nest;
}

template <typename T>
constexpr DataType kType = sizeof(T) == 4 ? DataType::kFloat32 : DataType::kFloat64;

// Exceptions of floating-point arithmetic are those of the kernel afterwards.
template <typename T>
void Evaluate(const Function& f, const std::vector<T>& x, std::vector<T>* y, int64_t lanes = 16,
              const std::string& target = "native") {
  const auto elf = BuildModule(ArtifactOf(MapNest(f, kType<T>, lanes), TestTarget(target)));
  ASSERT_TRUE(elf.ok()) << elf.status().ToString();
  const LoadedModule module(*elf);
  auto* memory = static_cast<T*>(aligned_alloc(64, 2 * kArguments * sizeof(T)));
  std::copy(x.begin(), x.end(), memory);
  std::feclearexcept(FE_ALL_EXCEPT);
  module.Run({memory, memory + kArguments});
  y->assign(memory + kArguments, memory + 2 * kArguments);
  free(memory);
}

template <typename T>
void Evaluate(UnaryOp op, const std::vector<T>& x, std::vector<T>* y) {
  Evaluate<T>([op](const loop::Expr& e) { return loop::Unary(op, e); }, x, y);
}

template <typename T>
std::vector<T> Samples(double low, double high) {
  Random random(11);
  std::vector<T> x(kArguments);
  for (int64_t i = 0; i < kArguments; ++i) {
    // Evenly, and evenly in the exponent where that makes a difference.
    const double u = random.Uniform();
    const bool by_exponent = low > 0 && high / low > 1e6;
    x[i] = static_cast<T>(by_exponent ? low * std::pow(high / low, u) : low + (high - low) * u);
  }
  return x;
}

// Any angle, the worst for its reduction (next to a multiple of pi / 2) too.
template <typename T>
void ExpectSinesOfLibm(const std::string& target) {
  std::vector<T> x(kArguments, 0);
  Random random(23);
  const double most = sizeof(T) == 4 ? 127 : 1023;
  for (int64_t i = 0; i < kArguments; ++i) {
    const double sign = i % 2 == 0 ? 1 : -1;
    x[i] = static_cast<T>(sign * std::exp2(15 + (most - 15) * random.Uniform()));
  }
  const double special[] = {0x1p19, 0x1p20, 0x1p20 + 1, 0x1p40, 0x1p40 + 131072,
                            0x1p41, 1e22,   0x1p127,    3e38,   6381956970095103 * 0x1p797,
                            1.7e308};
  for (size_t i = 0; i < std::size(special); ++i) {
    if (special[i] < std::numeric_limits<T>::max()) x[i] = static_cast<T>(special[i]);
  }
  const std::pair<UnaryOp, double (*)(double)> functions[] = {
      {UnaryOp::kSin, std::sin}, {UnaryOp::kCos, std::cos}, {UnaryOp::kTan, std::tan}};
  for (const auto& [op, exact] : functions) {
    for (const int64_t lanes : {1, 16}) {
      std::vector<T> y;
      Evaluate<T>([op = op](const loop::Expr& e) { return loop::Unary(op, e); }, x, &y, lanes,
                  target);
      for (int64_t i = 0; i < kArguments; ++i) {
        const double want = exact(x[i]);
        const double ulps = sizeof(T) == 4 ? 0x1p-23 : 0x1p-49;
        ASSERT_LE(std::abs(y[i] - want), std::abs(want) * ulps) << loop::Name(op) << " of " << x[i];
      }
    }
  }
}

TEST(SineTest, OfLargeAnglesIsThatOfLibm) {
  ExpectSinesOfLibm<float>("native");
  ExpectSinesOfLibm<double>("native");
#ifdef __x86_64__  // without fused multiply-adds
  ExpectSinesOfLibm<float>("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2");
  ExpectSinesOfLibm<double>("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2");
#endif
}

TEST(SineTest, OfInfinityIsNotANumber) {
  const std::vector<double> x(kArguments, -std::numeric_limits<double>::infinity());
  std::vector<double> y;
  for (const UnaryOp op : {UnaryOp::kSin, UnaryOp::kCos, UnaryOp::kTan}) {
    Evaluate(op, x, &y);
    EXPECT_TRUE(std::isnan(y[0])) << loop::Name(op) << " gives " << y[0];
  }
}

class Elementary : public testing::TestWithParam<Case> {};

TEST_P(Elementary, FloatIsWithinItsUlps) {
  const Case& c = GetParam();
  const std::vector<float> x = Samples<float>(c.low, c.high);
  std::vector<float> y;
  Evaluate(c.op, x, &y);
  double worst = 0;
  float at = 0;
  for (int64_t i = 0; i < kArguments; ++i) {
    const long double exact = c.exact(x[i]);
    const float near = std::abs(static_cast<float>(exact));
    const double ulp =
        std::max(std::nextafter(near, std::numeric_limits<float>::infinity()) - near, 0x1p-149f);
    const double error = static_cast<double>(std::abs(y[i] - exact)) / ulp;
    if (!(error <= worst)) {
      worst = error;
      at = x[i];
    }
  }
  EXPECT_LE(worst, c.float_ulps) << "at " << at;
  RecordProperty("ulps", fmt::format("{}", worst));
}

TEST_P(Elementary, DoubleIsWithinItsError) {
  const Case& c = GetParam();
  const std::vector<double> x = Samples<double>(c.low, c.high);
  std::vector<double> y;
  Evaluate(c.op, x, &y);
  double worst = 0;
  double at = 0;
  for (int64_t i = 0; i < kArguments; ++i) {
    const long double exact = c.exact(x[i]);
    const double error =
        static_cast<double>(std::abs((y[i] - exact) / std::max(1e-3L, std::abs(exact))));
    if (!(error <= worst)) {
      worst = error;
      at = x[i];
    }
  }
  EXPECT_LE(worst, c.double_error) << "at " << at;
}

INSTANTIATE_TEST_SUITE_P(AllFunctions, Elementary, testing::ValuesIn(kCases), [](const auto& info) {
  return fmt::format("{}{}", loop::Name(info.param.op), info.index);
});

template <typename T>
void ExpectLimits() {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> x(kArguments, T{0});
  const T inputs[] = {kInf, -kInf, kNan, T{0}, -T{0}, T{-1}, std::numeric_limits<T>::denorm_min()};
  std::copy(std::begin(inputs), std::end(inputs), x.begin());
  const auto expect = [&](UnaryOp op, T (*exact)(T)) {
    std::vector<T> y;
    Evaluate(op, x, &y);
    for (size_t i = 0; i < std::size(inputs); ++i) {
      const T want = exact(x[i]);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(y[i])) << loop::Name(op) << " of " << x[i] << " is " << y[i];
      } else if (std::isinf(want) || want == 0) {
        EXPECT_EQ(y[i], want) << loop::Name(op) << " of " << x[i];
        EXPECT_EQ(std::signbit(y[i]), std::signbit(want)) << loop::Name(op) << " of " << x[i];
      } else {
        EXPECT_NEAR(y[i] / want, 1, 1e-6) << loop::Name(op) << " of " << x[i];
      }
    }
  };
  expect(UnaryOp::kExp, [](T v) { return std::exp(v); });
  expect(UnaryOp::kLog, [](T v) { return std::log(v); });
  expect(UnaryOp::kExpm1, [](T v) { return std::expm1(v); });
  expect(UnaryOp::kLog1p, [](T v) { return std::log1p(v); });
  expect(UnaryOp::kTanh, [](T v) { return std::tanh(v); });
  expect(UnaryOp::kErf, [](T v) { return std::erf(v); });
  expect(UnaryOp::kSigmoid, [](T v) { return 1 / (1 + std::exp(-v)); });
  expect(UnaryOp::kAtan, [](T v) { return std::atan(v); });
  expect(UnaryOp::kSinh, [](T v) { return std::sinh(v); });
  expect(UnaryOp::kCosh, [](T v) { return std::cosh(v); });
  expect(UnaryOp::kAsinh, [](T v) { return std::asinh(v); });
  expect(UnaryOp::kAcosh, [](T v) { return std::acosh(v); });
  expect(UnaryOp::kSin, [](T v) { return std::sin(v); });
  expect(UnaryOp::kCos, [](T v) { return std::cos(v); });
  expect(UnaryOp::kTan, [](T v) { return std::tan(v); });
  expect(UnaryOp::kRsqrt, [](T v) { return 1 / std::sqrt(v); });
}

TEST(ElementaryFloat, TakesInfinitiesZerosAndNanAsLibm) { ExpectLimits<float>(); }
TEST(ElementaryDouble, TakesInfinitiesZerosAndNanAsLibm) { ExpectLimits<double>(); }

// The first x86-64 processors round by no instruction, and modules have no libm to call.
template <typename T>
void ExpectRoundingsOfLibm() {
  const std::tuple<UnaryOp, T (*)(T)> roundings[] = {
      {UnaryOp::kFloor, std::floor}, {UnaryOp::kCeil, std::ceil}, {UnaryOp::kRound, std::rint}};
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  constexpr T kNoFraction = sizeof(T) == 4 ? 0x1p23 : 0x1p52;
  std::vector<T> x = Samples<T>(-4, 4);
  const T special[] = {0.0,
                       0.5,
                       1.0,
                       1.5,
                       2.5,
                       0.25,
                       kNoFraction,
                       kNoFraction / 2 + T{0.5},
                       kNoFraction - T{0.5},
                       kNoFraction * 4 + 4,
                       1e30,
                       kInfinity,
                       std::numeric_limits<T>::quiet_NaN(),
                       std::numeric_limits<T>::denorm_min()};
  for (size_t i = 0; i < std::size(special); ++i) {
    x[2 * i] = special[i];
    x[2 * i + 1] = -special[i];
  }
  for (const auto& [op, of_libm] : roundings) {
    for (const int64_t lanes : {1, 4}) {
      const auto rounding = [op = op](const loop::Expr& e) { return loop::Unary(op, e); };
      std::vector<T> y;
      Evaluate<T>(rounding, x, &y, lanes, "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64");
      for (size_t i = 0; i < x.size(); ++i) {
        const T expected = of_libm(x[i]);
        const bool equal = std::isnan(x[i]) ? std::isnan(y[i]) : y[i] == expected;
        ASSERT_TRUE(equal) << x[i] << ": " << y[i] << ", not " << expected;
        ASSERT_TRUE(std::isnan(x[i]) || std::signbit(y[i]) == std::signbit(expected)) << x[i];
      }
    }
  }
}

TEST(Rounding, WithoutInstructionsIsAsLibmHasIt) {
#ifdef __x86_64__
  ExpectRoundingsOfLibm<float>();
  ExpectRoundingsOfLibm<double>();
#else
  GTEST_SKIP() << "runs code for x86-64";
#endif
}

TEST(ElementaryFloat, ExpOverflowsAndUnderflowsGradually) {
  std::vector<float> x(kArguments, 0);
  x[0] = 88.8f;
  x[1] = -88.5f;
  x[2] = -103.0f;
  x[3] = -110.0f;
  x[4] = 200.0f;
  // Beyond where a whole number of powers of two can be told.
  const float far[] = {1e8f, 1e20f, std::numeric_limits<float>::max()};
  for (int i = 0; i < 3; ++i) {
    x[5 + 2 * i] = far[i];
    x[6 + 2 * i] = -far[i];
  }
  std::vector<float> y;
  Evaluate(UnaryOp::kExp, x, &y);
  EXPECT_TRUE(std::isinf(y[0]));
  EXPECT_NEAR(y[1], std::exp(-88.5f), 2e-44);
  EXPECT_NEAR(y[2], std::exp(-103.0f), 2e-45);
  EXPECT_EQ(y[3], 0);
  EXPECT_TRUE(std::isinf(y[4]));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(y[5 + 2 * i], std::numeric_limits<float>::infinity()) << far[i];
    EXPECT_EQ(y[6 + 2 * i], 0) << -far[i];
  }
}

// What stands for exp in a softmax.
template <typename T>
void ExpectExpOrZero(T least) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const Function f = [least](const loop::Expr& x) {
    return loop::Select(Lt(x, loop::Const(least, kType<T>)), loop::Const(0, kType<T>),
                        loop::Unary(UnaryOp::kExp, x));
  };
  std::vector<T> x = Samples<T>(2 * least, 80);
  const T ends[] = {least,
                    std::nextafter(least, -kInf),
                    std::nextafter(least, kInf),
                    -kInf,
                    kInf,
                    T{-1e9},
                    std::log(std::numeric_limits<T>::max()),
                    T{1e9},
                    std::numeric_limits<T>::quiet_NaN()};
  std::copy(std::begin(ends), std::end(ends), x.begin());
  for (const int64_t lanes : {1, 4, 8, 16, 32}) {
    std::vector<T> y;
    Evaluate<T>(f, x, &y, lanes);
    EXPECT_FALSE(std::fetestexcept(FE_UNDERFLOW)) << lanes;
    for (int64_t i = 0; i < kArguments; ++i) {
      const T want = x[i] < least ? T{0} : std::exp(x[i]);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(y[i]));
      } else if (std::isinf(want) || want == 0) {
        EXPECT_EQ(y[i], want) << x[i];
      } else {
        EXPECT_NEAR(y[i] / want, 1, 3e-7) << x[i];
      }
    }
  }
}

TEST(ElementaryFloat, ExpOrZeroDoesNotUnderflow) {
  ExpectExpOrZero<float>(-86.643394f);  // of 2^-125
  ExpectExpOrZero<float>(-82);
  ExpectExpOrZero<float>(-1);
}
TEST(ElementaryDouble, ExpOrZeroDoesNotUnderflow) {
  ExpectExpOrZero<double>(-707.7032713517);  // of 2^-1021
  ExpectExpOrZero<double>(-82);
}

}  // namespace
}  // namespace hone::codegen
