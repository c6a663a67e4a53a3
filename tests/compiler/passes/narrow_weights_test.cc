// Which weights that are stored as narrow integers stay so in front of their products.
#include "compiler/passes/narrow_weights.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "absl/strings/escaping.h"
#include "compiler/ir/printer.h"
#include "compiler/passes/evaluator.h"
#include "compiler/passes/pipeline.h"
#include "support/random.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

constexpr int64_t kUnits = 160, kTerms = 192;

std::string Text(const void* bytes, size_t size) {
  return absl::Base64Escape(std::string(static_cast<const char*>(bytes), size));
}

// Constants of a model: [0] int8 (units, terms) of `low` .. `high`, [1] float32 scales (units, 1),
// [2] float32 scales (units, 3, 1), [3] int8 zero points (units, 3, 1) of -4 .. 3.
ir::Module NarrowModel(const std::string& body, int64_t low, int64_t high, int64_t rows = 1,
                       const std::string& attrs = "") {
  Random random(7);
  std::vector<int8_t> integers(kUnits * kTerms), zeros(kUnits * 3);
  for (int8_t& x : integers) {
    x = static_cast<int8_t>(low + static_cast<int64_t>(random.Below(high - low + 1)));
  }
  for (int8_t& x : zeros) x = static_cast<int8_t>(static_cast<int64_t>(random.Below(8)) - 4);
  std::vector<float> by_unit(kUnits), by_block(kUnits * 3);
  for (std::vector<float>* scales : {&by_unit, &by_block}) {
    for (float& x : *scales) x = static_cast<float>(1 + random.Below(1000)) / 1000;
  }
  return Typed(
      fmt::format("def @main(%x: Tensor[({0}, {2}), float32]{3}) {{{4}}}\n"
                  "meta[Constant][0] = Tensor[({1}, {2}), int8] \"{5}\";\n"
                  "meta[Constant][1] = Tensor[({1}, 1), float32] \"{6}\";\n"
                  "meta[Constant][2] = Tensor[({1}, 3, 1), float32] \"{7}\";\n"
                  "meta[Constant][3] = Tensor[({1}, 3, 1), int8] \"{8}\";",
                  rows, kUnits, kTerms, attrs, body, Text(integers.data(), integers.size()),
                  Text(by_unit.data(), 4 * by_unit.size()),
                  Text(by_block.data(), 4 * by_block.size()), Text(zeros.data(), zeros.size())));
}

constexpr char kNoDots[] = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4";
constexpr char kDots[] = "llvm -mtriple=x86_64-linux-gnu -mcpu=cascadelake";

PassContext Context(const char* target) {
  PassContext context = TestContext();
  context.target = *CpuTarget::Parse(target);
  context.evaluator = DefaultEvaluator();
  return context;
}

// The call that main ends with.
ir::Expr Narrowed(const ir::Module& model, const char* target = kNoDots) {
  const auto result = RunOne(model, Context(target), "NarrowWeights");
  EXPECT_TRUE(result.ok()) << result.status();
  return ir::Body(*result->functions.at("main"));
}

// By unit; per tensor; per block, with zero points.
const char* const kByUnit =
    "%0 = qnn.dequantize(meta[Constant][0], 1f32, 0i8); %1 = multiply(%0, meta[Constant][1]); "
    "nn.dense(%x, %1)";
const char* const kByTensor =
    "%0 = cast(meta[Constant][0], dtype=float32); %1 = subtract(%0, 3f32); %2 = multiply(%1, "
    "0.5f32); nn.dense(%x, %2)";
const char* const kByBlock =
    "%0 = reshape(meta[Constant][0], newshape=[160, 3, 64]); %1 = cast(%0, dtype=float32); %2 = "
    "cast(meta[Constant][3], dtype=float32); %3 = subtract(%1, %2); %4 = multiply(%3, "
    "meta[Constant][2]); %5 = reshape(%4, newshape=[160, 192]); nn.dense(%x, %5)";

struct Form {
  const char* body;
  int64_t low, high;
  int64_t bits, blocks;
  int64_t centre;
  bool offsets;
};

