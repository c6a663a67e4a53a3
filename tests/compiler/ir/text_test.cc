// What users rely on: text prints and parses back to the same module, and mistakes are named with
// line and column.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "compiler/ir/literal.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/structural.h"
#include "support/random.h"
#include "tests/compiler/ir/random_graph.h"

namespace hone::ir {
namespace {

using ::testing::HasSubstr;

constexpr const char* kExample =
    R"(def @main(%data: Tensor[(1, 3, 8, 8), float32], %c: bool) -> Tensor[(1, 4, 4, 4), float32] {
  %0 = nn.conv2d(%data, meta[Constant][0], padding=[1, 1, 1, 1], strides=[2, 2]);
  %1 = fn (%p0: Tensor[(1, 4, 4, 4), float32], primitive=true) {
    add(%p0, 1.5f32)
  };
  %2 = %1(%0, signature="NCHW->NCHW");
  %3 = split(%2, axis=1);
  %4 = (%3.0, %3.1);
  %5 = concatenate(%4, axis=1);
  let %x: Tensor[(1, 4, 4, 4), float32] = %5;
  %6 = nn.relu(%x);
  if (%c) {
    @other(%6)
  } else {
    add(%6, %x)
  }
}

def @other(%"a.b": Tensor[(1, 4, 4, 4), float32]) -> Tensor[(1, 4, 4, 4), float32] {
  %"a.b"
}

meta[Constant][0] = Tensor[(2,), uint8] "AQI=";
)";

TEST(GraphText, ReadsEveryConstructAndPrintsItTheSame) {
  const absl::StatusOr<Module> module = ParseModule(kExample);
  ASSERT_TRUE(module.ok()) << module.status();
  std::string expected = kExample;
  expected.replace(expected.find("(2,)"), 4, "(2)");
  EXPECT_EQ(ToText(*module), expected);
}

TEST(GraphText, RandomModulesComeBackEqual) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Module module = RandomModule(random, 1 + static_cast<int>(seed % 30));
    const std::string text = ToText(module);
    const absl::StatusOr<Module> parsed = ParseModule(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status() << "\n" << text;
    ASSERT_TRUE(StructuralEqual(module, *parsed)) << seed << "\n" << text;
    ASSERT_EQ(ToText(*parsed), text);
  }
}

TEST(GraphText, EveryHalfAndEveryKindOfScalarComesBackBitForBit) {
  for (DataType dtype : {DataType::kFloat16, DataType::kBFloat16}) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const Expr constant = LiteralFromBits(dtype, bits);
      const std::string text = LiteralText(*constant);
      const size_t end = text.find_first_of("fb(");
      const Expr back = text.find('(') != std::string::npos
                            ? constant
                            : LiteralFromDecimal(text.substr(0, end), text.substr(end));
      ASSERT_TRUE(back && StructuralEqual(constant, back)) << text;
    }
  }
}

