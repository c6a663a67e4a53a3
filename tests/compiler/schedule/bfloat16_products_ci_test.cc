// Products of bfloat16, summed in float32 and rounded once: on small integers every sum is exact,
// so every config gives the bits of the naive nest.
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "support/random.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"
#include "tests/compiler/schedule/random_conv.h"

namespace hone::schedule {
namespace {

// Wide with a dot product of bfloat16 and without, narrow with one and without, and with tile
// registers.
const char* const kTargets[] = {"llvm -mtriple=x86_64-linux-gnu -mcpu=znver5 -threads=2",
                                "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1",
                                "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1 -threads=2",
                                "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1",
                                "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids -threads=2"};

// What joins the sums: nothing, a bias and relu, a residual, or a result in float32.
enum class End { kSums, kBias, kResidual, kWide };

std::string ConvText(const ConvShape& c, End end, bool strict) {
  const int64_t oh = (c.h + 2 * c.pad - c.Reach()) / c.stride + 1;
  const int64_t ow = (c.w + 2 * c.pad - c.Reach()) / c.stride + 1;
  const std::string conv = fmt::format(
      "nn.conv2d(p0, p1, dilation=[{0}, {0}], groups={3}, {4}padding=[{1}, {1}, {1}, {1}], "
      "strides=[{2}, {2}])",
      c.dilation, c.pad, c.stride, c.groups, end == End::kWide ? "out_dtype=float32, " : "");
  std::string params = fmt::format(
      "p0: Tensor[({}, {}, {}, {}), bfloat16], const p1: Tensor[({}, {}, {}, {}), "
      "bfloat16]",
      c.n, c.ic, c.h, c.w, c.oc, c.ic / c.groups, c.taps, c.taps);
  std::string body = conv;
  if (end == End::kBias) {
    params += fmt::format(", const p2: Tensor[({},), bfloat16]", c.oc);
    body = fmt::format("%0 = {}; %1 = nn.bias_add(%0, p2); nn.relu(%1)", conv);
  } else if (end == End::kResidual) {
    params += fmt::format(", p2: Tensor[({}, {}, {}, {}), bfloat16]", c.n, c.oc, oh, ow);
    body = fmt::format("%0 = {}; %1 = add(%0, p2); nn.relu(%1)", conv);
  }
  return fmt::format("fn ({}) {{ {} }} accumulate=float32 numerics={}", params, body,
                     strict ? "strict" : "default");
}

constexpr End kEnds[] = {End::kSums, End::kBias, End::kResidual, End::kWide};

TEST(BFloat16Products, EveryConvolutionIsThatOfTheNaiveNest) {
  const ConvShape convs[] = {
      {1, 16, 6, 6, 32, 3, 1, 1, 1, 1},  {1, 3, 9, 9, 20, 3, 2, 1, 1, 1},
      {2, 17, 5, 7, 15, 1, 1, 0, 1, 1},  {1, 1, 1, 1, 1, 1, 1, 0, 1, 1},
      {1, 20, 7, 5, 33, 3, 2, 2, 2, 1},  {1, 32, 4, 4, 17, 1, 2, 0, 1, 1},
      {1, 5, 7, 11, 19, 5, 1, 2, 1, 1},  {1, 31, 3, 3, 16, 3, 1, 1, 1, 1},
      {2, 32, 5, 5, 32, 3, 1, 1, 1, 2},  {1, 32, 4, 5, 32, 3, 1, 1, 1, 8},
      {1, 33, 7, 7, 33, 5, 1, 2, 1, 33}, {1, 64, 4, 7, 32, 3, 2, 1, 1, 2},
      {2, 48, 3, 3, 96, 1, 1, 0, 1, 3},  {1, 32, 6, 3, 64, 3, 1, 1, 2, 4},
  };
  int checked = 0;
  uint64_t seed = 1;
  for (const ConvShape& conv : convs) {
    for (int round = 0; round < 4; ++round, ++seed) {
      const std::string text = ConvText(conv, kEnds[round], seed % 5 == 0);
      checked += CheckTemplate(text, conv.ExpectedTemplate(),
                               TestTarget(kTargets[seed % std::size(kTargets)]), 3, seed);
      if (HasFailure()) FAIL() << text;
    }
  }
  EXPECT_GE(checked, 200);
}

// One, primes, and a channel more or less than a pair or a vector, of every kind of convolution.
TEST(BFloat16Products, RandomConvolutionsAreThoseOfTheNaiveNest) {
  int checked = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const ConvShape c = RandomConv(random);
    const std::string text = ConvText(c, kEnds[random.Below(4)], random.Below(4) == 0);
    checked += CheckTemplate(text, c.ExpectedTemplate(),
                             TestTarget(kTargets[random.Below(std::size(kTargets))]), 3, seed);
    if (HasFailure()) FAIL() << text;
  }
  EXPECT_GE(checked, 150);
}

TEST(BFloat16Products, OtherConvolutionsAreThoseOfTheNaiveNest) {
  const char* const kernels[] = {
      "fn (p0: Tensor[(2, 19, 37), bfloat16], const p1: Tensor[(33, 19, 3), bfloat16]) { %0 = "
      "nn.conv1d(p0, p1, dilation=[2], padding=[2, 1]); nn.relu(%0) }",
      "fn (p0: Tensor[(1, 17, 4, 6, 5), bfloat16], const p1: Tensor[(33, 17, 3, 3, 3), bfloat16]) "
      "{ %0 = nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1]); nn.relu(%0) }",
      "fn (p0: Tensor[(1, 24, 5, 4), bfloat16], const p1: Tensor[(24, 18, 4, 4), bfloat16], const "
      "p2: Tensor[(18,), bfloat16]) { %0 = nn.conv2d_transpose(p0, p1, padding=[1, 1, 1, 1], "
      "strides=[2, 2]); %1 = nn.bias_add(%0, p2); nn.relu(%1) }",
      "fn (p0: Tensor[(1, 16, 7), bfloat16], const p1: Tensor[(16, 5, 3), bfloat16]) { "
      "nn.conv1d_transpose(p0, p1, output_padding=[1], padding=[1, 1], strides=[2]) }"};
  uint64_t seed = 1;
  for (const char* kernel : kernels) {
    for (const char* target : kTargets) {
      CheckTemplate(std::string(kernel) + " accumulate=float32 numerics=default", "conv",
                    TestTarget(target), 3, seed++);
      if (HasFailure()) FAIL() << kernel;
    }
  }
}

TEST(BFloat16Products, EveryMatrixProductIsThatOfTheNaiveNest) {
  // A stack of 0 is nn.dense.
  const int64_t shapes[][4] = {{0, 1, 1, 1},   {0, 1, 16, 8},  {0, 1, 100, 23}, {0, 7, 17, 5},
                               {0, 13, 33, 8}, {0, 32, 31, 7}, {2, 5, 18, 3},   {1, 1, 1, 1},
                               {3, 4, 16, 16}, {2, 9, 35, 13}, {0, 12, 48, 64}};
  int checked = 0;
  uint64_t seed = 1;
  for (const auto& [b, m, n, k] : shapes) {
    for (const char* end :
         {"{}", "%0 = {}; nn.relu(%0)", "%0 = {}; %1 = sigmoid(%0); multiply(%0, %1)"}) {
      const std::string batch = b == 0 ? "" : fmt::format("{}, ", b);
      const std::string product = b == 0 ? "nn.dense(p0, p1)" : "nn.batch_matmul(p0, p1)";
      const std::string text = fmt::format(
          "fn (p0: Tensor[({0}{1}, {2}), bfloat16], {3}p1: Tensor[({0}{4}, {2}), bfloat16]) {{ {5} "
          "}} accumulate=float32 numerics=default",
          batch, m, k, seed % 3 != 0 ? "const " : "", n, fmt::format(fmt::runtime(end), product));
      checked +=
          CheckTemplate(text, "dense", TestTarget(kTargets[seed % std::size(kTargets)]), 4, seed);
      if (HasFailure()) FAIL() << text;
      ++seed;
    }
  }
  EXPECT_GE(checked, 100);
}

std::string DefaultStrategy(int64_t rows, int64_t terms, const char* target) {
  const auto def = MustLower(
      fmt::format("fn (p0: Tensor[({0}, {1}), bfloat16], const p1: Tensor[(64, {1}), bfloat16]) {{ "
                  "nn.dense(p0, p1) }} accumulate=float32 numerics=default",
                  rows, terms));
  Task task;
  task.def = &def;
  task.target = TestTarget(target);
  const Template& chosen = TemplateFor(def);
  task.signature = chosen.Signatures(def, machine::Machine::For(task.target))[0];
  return DefaultOfTask(task).String("strategy");
}

TEST(BFloat16Products, TilesAreTheDefaultWhereThereAreRowsForThem) {
  const char* const sapphire_rapids = "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids";
  EXPECT_EQ(DefaultStrategy(128, 768, sapphire_rapids), "tiles");
  EXPECT_EQ(DefaultStrategy(1, 768, sapphire_rapids), "direct");
  EXPECT_EQ(DefaultStrategy(4, 2, sapphire_rapids), "direct");
  EXPECT_EQ(DefaultStrategy(128, 768, kTargets[0]), "direct");
}

}  // namespace
}  // namespace hone::schedule
