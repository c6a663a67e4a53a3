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

std::string ConstantOf(const std::string& shape, size_t count, const std::string& dtype) {
  const std::string zeros(count * (dtype == "float32" ? 4 : 2), '\0');
  return fmt::format("Tensor[({}), {}] \"{}\";\n", shape, dtype, absl::Base64Escape(zeros));
}

// Whether a body of tensors and constants is widened. The constants are weights of 3x3 taps: %w,
// depthwise %d, %u and %g of a few channels a group, %t of three axes; %v is no constant.
bool IsWidened(const std::string& body, const std::string& target, const std::string& dtype,
               const std::string& numerics = "default") {
  const ir::Module model = Typed(fmt::format(
      "def @main(%x: Tensor[(1, 32, 9, 9), {0}], %f: Tensor[(1, 16, 9, 9), {0}], "
      "%y: Tensor[(1, 32, 2, 9, 9), {0}], %r: Tensor[(7, 64), {0}], %e: Tensor[(8, 64), {0}], "
      "%b: Tensor[(48, 64), {0}], %s: Tensor[(2, 9, 64), {0}], %c: Tensor[(2, 5, 64), {0}], "
      "%p: Tensor[(1, 5, 64), {0}], %q: Tensor[(9, 1, 64), {0}], %v: Tensor[(32, 32, 3, 3), {0}]) "
      "{{ {1} }}\n"
      "meta[Constant][0] = {2}meta[Constant][1] = {3}meta[Constant][2] = {4}"
      "meta[Constant][3] = {5}meta[Constant][4] = {6}",
      dtype,
      absl::StrReplaceAll(body, {{"%w", "meta[Constant][0]"},
                                 {"%d", "meta[Constant][1]"},
                                 {"%u", "meta[Constant][2]"},
                                 {"%g", "meta[Constant][3]"},
                                 {"%t", "meta[Constant][4]"}}),
      ConstantOf("32, 32, 3, 3", size_t{32} * 32 * 9, dtype),
      ConstantOf("32, 1, 3, 3", size_t{32} * 9, dtype),
      ConstantOf("32, 16, 3, 3", size_t{32} * 16 * 9, dtype),
      ConstantOf("32, 8, 3, 3", size_t{32} * 8 * 9, dtype),
      ConstantOf("32, 32, 1, 3, 3", size_t{32} * 32 * 9, dtype)));
  const ir::Module widened = Widened(WithNumerics(model, numerics), target);
  return ir::ToText(widened).find("dtype=float32") != std::string::npos;
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
      {"nn.conv2d(%x, transpose(%w, axes=[1, 0, 2, 3]), padding=1)", true},
      {"nn.conv3d(%y, %t, padding=[0, 1, 1])", true},
      {"nn.conv2d(%x, %v, padding=1)", false},
      {"nn.conv2d(%x, %w)", false},  // 7x7
      {"nn.conv2d(%x, %w, padding=[4, 4, 4, 4], strides=[1, 2])", false},
      {"nn.conv2d(%x, %w, padding=[4, 4, 4, 4], dilation=[2, 2])", false},
      {"nn.conv2d(%f, %u, padding=[1, 1, 1, 1])", false}};
  for (const auto& [body, widened] : bodies) {
    EXPECT_EQ(IsWidened(body, kTwice, "bfloat16"), widened) << body;
    EXPECT_FALSE(IsWidened(body, kTwice, "bfloat16", "strict")) << body;
    EXPECT_FALSE(IsWidened(body, kTiles, "bfloat16")) << body;
    EXPECT_TRUE(IsWidened(body, kNoFaster, "bfloat16")) << body;
  }
}

