// Repeats on their way through the passes.
#include "compiler/ops/repeat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/structural.h"
#include "compiler/passes/infer_type.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/skeleton.h"
#include "fmt/format.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// %y.0: the last state, %y.1: what is stacked.
constexpr char kSums[] = R"(
def @main(%x: Tensor[(40, 3), float32], %w: Tensor[(3), float32]) {
  %0 = @sum(zeros_of(%w), %x, %w, trips=40, states=1, slices=1, backwards=[1, 0]);
  (%0.0, %0.1)
}
def @sum(%s: Tensor[(3), float32], %row: Tensor[(3), float32], %w: Tensor[(3), float32]) {
  %0 = multiply(%row, %w);
  %1 = add(%s, %0);
  (%1, %1)
}
)";

std::string Sums() {
  std::string text = kSums;
  const std::string start = "zeros_of(%w)";
  return text.replace(text.find(start), start.size(), "subtract(%w, %w)");
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

ir::Module Parsed(const std::string& text) {
  auto parsed = ir::ParseModule(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return *std::move(parsed);
}

ir::Module After(const std::string& text, const std::string& pass) {
  auto module = RunPipeline(Parsed(text), TestContext(), {.after = pass, .on_pass = nullptr});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::string ErrorOf(const std::string& text, const std::string& pass = "import") {
  return std::string(RunPipeline(Parsed(text), TestContext(), {.after = pass, .on_pass = nullptr})
                         .status()
                         .message());
}

TEST(Repeats, HaveAFormInTextAfterEachPass) {
  for (const std::string& pass : PassNames()) {
    SCOPED_TRACE(pass);
    const ir::Module module = After(Sums(), pass);
    const auto again = InferTypes(Parsed(ir::ToText(module)));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(ir::StructuralEqual(module, *again)) << ir::ToText(module);
  }
}

TEST(Repeats, HaveTheTypesOfTheirFunction) {
  const ir::Module module = After(Sums(), "import");
  EXPECT_EQ(module.functions.at("main")->type->ToString(),
            "(Tensor[(3), float32], Tensor[(40, 3), float32])");
}

TEST(Repeats, MistakesAreNamed) {
  EXPECT_THAT(ErrorOf(Replaced(Sums(), "trips=40", "trips=0")),
              HasSubstr("an integer from 1 to 1099511627776 was expected as attribute trips"));
  EXPECT_THAT(ErrorOf(Replaced(Sums(), "trips=40", "trips=39")),
              HasSubstr("operand 1 was expected to be Tensor[(39, 3), float32], found "
                        "Tensor[(40, 3), float32]"));
  EXPECT_THAT(ErrorOf(Replaced(Sums(), "states=1", "states=2.5")), HasSubstr("attribute states"));
  EXPECT_THAT(ErrorOf(Replaced(Sums(), "states=1", "states=3")), HasSubstr("a repeat: "));
  EXPECT_THAT(ErrorOf(Replaced(Sums(), "[1, 0]", "[1, 0, 1]")),
              HasSubstr("its list backwards was expected to be one entry a slice and a stack"));
  EXPECT_THAT(ErrorOf(Replaced(Sums(), "backwards", "sideways")), HasSubstr("sideways"));
  EXPECT_THAT(ErrorOf(Replaced(Sums(), "(%1, %1)", "(%0, %row)")), Not(HasSubstr("a repeat")));
  EXPECT_THAT(ErrorOf(Replaced(Sums(), "(%1, %1)", "(cast(%1, dtype=int8), %1)")),
              HasSubstr("field 0 of its function's result was expected to be the state's type"));
  EXPECT_THAT(ErrorOf(Replaced(Sums(), "(%1, %1)", "%1")), HasSubstr("a tuple of 1 states"));
  EXPECT_THAT(ErrorOf(Replaced(Sums(), "%s: Tensor[(3), float32], %row", "%s: (int8, int8), %row")),
              HasSubstr("in @sum"));
}

TEST(Repeats, DoNotStandInOneAnother) {
  const std::string text = Sums() + R"(
def @outer(%s: Tensor[(3), float32], %x: Tensor[(40, 3), float32], %w: Tensor[(3), float32]) {
  %0 = @sum(%s, %x, %w, trips=40, states=1, slices=1);
  (%0.0)
}
)";
  const std::string nested =
      Replaced(Replaced(text,
                        "@sum(subtract(%w, %w), %x, %w, trips=40, states=1, slices=1, "
                        "backwards=[1, 0])",
                        "@outer(subtract(%w, %w), %x, %w, trips=20, states=1)"),
               "(%0.0, %0.1)", "(%0.0,)");
  EXPECT_THAT(ErrorOf(Replaced(nested, "(%0.0)\n}", "(%0.0,)\n}"), "InlineFunctions"),
              HasSubstr("repeats that do not stand in one another, found one in @outer"));
}

TEST(Repeats, EachHasAFunctionOfItsOwn) {
  const std::string twice =
      Replaced(Sums(), "(%0.0, %0.1)",
               "%1 = @sum(%0.0, %x, %w, trips=40, states=1, slices=1); (%0.0, %1.1)");
  const ir::Module module = After(twice, "DeadCode");
  EXPECT_EQ(module.functions.size(), 3U);
}

TEST(PackRepeats, MakesRowsOfWholeAlignments) {
  const std::string text = ir::ToText(After(Sums(), "PackRepeats"));
  // Rows of 3 floats: 12 bytes.
  EXPECT_THAT(text, HasSubstr("nn.pad(%x, pad_width=[0, 0, 0, 13])"));
  EXPECT_THAT(text, HasSubstr("rows=true"));
  EXPECT_THAT(text, HasSubstr("strided_slice(%"));
}

TEST(PackRepeats, WhatNobodyReadsGoes) {
  const std::string text = Replaced(Sums(), "(%0.0, %0.1)", "%0.0");
  const ir::Module module = After(text, "PackRepeats");
  EXPECT_EQ(module.functions.at("sum")->type->fields.size(), 1U);
  const std::string unread = Replaced(Sums(), "multiply(%row, %w)", "multiply(%w, %w)");
  EXPECT_EQ(ir::Params(*After(unread, "PackRepeats").functions.at("sum")).size(), 2U);
}

TEST(PackRepeats, WhatIsTheSameInAllTripsIsComputedOnce) {
  const std::string text = Replaced(Sums(), "multiply(%row, %w)", "multiply(%row, exp(tanh(%w)))");
  const ir::Module module = After(text, "PackRepeats");
  EXPECT_THAT(ir::ToText(module.functions.at("main")), HasSubstr("exp("));
  const std::string body = ir::ToText(module.functions.at("sum"));
  EXPECT_THAT(body, Not(HasSubstr("exp(")));
  EXPECT_THAT(body, Not(HasSubstr("tanh(")));
  EXPECT_EQ(ir::Params(*module.functions.at("sum")).size(), 3U);
}

// Skeletons, by which layouts are kept, do not have the names either.
TEST(Repeats, LayoutsStandInTheOrderOfTheCallsWhateverTheNames) {
  const auto chosen = [](const std::string& first, const std::string& second) {
    PassContext context = TestContext();
    std::pair<std::string, std::vector<std::string>> result;
    context.on_layouts = [&](const std::string& skeleton, std::vector<std::string> layouts) {
      result = {skeleton, std::move(layouts)};
    };
    const std::string text = fmt::format(R"(
def @main(%x: Tensor[(1, 32, 14, 14), float32], %w: Tensor[(32, 32, 3, 3), float32],
          %y: Tensor[(4, 8), float32]) {{
  %0 = @{0}(%x, %w, trips=40, states=1, slices=0);
  %1 = @{1}(%y, trips=40, states=1, slices=0);
  (%0.0, %1.0)
}}
def @{0}(%s: Tensor[(1, 32, 14, 14), float32], %w: Tensor[(32, 32, 3, 3), float32]) {{
  %0 = nn.conv2d(%s, %w, padding=[1, 1, 1, 1]);
  (%0,)
}}
def @{1}(%s: Tensor[(4, 8), float32]) {{
  %0 = nn.softmax(%s);
  (%0,)
}}
)",
                                         first, second);
    const auto module = RunPipeline(Parsed(text), context, {});
    EXPECT_TRUE(module.ok()) << module.status();
    return result;
  };
  const auto forwards = chosen("a", "b");
  ASSERT_GE(forwards.second.size(), 2U);
  EXPECT_NE(forwards.second.front(), forwards.second.back());
  EXPECT_EQ(chosen("b", "a"), forwards);
}

TEST(Repeats, AreAPartOfTheSkeleton) {
  const auto skeleton = [](const std::string& text) {
    const ir::Module module = After(text, "FuseOps");
    return SkeletonOf(module.functions.at("main"), module);
  };
  const std::string sums = skeleton(Sums());
  EXPECT_EQ(skeleton(Sums()), sums);
  EXPECT_NE(skeleton(Replaced(Sums(), "multiply(%row", "add(%row")), sums);
  EXPECT_NE(skeleton(Replaced(Sums(), "[1, 0]", "[0, 0]")), sums);
}

}  // namespace
}  // namespace hone::passes
