// Which products of 16-bit floats become those of float32, and that models mean what they did.
#include "compiler/passes/widen_products.h"

#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "compiler/ir/printer.h"
#include "compiler/passes/numerics.h"
#include "compiler/passes/pipeline.h"
#include "fmt/format.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

ir::Module Widened(const ir::Module& module, const std::string& target) {
  PassContext context = TestContext();
  context.target = *Target::Parse(target);
  const auto result = RunOne(module, context, "WidenProducts");
  EXPECT_TRUE(result.ok()) << result.status();
  return *result;
}

int CountOf(const std::string& part, const std::string& text) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Of a body of tensors and constants (%w, %d, %u: a weight of 3x3 taps, a depthwise one, one of a
// few channels).
bool IsWidened(const std::string& body, const std::string& target, const std::string& dtype) {
  const auto constant = [&](const std::string& shape, size_t count) {
    return fmt::format("Tensor[({}), {}] \"{}\";\n", shape, dtype,
                       absl::Base64Escape(std::string(count * (dtype == "float32" ? 4 : 2), '\0')));
  };
  const ir::Module model = Typed(fmt::format(
      "def @main(%x: Tensor[(1, 32, 9, 9), {0}], %f: Tensor[(1, 16, 9, 9), {0}], %r: "
      "Tensor[(7, 64), {0}], %e: Tensor[(8, 64), {0}], %b: Tensor[(48, 64), {0}], %s: "
      "Tensor[(2, 9, 64), {0}], %c: Tensor[(2, 5, 64), {0}]) {{ {1} }}\nmeta[Constant][0] = "
      "{2}meta[Constant][1] = "
      "{3}meta[Constant][2] = {4}",
      dtype,
      absl::StrReplaceAll(
          body,
          {{"%w", "meta[Constant][0]"}, {"%d", "meta[Constant][1]"}, {"%u", "meta[Constant][2]"}}),
      constant("32, 32, 3, 3", size_t{32} * 32 * 9), constant("32, 1, 3, 3", size_t{32} * 9),
      constant("32, 16, 3, 3", size_t{32} * 16 * 9)));
  return ir::ToText(Widened(model, target)).find("dtype=float32") != std::string::npos;
}

constexpr char kTiles[] = "llvm -mcpu=sapphirerapids";
constexpr char kTwice[] = "llvm -mcpu=znver5";
constexpr char kNoFaster[] = "llvm -mcpu=x86-64-v3";

TEST(WidenProducts, BFloat16IsWhereTheTargetMultipliesItNoFaster) {
  const std::pair<std::string, bool> targets[] = {
      {kNoFaster, true},
      {"llvm -mcpu=x86-64-v4", true},
      {"llvm -mcpu=cooperlake", true},
      {"llvm -mcpu=emeraldrapids -mattr=+avx512f,+avx512bf16,+avx512vl", true},
      {kTiles, false},
      {kTwice, false},
      {"llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", true},
      {"llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1", false}};
  for (const auto& [target, widened] : targets) {
    EXPECT_EQ(IsWidened("nn.dense(%e, %b)", target, "bfloat16"), widened) << target;
    EXPECT_TRUE(IsWidened("nn.dense(%e, %b)", target, "float16")) << target;
    EXPECT_FALSE(IsWidened("nn.dense(%e, %b)", target, "float32")) << target;
  }
}

TEST(WidenProducts, AndWhereWinogradNeedsFewerOfThem) {
  const std::pair<std::string, bool> bodies[] = {
      {"nn.conv2d(%x, %w, padding=1)", true},
      {"nn.conv2d(%x, %w)", false},  // 7x7
      {"nn.conv2d(%x, %w, padding=[4, 4, 4, 4], strides=[1, 2])", false},
      {"nn.conv2d(%x, %w, padding=[4, 4, 4, 4], dilation=[2, 2])", false},
      {"nn.conv2d(%f, %u, padding=[1, 1, 1, 1])", false},
      {"nn.conv2d(%x, %u, groups=2, padding=[1, 1, 1, 1])", false},
      {"nn.conv2d_transpose(%x, %w)", false}};
  for (const auto& [body, widened] : bodies) {
    EXPECT_EQ(IsWidened(body, kTwice, "bfloat16"), widened) << body;
    EXPECT_FALSE(IsWidened(body, kTiles, "bfloat16")) << body;
    EXPECT_TRUE(IsWidened(body, kNoFaster, "bfloat16")) << body;
  }
}

TEST(WidenProducts, WhatIsReadOnceOrTwiceStaysBFloat16) {
  const std::pair<std::string, bool> bodies[] = {
      {"nn.dense(%r, %b)", false},
      {"nn.dense(%e, %b)", true},
      {"nn.batch_matmul(%s, %c)", true},
      {"nn.batch_matmul(%c, %s)", false},
      {"nn.conv2d(%x, %w, strides=[3, 2])", true},
      {"nn.conv2d(%x, %w, strides=[4, 4])", false},
      {"nn.conv2d_transpose(%x, %w, strides=[2, 2])", true},
      {"nn.conv2d(%x, %d, groups=32)", false},
      {"nn.max_pool2d(%x, pool_size=[3, 3])", false}};
  for (const auto& [body, widened] : bodies) {
    EXPECT_EQ(IsWidened(body, kNoFaster, "bfloat16"), widened) << body;
    EXPECT_TRUE(IsWidened(body, kNoFaster, "float16")) << body;
  }
}

// Of float32 tensors, whose values bfloat16 or float16 do not hold: two products with what follows
// them, and a residual sum whose other operand another product reads.
ir::Module Net(const std::string& dtype, const std::string& numerics) {
  const ir::Module net = Typed(fmt::format(R"(
def @main(%x: Tensor[(1, 16, 6, 6), float32], %w: Tensor[(16, 16, 3, 3), float32],
          %v: Tensor[(16, 16, 1, 1), float32], %b: Tensor[(16, 1, 1), float32]) {{
  %0 = cast(%x, dtype={0});
  %1 = cast(%w, dtype={0});
  %2 = cast(%v, dtype={0});
  %3 = cast(%b, dtype={0});
  %4 = add(nn.conv2d(%0, %1, padding=[1, 1, 1, 1]), %3);
  %5 = nn.relu(%4);
  %6 = add(nn.conv2d(%5, %2), %5);
  %7 = nn.conv2d(nn.relu(%6), %2, out_dtype=float32);
  %8 = cast(nn.max_pool2d(%6, pool_size=[2, 2]), dtype=float32);
  (%7, %8)
}})",
                                           dtype));
  return WithNumerics(net, numerics);
}