// Tiles have several rows, or whole lines of one group; dot products pairs of one group.
TEST(WidenProducts, AndWhereTheKernelHasNoSuchInstruction) {
  struct Case {
    std::string body;
    bool without_tiles;
    bool without_dots;
  };
  const Case cases[] = {{"nn.conv2d(%x, %v)", false, false},
                        {"nn.conv2d_transpose(%x, %w)", true, false},
                        {"nn.conv2d(%x, %v, padding=1, strides=[1, 9])", true, false},
                        {"nn.conv2d(%x, %u, groups=2)", true, false},
                        {"nn.conv2d(%x, %g, groups=4)", true, true},
                        {"nn.dense(%e, %b)", false, false},
                        {"nn.batch_matmul(%s, %c)", false, false},
                        {"nn.batch_matmul(%q, %p)", true, false}};
  for (const Case& c : cases) {
    EXPECT_EQ(IsWidened(c.body, kTiles, "bfloat16"), c.without_tiles) << c.body;
    EXPECT_EQ(IsWidened(c.body, kTwice, "bfloat16"), c.without_dots) << c.body;
  }
}

TEST(WidenProducts, TensorCoresTakeWhatTheirTilesCover) {
  constexpr char kAmpere[] = "cuda -arch=sm_80";
  const std::pair<std::string, bool> bodies[] = {
      {"nn.dense(%b, %e)", false},
      {"nn.dense(%e, %b)", false},                         // 8 rows: tiles of 16 cover them
      {"nn.batch_matmul(%s, %c)", false},                  // 9 rows, 5 columns
      {"nn.conv2d(%x, %w, padding=[0, 0, 1, 0])", false},  // 7 columns
      {"nn.conv2d(%x, %w, padding=[1, 1, 1, 0])", false},
      {"nn.conv2d(%f, %g, padding=[1, 1, 1, 0], groups=2)", true}};
  for (const auto& [body, widened] : bodies) {
    for (const char* const dtype : {"bfloat16", "float16"}) {
      EXPECT_EQ(IsWidened(body, kAmpere, dtype), widened) << body << dtype;
      EXPECT_TRUE(IsWidened(body, "cuda -arch=sm_75", dtype)) << body << dtype;
    }
  }
}

TEST(WidenProducts, WhatIsReadOnceOrTwiceStaysBFloat16) {
  const std::pair<std::string, bool> bodies[] = {
      {"nn.dense(%r, %b)", false},
      {"nn.dense(%e, %b)", true},
      {"nn.batch_matmul(%s, %c)", true},
      {"nn.batch_matmul(%c, %s)", false},
      {"nn.batch_matmul(%c, %p)", true},  // one right operand for both
      {"nn.conv2d(%x, %w, strides=[3, 2])", true},
      {"nn.conv2d(%x, %w, strides=[4, 4])", false},
      {"nn.conv2d_transpose(%x, %w, strides=[2, 2])", true},
      {"nn.conv2d(%x, %d, groups=32)", false},
      {"nn.max_pool2d(%x, pool_size=[3, 3])", false},
      {"nn.global_avg_pool2d(%x)", false}};
  for (const auto& [body, widened] : bodies) {
    EXPECT_EQ(IsWidened(body, kNoFaster, "bfloat16"), widened) << body;
    EXPECT_TRUE(IsWidened(body, kNoFaster, "float16")) << body;
  }
}

// A model of float32 tensors, whose values bfloat16 or float16 do not hold: two products with what
// follows them, and a residual sum whose other operand another product reads.
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

void ExpectNear(const ir::Module& model, const ir::Module& widened, double tolerance) {
  const auto expected = InterpretOnRandom(model);
  const auto found = InterpretOnRandom(widened);
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    float largest = 0;
    for (const float value : expected[i]) largest = std::max(largest, std::abs(value));
    ASSERT_EQ(expected[i].size(), found[i].size());
    for (size_t k = 0; k < expected[i].size(); ++k) {
      ASSERT_NEAR(expected[i][k], found[i][k], tolerance * largest) << i << " " << k;
    }
  }
}

constexpr std::pair<const char*, double> kSteps[] = {{"bfloat16", 0x1p-8}, {"float16", 0x1p-11}};

TEST(WidenProducts, StrictNumbersAreTheSameAndOthersWithinARounding) {
  for (const auto& [dtype, step] : kSteps) {
    for (const std::string numerics : {"default", "strict"}) {
      SCOPED_TRACE(dtype + (" " + numerics));
      const ir::Module model = Net(dtype, numerics);
      ExpectNear(model, Widened(model, kNoFaster), numerics == "strict" ? 0 : 4 * step);
    }
  }
}