TEST(NarrowWeights, OfFewRowsStayIntegersWithTheirScales) {
  for (const Form& form :
       {Form{kByUnit, -127, 127, 8, 2, 0, false}, Form{kByUnit, -8, 7, 4, 2, -8, false},
        Form{kByUnit, 0, 15, 4, 2, 0, false}, Form{kByTensor, -128, 127, 8, 2, -3, false},
        Form{kByBlock, -100, 100, 8, 3, 0, false}, Form{kByBlock, -8, 7, 4, 3, 0, true}}) {
    const ir::Expr call = Narrowed(NarrowModel(form.body, form.low, form.high));
    ASSERT_TRUE(ir::IsCall(call, "nn.scaled_dense")) << form.body;
    EXPECT_EQ(std::get<int64_t>(call->attrs.at("bits")), form.bits) << form.body;
    EXPECT_EQ(call->args[2]->type->tensor.shape, (std::vector<int64_t>{kUnits, form.blocks}));
    EXPECT_EQ(std::get<int64_t>(call->attrs.at("centre")), form.centre) << form.body;
    EXPECT_EQ(call->args.size(), form.offsets ? 4 : 3) << form.body;
  }
}

// Digits are multiplied with unsigned bytes, whose offset is the zero point; whatever the rows.
TEST(NarrowWeights, AreOfDigitsWhereBytesHaveDotProducts) {
  for (const int64_t rows : {1, 512}) {
    for (const auto& [body, high, blocks] :
         {std::tuple{kByUnit, 127, 1}, std::tuple{kByBlock, 7, 3}}) {
      const ir::Expr call = Narrowed(NarrowModel(body, -high - 1, high, rows), kDots);
      ASSERT_TRUE(ir::IsCall(call, "nn.scaled_dense")) << body;
      EXPECT_EQ(std::get<int64_t>(call->attrs.at("digits")), 3);
      EXPECT_EQ(call->args[1]->type->tensor.dtype, high == 7 ? DataType::kInt32 : DataType::kUInt8);
      EXPECT_EQ(call->args[2]->type->tensor.shape, (std::vector<int64_t>{kUnits, blocks}));
      EXPECT_EQ(call->args.size(), high == 7 ? 4U : 3U);  // a zero point a block, or 128
    }
  }
}

// What may lose more rounds the data to two digits.
TEST(NarrowWeights, AreOfTwoDigitsWhereNumericsAreFast) {
  const ir::Expr call = Narrowed(NarrowModel(kByBlock, -8, 7, 1, ", numerics=\"fast\""), kDots);
  EXPECT_EQ(std::get<int64_t>(call->attrs.at("digits")), 2);
  EXPECT_EQ(call->args[2]->type->tensor.shape, (std::vector<int64_t>{kUnits, 3}));
}

// What they are is what they were: the same product, to float32's rounding.
TEST(NarrowWeights, MeanWhatTheyMeant) {
  for (const auto& [body, high, target] :
       {std::tuple{kByUnit, 7, kDots}, std::tuple{kByUnit, 100, kDots},
        std::tuple{kByTensor, 100, kDots}, std::tuple{kByBlock, 7, kDots},
        std::tuple{kByUnit, 7, kNoDots}, std::tuple{kByTensor, 100, kNoDots},
        std::tuple{kByBlock, 7, kNoDots}, std::tuple{kByBlock, 100, kNoDots}}) {
    const ir::Module model = NarrowModel(body, -high - 1, high);
    const auto narrow = RunOne(model, Context(target), "NarrowWeights");
    ASSERT_TRUE(narrow.ok()) << narrow.status();
    const std::vector<float> expected = InterpretOnRandom(model)[0];
    const std::vector<float> found = InterpretOnRandom(*narrow)[0];
    ASSERT_EQ(found.size(), expected.size());
    float largest = 0;
    for (const float x : expected) largest = std::max(largest, std::abs(x));
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 2e-6 * largest) << body << i;
    }
  }
}

// One constant, which both products read.
TEST(NarrowWeights, ThatSeveralProductsReadAreOne) {
  const ir::Expr last = Narrowed(NarrowModel(
      "%0 = qnn.dequantize(meta[Constant][0], 0.5f32, 0i8); %1 = nn.dense(%x, %0); %2 = "
      "add(%x, 1f32); %3 = nn.dense(%2, %0); add(%1, %3)",
      -128, 127));
  ASSERT_TRUE(ir::IsCall(last->args[0], "nn.scaled_dense"));
  for (const size_t operand : {1, 2}) {
    EXPECT_EQ(last->args[0]->args[operand], last->args[1]->args[operand]);
  }
}