TEST(WidenProducts, StrictNumbersAreTheSameAndOthersWithinARounding) {
  for (const auto& [dtype, step] : {std::pair{"bfloat16", 0x1p-8}, {"float16", 0x1p-11}}) {
    for (const std::string numerics : {"default", "strict"}) {
      const ir::Module model = Net(dtype, numerics);
      const auto expected = InterpretOnRandom(model);
      const auto found = InterpretOnRandom(Widened(model, "llvm -mcpu=x86-64-v3"));
      ASSERT_EQ(expected.size(), found.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        float largest = 0;
        for (const float value : expected[i]) largest = std::max(largest, std::abs(value));
        const double tolerance = numerics == "strict" ? 0 : 4 * step * largest;
        for (size_t k = 0; k < expected[i].size(); ++k) {
          ASSERT_NEAR(expected[i][k], found[i][k], tolerance) << dtype << numerics << " " << k;
        }
      }
    }
  }
}

std::string Kernels(const std::string& text) {
  PassContext context = TestContext();
  context.target = *Target::Parse(kNoFaster);
  const auto fused = RunPipeline(Typed(text), context, {.after = "FuseOps", .on_pass = nullptr});
  EXPECT_TRUE(fused.ok()) << fused.status();
  return fused.ok() ? ir::ToText(*fused) : "";
}

// What is joined is rounded in the kernels that write it to its place.
TEST(WidenProducts, JoinedResultsNeedNoKernelOfCasts) {
  const std::string text = Kernels(R"(
def @main(%x: Tensor[(1, 16, 6, 6), float16], %v: Tensor[(16, 16, 1, 1), float16],
          %w: Tensor[(16, 32, 1, 1), float16]) {
  %0 = nn.relu(nn.conv2d(%x, %v));
  %1 = tanh(nn.conv2d(%x, %v));
  nn.conv2d(concatenate((%0, %1), axis=1), %w)
})");
  EXPECT_EQ(CountOf("cast(%p0, dtype=float32)", text), 3) << text;  // of the inputs
  EXPECT_EQ(CountOf("concatenate", text), 1) << text;
}

// Casts stand before products and behind what follows them, none in between.
TEST(WidenProducts, Golden) {
  const ir::Module model = Net("bfloat16", "default");
  const ir::Module strict = Net("bfloat16", "strict");
  const std::string target = "llvm -mcpu=x86-64-v4";
  ExpectGolden("WidenProducts.relay",
               "// before\n" + ir::ToText(model) + "\n// after WidenProducts\n" +
                   ir::ToText(Widened(model, target)) + "\n// after WidenProducts, strict\n" +
                   ir::ToText(Widened(strict, target)));
}

}  // namespace
}  // namespace hone::passes
