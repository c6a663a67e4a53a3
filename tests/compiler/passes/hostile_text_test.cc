// Texts that are short, and ask for much: every one is read, printed and typed, or refused with a
// sentence; none overflows the stack, fills the memory or takes more than a moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/passes/infer_type.h"

namespace hone::passes {
namespace {

using testing::HasSubstr;

constexpr int kLines = 20'000;
constexpr char kHostileHead[] = "def @main(%x: Tensor[(2, 2), float32], %c: bool) {\n";

// `line(i)` for each i, then "%LAST }".
std::string Lines(const std::function<std::string(int)>& line) {
  std::string text = kHostileHead;
  for (int i = 0; i < kLines; ++i) text += line(i);
  return text + "%" + std::to_string(kLines - 1) + " }\n";
}

std::string Repeated(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

// Line i: `%i = begin %PREVIOUS end;`
std::string Chain(const std::string& begin, const std::string& end) {
  return Lines([&](int i) {
    const std::string before = i == 0 ? "%x" : "%" + std::to_string(i - 1);
    return "%" + std::to_string(i) + " = " + begin + before + end + ";\n";
  });
}

// The message of the first step that refuses; "" where none does.
std::string Refusal(const std::string& text) {
  const absl::StatusOr<ir::Module> module = ir::ParseModule(text);
  if (!module.ok()) return std::string(module.status().message());
  EXPECT_FALSE(ir::ToText(*module).empty());
  const absl::StatusOr<ir::Module> typed = InferTypes(*module);
  EXPECT_LT(typed.status().message().size(), 100'000u);
  return std::string(typed.status().message());
}

TEST(HostileTextTest, ALongChainIsAModel) { EXPECT_EQ(Refusal(Chain("nn.relu(", ")")), ""); }

TEST(HostileTextTest, LetsOfOneNameAreAModel) {
  EXPECT_EQ(Refusal(kHostileHead + Repeated("let %y: bool = %c;\n", kLines) + "%y }"), "");
}

TEST(HostileTextTest, ItemsOfItemsEndWhereTheTupleDoes) {
  EXPECT_THAT(Refusal(std::string(kHostileHead) + "%0 = (%x,); %0" + Repeated(".0", kLines) + " }"),
              HasSubstr("a tuple with a field 0"));
}

TEST(HostileTextTest, TuplesOfTuplesAreBounded) {
  const auto doubled = [](int i) {
    const std::string before = i == 0 ? "%x" : "%" + std::to_string(i - 1);
    return "%" + std::to_string(i) + " = (" + before + ", " + before + ");\n";
  };
  EXPECT_THAT(Refusal(Lines(doubled)), HasSubstr("too many fields"));
  EXPECT_THAT(Refusal(Chain("(", ",)")), HasSubstr("tuples at most 200 deep"));
}

TEST(HostileTextTest, FunctionsThatUseOneAnotherAreBounded) {
  std::string called;
  for (int i = 0; i < kLines; ++i) {
    called += "def @f" + std::to_string(i) + "(%x: bool) { @f" + std::to_string(i + 1) + "(%x) }\n";
  }
  called += "def @f" + std::to_string(kLines) + "(%x: bool) { %x }\n";
  EXPECT_THAT(Refusal(called), HasSubstr("at most 200 deep"));
}

TEST(HostileTextTest, BlocksOfOneAnotherAreBounded) {
  EXPECT_THAT(Refusal(Chain("fn (%y: bool) { ", " }")), HasSubstr("nested deeper than 200"));
  EXPECT_THAT(Refusal(Chain("if (%c) { %x } else { ", " }")), HasSubstr("nested deeper than 200"));
}

TEST(HostileTextTest, ShapesOfManyExtentsAreRefused) {
  EXPECT_THAT(Refusal("def @main(%x: Tensor[(" + Repeated("1, ", kLines) + "1), bool]) { %x }"),
              HasSubstr("at most 26 extents"));
}

}  // namespace
}  // namespace hone::passes