// A product of a product, and three of one operand, which are not stacked first.
TEST(NarrowWeights, FollowEachOtherAndStandSideBySide) {
  const std::string weight =
      "%0 = qnn.dequantize(meta[Constant][0], 0.5f32, 0i8); %1 = strided_slice(%0, begin=[0, 0], "
      "end=[160, 160], strides=[1, 1]); ";
  for (const char* target : {kNoDots, kDots}) {
    const ir::Expr last = Narrowed(
        NarrowModel(weight + "%2 = nn.dense(%x, %0); nn.dense(%2, %1)", -128, 127), target);
    EXPECT_TRUE(ir::IsCall(last, "nn.scaled_dense"));
    EXPECT_TRUE(ir::IsCall(last->args[0], "nn.scaled_dense"));
  }
  const ir::Module three = NarrowModel(
      "%0 = qnn.dequantize(meta[Constant][0], 0.5f32, 0i8); %1 = qnn.dequantize("
      "meta[Constant][0], 0.25f32, 0i8); %2 = qnn.dequantize(meta[Constant][0], 0.125f32, 0i8); "
      "%3 = nn.dense(%x, %0); %4 = nn.dense(%x, %1); %5 = nn.dense(%x, %2); (%3, %4, %5)",
      -128, 127);
  const auto result =
      RunPipeline(three, Context(kDots), {.after = "FoldConstant", .on_pass = nullptr});
  ASSERT_TRUE(result.ok()) << result.status();
  for (const ir::Expr& product : ir::Body(*result->functions.at("main"))->args) {
    EXPECT_TRUE(ir::IsCall(product, "nn.scaled_dense"));
  }
}

// Where they stay products of floats, the stacked weights are folded.
TEST(NarrowWeights, ThatAreNotKeptAreFoldedWhenStacked) {
  const ir::Module three = NarrowModel(
      "%0 = qnn.dequantize(meta[Constant][0], 0.5f32, 0i8); %1 = qnn.dequantize("
      "meta[Constant][0], 0.25f32, 0i8); %2 = qnn.dequantize(meta[Constant][0], 0.125f32, 0i8); "
      "%3 = nn.dense(%x, %0); %4 = nn.dense(%x, %1); %5 = nn.dense(%x, %2); (%3, %4, %5)",
      -128, 127, 1, ", numerics=\"strict\"");
  const auto result =
      RunPipeline(three, Context(kDots), {.after = "FoldConstant", .on_pass = nullptr});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(ir::ToText(*result).find("qnn.dequantize"), std::string::npos);
}

// Few units do not pay for digits.
TEST(NarrowWeights, OfFewUnitsAreNoDigits) {
  const ir::Expr product = Narrowed(
      NarrowModel(
          "%0 = qnn.dequantize(meta[Constant][0], 0.5f32, 0i8); %1 = strided_slice(%0, begin=[0, "
          "0], end=[100, 192], strides=[1, 1]); nn.dense(%x, %1)",
          -128, 127, 16),
      kDots);
  EXPECT_TRUE(ir::IsCall(product, "nn.dense"));
}

// Many rows take longer to multiply than to read; what rounds as it is written stays so.
TEST(NarrowWeights, OfManyRowsOrStrictProductsBecomeFloats) {
  EXPECT_TRUE(ir::IsCall(Narrowed(NarrowModel(kByUnit, -127, 127, 512)), "nn.dense"));
  for (const char* target : {kNoDots, kDots}) {
    const ir::Module strict = NarrowModel(kByUnit, -127, 127, 1, ", numerics=\"strict\"");
    EXPECT_TRUE(ir::IsCall(Narrowed(strict, target), "nn.dense"));
  }
}

// A zero point behind the scale is no integer; a scale for each term is no block's.
TEST(NarrowWeights, OfOtherFormsStayAsTheyAre) {
  for (const char* body :
       {"%0 = cast(meta[Constant][0], dtype=float32); %1 = multiply(%0, 0.5f32); %2 = subtract(%1, "
        "2f32); nn.dense(%x, %2)",
        "%0 = cast(meta[Constant][0], dtype=float32); %1 = multiply(%0, %0); nn.dense(%x, %1)",
        "%0 = cast(meta[Constant][0], dtype=float32); %1 = exp(%0); nn.dense(%x, %1)"}) {
    EXPECT_TRUE(ir::IsCall(Narrowed(NarrowModel(body, -3, 3)), "nn.dense")) << body;
  }
}

}  // namespace
}  // namespace hone::passes
