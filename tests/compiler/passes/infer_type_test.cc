#include "compiler/passes/infer_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"

namespace hone::passes {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const char* text) {
  const auto parsed = ir::ParseModule(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return std::string(InferTypes(*parsed).status().message());
}

TEST(InferTypes, MistakesNameTheirExpression) {
  EXPECT_THAT(
      ErrorOf("def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }"),
      HasSubstr("in @main, add(Tensor[(2), float32], Tensor[(3), float32]): "));
  EXPECT_THAT(ErrorOf("def @main(%x: float32) { no.such(%x) }"), HasSubstr("no.such"));
  EXPECT_THAT(ErrorOf("def @main(%x: float32) { (%x, %x).2 }"), HasSubstr("a field 2"));
  EXPECT_THAT(ErrorOf("def @main(%x: float32) { if (%x) { %x } else { %x } }"),
              HasSubstr("expected a condition of type bool, found float32"));
  EXPECT_THAT(ErrorOf("def @main(%c: bool, %x: float32) { if (%c) { %x } else { %c } }"),
              HasSubstr("expected branches of one type, found float32 and bool"));
  EXPECT_THAT(ErrorOf("def @main(%x: float32) { let %y: int8 = %x; %y }"),
              HasSubstr("let %y: expected a value of the variable's type int8, found float32"));
  EXPECT_THAT(ErrorOf("def @main(%x: float32) -> int8 { %x }"),
              HasSubstr("the stated type int8, found float32"));
  EXPECT_THAT(ErrorOf("def @main(%x: float32) { @f(%x) } def @f(%x: int8) { %x }"),
              HasSubstr("expected argument 0 of type int8, found float32"));
  EXPECT_THAT(ErrorOf("def @main(%x: float32) { @main(%x) }"), HasSubstr("must state the type"));
  EXPECT_THAT(ErrorOf("def @main(%x: float32) { %x(%x) }"),
              HasSubstr("in @main, %x(float32): expected a function to call, found float32"));
  EXPECT_THAT(ErrorOf("def @main(%x: float32) { nn.relu(@f) } def @f(%x: int8) { %x }"),
              HasSubstr("found fn (int8) -> int8"));
  EXPECT_THAT(ErrorOf("def @main(%x: float32) { @g(@f) } def @f(%x: int8) { %x } "
                      "def @g(%f: fn (float32) -> float32) { %f(1f32) }"),
              HasSubstr("expected argument 0 of type fn (float32) -> float32, found fn (int8)"));
}

TEST(InferTypes, AttributesThatTheCompilerReadsHaveValuesItKnows) {
  const auto error = [](const std::string& attr) {
    return ErrorOf(("def @main(%x: float32, " + attr + ") { nn.relu(%x) }").c_str());
  };
  EXPECT_EQ(error("ends=\"free\""), "");
  EXPECT_EQ(error("accumulate=\"float32\", numerics=\"strict\""), "");
  EXPECT_EQ(error("anything=\"else\""), "");
  EXPECT_THAT(error("ends=\"fre\""), HasSubstr("expected free as attribute ends, found \"fre\""));
  EXPECT_THAT(error("ends=true"), HasSubstr("expected a string as attribute ends, found true"));
  EXPECT_THAT(error("numerics=\"fats\""), HasSubstr("strict, default or fast"));
  EXPECT_THAT(error("accumulate=\"f32\""), HasSubstr("an element type as attribute accumulate"));
}

TEST(InferTypes, FunctionsAreValues) {
  const auto module = ir::ParseModule(
      "def @main(%x: float32) { %0 = (@f, fn (%y: float32) { negative(%y) }); @g(%0.1) } "
      "def @f(%x: float32) { exp(%x) } "
      "def @g(%f: fn (float32) -> float32) { fn (%x: float32) { %f(%x) } }");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto typed = InferTypes(*module);
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_EQ(ir::ValueType(*typed->functions.at("main")).ToString(),
            "fn (float32) -> fn (float32) -> float32");
  EXPECT_EQ(ir::ValueType(*typed->functions.at("g")).ToString(),
            "fn (fn (float32) -> float32) -> fn (float32) -> float32");
}

TEST(InferTypes, WhatIsKnownIsNotEnteredAgainAndWhatChangedIs) {
  const auto module = ir::ParseModule(
      "def @main(%x: float32) { (@f(exp(%x)), nn.relu(%x)) } def @f(%y: float32) { negative(%y) }");
  ASSERT_TRUE(module.ok()) << module.status();
  InferredNodes known;
  const auto first = InferTypes(*module, known);
  ASSERT_TRUE(first.ok()) << first.status();
  const ir::Expr& body = ir::Body(*first->functions.at("main"));
  EXPECT_TRUE(known.Has(body->args[1]));
  EXPECT_TRUE(known.Has(body->args[0]->args[0]));
  EXPECT_FALSE(known.Has(body->args[0])) << "its type is that of @f, which may change";
  EXPECT_EQ(InferTypes(*first, known)->functions, first->functions);

  ir::Module changed = *first;
  const ir::Expr y = ir::TensorVar("y", {2}, DataType::kFloat32);
  changed.functions["f"] = ir::Function({y}, y);
  const auto wrong = InferTypes(changed, known);
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("expected argument 0 of type"));
}

TEST(InferTypes, RecursionWithAStatedTypeIsFine) {
  const auto module = ir::ParseModule(
      "def @main(%c: bool, %x: float32) -> float32 { if (%c) { @main(%c, %x) } else { %x } }");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto typed = InferTypes(*module);
  ASSERT_TRUE(typed.ok()) << typed.status();
  const auto again = InferTypes(*typed);
  EXPECT_EQ(again->functions.at("main"), typed->functions.at("main"));  // nothing is rebuilt
}

}  // namespace
}  // namespace hone::passes
