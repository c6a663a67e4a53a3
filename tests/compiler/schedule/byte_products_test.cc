// Products of 8-bit integers: exact, so every config gives the bits of the naive nest.
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "support/random.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/random_conv.h"

namespace hone::schedule {
namespace {

struct Types {
  const char* data;
  const char* weight;
};
constexpr Types kTypes[] = {{"uint8", "int8"}, {"int8", "int8"}, {"uint8", "uint8"}};

// Wide with a dot product of bytes, narrow with one, narrow without, and with tile registers.
const char* const kByteTargets[] = {
    "llvm -mtriple=x86_64-linux-gnu -mcpu=cascadelake -threads=2",
    "llvm -mtriple=x86_64-linux-gnu -mcpu=alderlake -threads=1",
    "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -threads=2",
    "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1",
    "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids -threads=2"};

// Sums, or with a bias, scaled back to bytes.
std::string ByteConvText(const ConvShape& c, const Types& types, bool requantized,
                         int64_t pad_value) {
  const std::string conv = fmt::format(
      "nn.conv2d(p0, p1, dilation=[{0}, {0}], groups={4}, pad_value={3}, padding=[{1}, {1}, {1}, "
      "{1}], strides=[{2}, {2}])",
      c.dilation, c.pad, c.stride, pad_value, c.groups);
  const std::string params =
      fmt::format("p0: Tensor[({}, {}, {}, {}), {}], const p1: Tensor[({}, {}, {}, {}), {}]", c.n,
                  c.ic, c.h, c.w, types.data, c.oc, c.ic / c.groups, c.taps, c.taps, types.weight);
  const std::string end = " accumulate=int32 numerics=default";
  if (!requantized) return fmt::format("fn ({}) {{ {} }}", params, conv) + end;
  return fmt::format(
             "fn ({}, const p2: Tensor[({},), int32], const p3: Tensor[({},), float32]) {{ %0 = "
             "{}; %1 = nn.bias_add(%0, p2); qnn.requantize(%1, p3, 7{}) }}",
             params, c.oc, c.oc, conv, types.data[0] == 'u' ? "u8" : "i8") +
         end;
}

TEST(ByteProducts, EveryConvolutionIsThatOfTheNaiveNest) {
  const ConvShape convs[] = {
      {1, 16, 6, 6, 32, 3, 1, 1, 1, 1}, {1, 3, 9, 9, 20, 3, 2, 1, 1, 1},
      {2, 17, 5, 7, 15, 1, 1, 0, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 0, 1, 1},
      {1, 20, 7, 5, 33, 3, 2, 2, 2, 1}, {1, 32, 4, 4, 17, 1, 2, 0, 1, 1},
      {1, 5, 7, 11, 19, 5, 1, 2, 1, 1}, {1, 31, 3, 3, 16, 3, 1, 1, 1, 1},
      {2, 4, 3, 3, 7, 2, 1, 0, 1, 1},   {1, 64, 4, 7, 32, 3, 2, 1, 1, 2},
      {2, 48, 3, 5, 72, 3, 1, 1, 1, 3}, {1, 16, 5, 5, 16, 3, 1, 1, 1, 4},
      {1, 9, 6, 5, 18, 3, 1, 1, 1, 9},  {1, 36, 4, 3, 36, 1, 1, 0, 1, 3},
  };
  int checked = 0;
  uint64_t seed = 1;
  for (const ConvShape& conv : convs) {
    for (const bool requantized : {false, true}) {
      for (int round = 0; round < 2; ++round, ++seed) {
        const std::string text =
            ByteConvText(conv, kTypes[seed % 3], requantized, seed % 2 == 0 ? 0 : 5);
        checked += CheckTemplate(text, "conv",
                                 TestTarget(kByteTargets[seed % std::size(kByteTargets)]), 3, seed);
        if (HasFailure()) FAIL() << text;
      }
    }
  }
  EXPECT_GE(checked, 100);
}

// One, primes, and a channel more or less than four or a vector, of every kind of convolution.
TEST(ByteProducts, RandomConvolutionsAreThoseOfTheNaiveNest) {
  int checked = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const ConvShape c = RandomConv(random);
    const std::string text = ByteConvText(c, kTypes[random.Below(3)], random.Below(2) == 0,
                                          static_cast<int64_t>(random.Below(2)) * 100);
    checked +=
        CheckTemplate(text, c.ExpectedTemplate(),
                      TestTarget(kByteTargets[random.Below(std::size(kByteTargets))]), 3, seed);
    if (HasFailure()) FAIL() << text;
  }
  EXPECT_GE(checked, 150);
}

TEST(ByteProducts, EveryDepthwiseConvolutionIsThatOfTheNaiveNest) {
  const ConvShape convs[] = {{1, 16, 6, 6, 16, 3, 1, 1, 1, 16},
                             {2, 17, 5, 7, 17, 3, 2, 1, 1, 17},
                             {1, 33, 7, 7, 33, 5, 1, 2, 1, 33},
                             {1, 1, 4, 4, 1, 1, 1, 0, 1, 1}};
  uint64_t seed = 1;
  for (const ConvShape& conv : convs) {
    for (const bool requantized : {false, true}) {
      const std::string text =
          ByteConvText(conv, kTypes[seed % 3], requantized, seed % 2 == 0 ? 0 : 5);
      CheckTemplate(text, conv.ExpectedTemplate(),
                    TestTarget(kByteTargets[seed % std::size(kByteTargets)]), 4, seed);
      if (HasFailure()) FAIL() << text;
      ++seed;
    }
  }
}

// The residual comes first, so its stages stand before the convolution, which must not take them
// for a copy of its data.
TEST(ByteProducts, ConvolutionsBehindAnotherOperandAreThoseOfTheNaiveNest) {
  int checked = 0;
  uint64_t seed = 1;
  for (const int64_t pad : {0, 1}) {
    for (const int64_t channels : {16, 24}) {
      const std::string text = fmt::format(
          "fn (p0: Tensor[(1, {0}, 5, 6), uint8], p1: Tensor[(1, 20, 5, 6), uint8], const p2: "
          "Tensor[({0}, 20, {1}, {1}), int8], const p3: Tensor[({0}, 1, 1), int32]) {{ %0 = "
          "qnn.dequantize(p0, 1f32, 0u8); %1 = nn.conv2d(p1, p2, padding=[{2}, {2}, {2}, {2}]); "
          "%2 = add(%1, p3); %3 = qnn.requantize(%2, 0.01f32, 119u8); %4 = qnn.dequantize(%3, "
          "1f32, 0u8); %5 = multiply_add(%4, 0.4375f32, -43.5f32); %6 = multiply_add(%0, 0.875f32, "
          "%5); qnn.quantize(%6, 1f32, 0u8) }} accumulate=int32 numerics=default",
          channels, 1 + 2 * pad, pad);
      for (const char* target : kByteTargets) {
        checked += CheckTemplate(text, "conv", TestTarget(target), 3, seed++);
        if (HasFailure()) FAIL() << text;
      }
    }
  }
  EXPECT_GE(checked, 40);
}

std::string ByteDenseText(int64_t b, int64_t m, int64_t n, int64_t k, const Types& types,
                          bool constant) {
  const std::string op = b == 0 ? "nn.dense" : "nn.batch_matmul";
  const std::string batch = b == 0 ? "" : fmt::format("{}, ", b);
  return fmt::format(
      "fn (p0: Tensor[({0}{1}, {2}), {3}], {4}p1: Tensor[({0}{5}, {2}), {6}]) {{ {7}(p0, p1) }} "
      "accumulate=int32 numerics=default",
      batch, m, k, types.data, constant ? "const " : "", n, types.weight, op);
}

TEST(ByteProducts, EveryMatrixProductIsThatOfTheNaiveNest) {
  const int64_t shapes[][4] = {{0, 1, 1, 1},   {0, 1, 16, 8},  {0, 1, 100, 23}, {0, 7, 17, 5},
                               {0, 13, 33, 8}, {0, 32, 31, 7}, {2, 5, 18, 3},   {1, 1, 1, 1},
                               {3, 4, 16, 16}, {2, 9, 35, 13}};
  int checked = 0;
  uint64_t seed = 1;
  for (const auto& [b, m, n, k] : shapes) {
    for (const Types& types : kTypes) {
      const std::string text = ByteDenseText(b, m, n, k, types, seed % 3 != 0);
      checked += CheckTemplate(text, "dense",
                               TestTarget(kByteTargets[seed % std::size(kByteTargets)]), 4, seed);
      if (HasFailure()) FAIL() << text;
      ++seed;
    }
  }
  EXPECT_GE(checked, 60);
}

TEST(ByteProducts, PoolsOfBytesAreThoseOfTheNaiveNest) {
  for (const char* type : {"uint8", "int8"}) {
    const std::string text = fmt::format(
        "fn (p0: Tensor[(1, 18, 7, 9), {}]) {{ nn.max_pool2d(p0, padding=[1, 1, 1, 1], "
        "pool_size=[3, 3], strides=[2, 2]) }} accumulate=int32 numerics=default",
        type);
    CheckTemplate(text, "pool", TestTarget(kByteTargets[0]), 6, 3);
    CheckTemplate(text, "pool", TestTarget(kByteTargets[2]), 6, 3);
  }
}

}  // namespace
}  // namespace hone::schedule