// The bodies have every kind of product and pool, and what is joined.
TEST(WidenProducts, StrictNumbersOfEachKindAreTheSame) {
  const std::string bodies[] = {
      "nn.conv1d(%a, %b, padding=1)",
      "nn.conv1d_transpose(%a, %b, strides=[2])",
      "nn.conv2d(%c, %d, groups=2, strides=[2, 1])",
      "nn.conv2d(%c, %i, groups=8)",
      "nn.conv2d_transpose(%c, %d, groups=2)",
      "nn.conv3d(%e, %f)",
      "nn.dense(%g, %g, out_dtype=float32)",
      "nn.batch_matmul(%h, %h)",
      "nn.batch_matmul(%h, %j)",
      "nn.max_pool2d(%c, pool_size=[2, 2])",
      "nn.avg_pool2d(%c, pool_size=[3, 3], padding=[1, 1, 1, 1])",
      "nn.global_avg_pool2d(%c)",
      "nn.dense(concatenate((nn.dense(%g, %g), tanh(nn.dense(%g, %g))), axis=1), %k)"};
  for (const std::string& body : bodies) {
    for (const auto& [dtype, step] : kSteps) {
      SCOPED_TRACE(dtype + (" " + body));
      std::string cast = body;
      for (const char name : std::string("abcdefghijk")) {
        cast = absl::StrReplaceAll(
            cast, {{fmt::format("%{}", name), fmt::format("cast(%{}, dtype={})", name, dtype)}});
      }
      const ir::Module model = WithNumerics(
          Typed(fmt::format(
              "def @main(%a: Tensor[(8, 8, 9), float32], %b: Tensor[(8, 8, 3), float32], "
              "%c: Tensor[(1, 8, 6, 6), float32], %d: Tensor[(8, 4, 3, 3), float32], "
              "%e: Tensor[(1, 4, 3, 4, 4), float32], %f: Tensor[(5, 4, 2, 2, 2), float32], "
              "%g: Tensor[(9, 33), float32], %h: Tensor[(2, 9, 33), float32], "
              "%i: Tensor[(8, 1, 3, 3), float32], %j: Tensor[(1, 5, 33), float32], "
              "%k: Tensor[(3, 18), float32]) {{ cast({}, dtype=float32) }}",
              cast)),
          "strict");
      const ir::Module widened = Widened(model, kNoFaster);
      if (dtype == std::string("float16")) {
        EXPECT_NE(ir::ToText(widened), ir::ToText(model));
      }
      ExpectNear(model, widened, 0);
    }
  }
}

std::string Kernels(const std::string& text) {
  PassContext context = TestContext();
  context.target = *CpuTarget::Parse(kNoFaster);
  const auto fused = RunPipeline(Typed(text), context, {.after = "FuseOps", .on_pass = nullptr});
  EXPECT_TRUE(fused.ok()) << fused.status();
  return fused.ok() ? ir::ToText(*fused) : "";
}

// What is joined is rounded in the kernels that write it to its place.
TEST(WidenProducts, JoinedResultsNeedNoKernelOfCasts) {
  const std::string text = Kernels(R"(
def @main(%x: Tensor[(1, 16, 6, 6), float16], %v: Tensor[(16, 16, 1, 1), float16],
          %u: Tensor[(16, 16, 1, 1), float16], %w: Tensor[(16, 32, 1, 1), float16]) {
  %0 = nn.relu(nn.conv2d(%x, %v));
  %1 = tanh(nn.conv2d(%x, %u));
  nn.conv2d(concatenate((%0, %1), axis=1), %w)
})");
  EXPECT_EQ(CountOf("cast(%p0, dtype=float32)", text), 4) << text;  // of the inputs
  EXPECT_EQ(CountOf("-> Tensor[(1, 16, 6, 6), float32] {\n    %", text), 2) << text;
  EXPECT_EQ(CountOf("axis=1)\n  };", text), 1) << text;  // no cast behind it
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
