// Which convolutions of few channels become those of squares of pixels, and that they mean the
// same.
#include "compiler/passes/space_to_depth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "compiler/ir/printer.h"
#include "compiler/passes/evaluator.h"
#include "compiler/passes/pipeline.h"
#include "fmt/format.h"
#include "support/random.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

struct Stem {
  std::string attrs = "strides=[2, 2], padding=[3, 3, 3, 3]";
  int64_t channels = 3, filters = 16, window = 7, lines = 16, columns = 12;
  std::string dtype = "bfloat16";
  std::string function_attrs = {};
  int64_t groups = 1;
  bool casts_filters = false;  // of float32
};

ir::Module ModelOfStem(const Stem& stem) {
  constexpr uint16_t kBits[] = {0x0000, 0x3F80, 0xBF80, 0x3F00};
  const int64_t filter_channels = stem.channels / stem.groups;
  const std::string filter_dtype = stem.casts_filters ? "float32" : stem.dtype;
  const std::string filters = stem.casts_filters
                                  ? fmt::format("cast(meta[Constant][0], dtype=\"{}\")", stem.dtype)
                                  : "meta[Constant][0]";
  Random random(1);
  std::string taps;
  for (int64_t i = 0; i < stem.filters * filter_channels * stem.window * stem.window; ++i) {
    const uint16_t bits = kBits[random.Below(std::size(kBits))];
    if (filter_dtype == "float32") taps += std::string(2, '\0');
    taps += static_cast<char>(bits & 0xFF);
    taps += static_cast<char>(bits >> 8);
  }
  return Typed(fmt::format(
      "def @main(%x: Tensor[(2, {0}, {1}, {2}), float32]{8}) {{ "
      "cast(nn.conv2d(cast(%x, dtype=\"{3}\"), {9}, {4}), dtype=\"float32\") }}\n"
      "meta[Constant][0] = Tensor[({5}, {10}, {6}, {6}), {11}] \"{7}\";\n",
      stem.channels, stem.lines, stem.columns, stem.dtype, stem.attrs, stem.filters, stem.window,
      absl::Base64Escape(taps), stem.function_attrs, filters, filter_channels, filter_dtype));
}

ir::Module InSquares(const ir::Module& module, const std::string& target) {
  PassContext context = TestContext();
  context.target = *Target::Parse(target);
  const auto result = RunOne(module, context, "SpaceToDepth");
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or(ir::Module());
}

bool IsInSquares(const Stem& stem, const std::string& target = "cuda -arch=sm_80") {
  return ir::ToText(InSquares(ModelOfStem(stem), target)).find("transpose") != std::string::npos;
}

TEST(SpaceToDepth, ConvolutionsOfFewChannelsMeanTheSame) {
  for (const Stem& stem :
       {Stem(), Stem{.attrs = "strides=[2, 2], padding=[1, 1, 1, 1]", .window = 3},
        Stem{.attrs = "strides=[2, 2], padding=[0, 0, 1, 1]", .window = 3},
        Stem{.attrs = "strides=[2, 2], padding=[2, 1, 2, 2]", .channels = 1, .window = 5},
        Stem{.attrs = "strides=[2, 2]", .channels = 4, .window = 4}, Stem{.dtype = "float16"},
        Stem{.casts_filters = true}}) {
    const ir::Module model = ModelOfStem(stem);
    EXPECT_TRUE(IsInSquares(stem)) << stem.attrs;
    const std::vector<float> expected = InterpretOnRandom(model)[0];
    const std::vector<float> found = InterpretOnRandom(InSquares(model, "cuda -arch=sm_90a"))[0];
    ASSERT_EQ(found.size(), expected.size()) << stem.attrs;
    // Terms are summed in another order, before sums are rounded to 8 bits.
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 0x1p-7 * std::max(1.0F, std::abs(expected[i])))
          << stem.attrs << " " << i;
    }
  }
}

TEST(SpaceToDepth, Golden) {
  const ir::Module model = ModelOfStem({});
  ExpectGolden("SpaceToDepth.relay", "// before\n" + ir::ToText(model) +
                                         "\n// after SpaceToDepth\n" +
                                         ir::ToText(InSquares(model, "cuda -arch=sm_80")));
}

// The filters of 65,536 elements, or of twice as many as before, are constants again; others stay.
TEST(SpaceToDepth, FiltersAreNotPutTogetherInEveryRun) {
  PassContext context = TestContext();
  context.evaluator = DefaultEvaluator();
  for (const Stem& stem : {Stem{.channels = 1, .filters = 256}, Stem{.filters = 320}}) {
    const ir::Module squares = InSquares(ModelOfStem(stem), "cuda -arch=sm_80");
    ASSERT_NE(ir::ToText(squares).find("transpose"), std::string::npos) << stem.filters;
    const auto folded = RunOne(squares, context, "FoldConstant");
    ASSERT_TRUE(folded.ok()) << folded.status();
    const std::string text = ir::ToText(*folded);
    EXPECT_EQ(text.find("transpose("), text.rfind("transpose(")) << "that of the image is left";
  }
  EXPECT_FALSE(IsInSquares({.channels = 1, .filters = 272}));
}

// Both passes ask one rule about tensor cores.
TEST(SpaceToDepth, WidenProductsLeavesSquaresAsTheyAre) {
  PassContext context = TestContext();
  context.target = *Target::Parse("cuda -arch=sm_80");
  const ir::Module squares = InSquares(ModelOfStem({}), "cuda -arch=sm_80");
  const auto widened = RunOne(squares, context, "WidenProducts");
  ASSERT_TRUE(widened.ok()) << widened.status();
  EXPECT_EQ(ir::ToText(*widened), ir::ToText(squares));
}

TEST(SpaceToDepth, OthersStay) {
  EXPECT_FALSE(IsInSquares({}, "cuda -arch=sm_75"));
  EXPECT_FALSE(IsInSquares({}, "opencl -device=any"));
  EXPECT_FALSE(IsInSquares({.dtype = "float32"}));
  EXPECT_FALSE(IsInSquares({.channels = 8}));
  EXPECT_FALSE(IsInSquares({.filters = 24}));
  EXPECT_FALSE(IsInSquares({.lines = 15}));
  EXPECT_FALSE(IsInSquares({.columns = 13}));
  EXPECT_FALSE(IsInSquares(
      {.attrs = "strides=[2, 2], padding=[3, 3, 3, 3], groups=2", .channels = 4, .groups = 2}));
  EXPECT_FALSE(IsInSquares({.columns = 6})) << "tiles of eight columns would be mostly empty";
  EXPECT_FALSE(IsInSquares({.attrs = "padding=[3, 3, 3, 3]"}));
  EXPECT_FALSE(IsInSquares({.function_attrs = ", numerics=\"strict\""}))
      << "a zero times an infinity is a new NaN";
  EXPECT_FALSE(IsInSquares({.attrs = "strides=[2, 2], dilation=[2, 2]", .window = 3}));
}

}  // namespace
}  // namespace hone::passes