TEST(GraphText, TenThousandNodesInARowNeedNoStack) {
  Expr x = TensorVar("x", {1}, DataType::kFloat32);
  Expr e = x;
  for (int i = 0; i < 200'000; ++i) e = Call("nn.relu", {e});
  const Module module{{{"main", Function({x}, e)}}};
  const absl::StatusOr<Module> parsed = ParseModule(ToText(module));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(StructuralEqual(module, *parsed));
}

TEST(GraphText, ConstantsCanBeLeftOutForPeople) {
  const absl::StatusOr<Module> module = ParseModule(kExample);
  ASSERT_TRUE(module.ok());
  const std::string text = ToText(*module, {.constants = false});
  EXPECT_THAT(text, HasSubstr("meta[Constant][0] = Tensor[(2), uint8];"));
  EXPECT_THAT(ParseModule(text).status().message(), HasSubstr("printed without them"));
}

struct Mistake {
  const char* text;
  const char* message;
};

TEST(GraphText, MistakesAreNamedWithLineAndColumn) {
  const Mistake mistakes[] = {
      {"def @main() {\n  %0\n}", "2:3: %0 is not defined before its use"},
      {"def @main() {\n  %x\n}", "2:3: there is no variable %x here"},
      {"def @main(%x: float33) { %x }", "1:15: expected a type"},
      {"def @main(%x: float32) { %x",
       "1:28: expected '}' after the result of a block, found the end"},
      {"def @main(%x: float32) { f(%x y) }", "1:31: expected ',' or ')' in operands, found 'y'"},
      {"def @main(%x: float32) { %0 = f(%x); %0 = f(%x); %0 }", "1:38: %0 is defined twice"},
      {"def @main(%x: float32) { %99999999999999999999 = f(%x); %0 }",
       "1:26: expected a node's number, of 64 bits, found"},
      {"def @main(%x: float32, %x: float32) { %x }", "1:24: there are two parameters %x"},
      {"def @main() { @f() }", "1:15: there is no function @f"},
      {"def @main() { 300i8 }", "1:15: expected a number in range"},
      {"def @main() { meta[Constant][3] }", "1:15: there is no 'meta[Constant][3]"},
      {"meta[Constant][0] = Tensor[(2), uint8] \"AQ==\";", "1:40: expected the 2 bytes"},
      {"def @main() { f(a=[1, \"x\"]) }", "1:23: expected an item of the kind of the list's first"},
      {"def @main() { f(a=1, a=2) }", "1:22: attribute a is given twice"},
      {"def @main(%x: Tensor[(9999999999, 9999999999), int8]) { %x }", "over 64 TiB"},
      {"hello", "1:1: expected 'def' or 'meta', found 'hello'"},
      {"def @main() { %1.0(", "1:15: %1 is not defined"},
      {"def @main() { f(s=\"abc", "1:19: this string has no closing quote"},
      {"def @main(%x: float32) { (%x, %x)(1i32) }", "1:26: only a function"},
  };
  for (const Mistake& mistake : mistakes) {
    const absl::StatusOr<Module> module = ParseModule(mistake.text);
    ASSERT_FALSE(module.ok()) << mistake.text;
    EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(module.status().message()), HasSubstr(mistake.message)) << mistake.text;
  }
}

TEST(GraphText, HostileNestingIsRefusedWithoutOverflow) {
  for (const char* piece : {"(", "f(", "{", "fn () {", "if (", "if (true) {"}) {
    std::string text = "def @main() { ";
    for (int i = 0; i < 100'000; ++i) text += piece;
    EXPECT_THAT(std::string(ParseModule(text).status().message()), HasSubstr("nested deeper"))
        << piece;
  }
  std::string type = "def @main(%x: ";
  for (int i = 0; i < 100'000; ++i) type += "(";
  EXPECT_THAT(std::string(ParseModule(type).status().message()), HasSubstr("nested deeper"));
}

TEST(GraphText, DamagedTextNeverCrashes) {
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = kExample;
    for (uint64_t n = 1 + random.Below(4); n > 0; --n) {
      const size_t at = random.Below(text.size());
      switch (random.Below(3)) {
        case 0:
          text[at] = static_cast<char>(random.Next());
          break;
        case 1:
          text.erase(at, random.Below(20));
          break;
        default:
          text.insert(at, text.substr(random.Below(text.size()), random.Below(20)));
      }
      if (text.empty()) text = "x";
    }
    if (const auto module = ParseModule(text); module.ok()) ToText(*module);
  }
}

TEST(Structural, NamesDoNotMatterSharingDoes) {
  const auto parse = [](const char* text) {
    return ParseModule(text).value().functions.at("main");
  };
  const Expr a = parse("def @main(%x: int8) { %0 = f(%x); g(%0, %0) }");
  EXPECT_TRUE(StructuralEqual(a, parse("def @main(%y: int8) { %7 = f(%y); g(%7, %7) }")));
  EXPECT_FALSE(StructuralEqual(a, parse("def @main(%x: int8) { g(f(%x), f(%x)) }")));
  EXPECT_FALSE(StructuralEqual(a, parse("def @main(%x: int16) { %0 = f(%x); g(%0, %0) }")));
  EXPECT_FALSE(StructuralEqual(a, parse("def @main(%x: int8) { %0 = f(%x, a=1); g(%0, %0) }")));
}

}  // namespace
}  // namespace hone::ir
