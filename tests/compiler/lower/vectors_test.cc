// What lowering decides about vectors: dot products and transposed tiles.
#include "compiler/loop/parser.h"
#include "compiler/lower/lower.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone::lower {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTarget[] = "llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server -threads=2";

// A launch over 32 bytes %b, a table of those %t, an int32 %w with four bytes in each element,
// floats %x, and results of both.
std::string Lowered(const std::string& body) {
  const std::string text =
      "nest @k { input %a: uint8[8, 64] NC input %b: int8[8, 64] NC16n4c input %w: int32[8, 16] NC "
      "input %x: float32[64, 64] NC input %t: int64[8] C output %s: int32[8, 16] NC output %y: "
      "float32[64, 64] NC run @l { " +
      body + " } }";
  absl::StatusOr<loop::Nest> nest = loop::ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  if (!nest.ok()) return "";
  const auto launches = LowerLaunches(*nest, CpuTarget::Parse(kTarget).value());
  EXPECT_TRUE(launches.ok()) << launches.status();
  return launches.ok() ? ToText(launches->at(0)) : "";
}

std::string Dot(const std::string& around, const std::string& left, const std::string& right,
                const std::string& end = "") {
  return around + " dot d in 0..4 { %s[0, n] = %s[0, n] + cast<int32>(" + left +
         ") * cast<int32>(" + right + ") }" + end;
}

TEST(Dots, FactorsSideBySideAreAnInstruction) {
  const std::string lanes = "vectorize n in 0..8 {";
  EXPECT_THAT(Lowered(Dot(lanes, "%a[0, d]", "%b[n, d]", "}")), HasSubstr("dot products d"));
  EXPECT_THAT(Lowered(Dot(lanes, "%a[0, d + 4]", "%b[n, d + 8]", "}")),
              HasSubstr("dot products d"));
  EXPECT_THAT(Lowered(Dot("for n in 0..8 {", "%a[0, d]", "%b[n, d]", "}")),
              HasSubstr("dot products d"));
}

TEST(Dots, FactorsApartAreNone) {
  const std::string lanes = "vectorize n in 0..8 {";
  EXPECT_THAT(Lowered(Dot(lanes, "%a[0, d * 2]", "%b[n, d]", "}")), Not(HasSubstr("products")));
  EXPECT_THAT(Lowered(Dot(lanes, "%a[d, n]", "%b[n, d]", "}")), Not(HasSubstr("products")));
  EXPECT_THAT(Lowered(Dot(lanes, "%a[n, d]", "%b[n, d]", "}")), Not(HasSubstr("products")))
      << "lanes that are a row apart";
  EXPECT_THAT(Lowered(Dot(lanes, "%a[0, %t[d]]", "%b[n, d]", "}")), Not(HasSubstr("products")));
}

TEST(Dots, AStepThatReadsTheSumIsNone) {
  const auto lowered = [](const std::string& word) {
    return Lowered("vectorize n in 0..8 { dot d in 0..4 { %s[0, n] = %s[0, n] + bitand(shr(" +
                   word + ", cast<int32>(d * 8)), int32(255)) * cast<int32>(%b[n, d]) } }");
  };
  EXPECT_THAT(lowered("%w[0, n]"), HasSubstr("dot products d"));
  EXPECT_THAT(lowered("%s[0, n]"), Not(HasSubstr("products")));
}

TEST(Dots, AConditionOfTheLanesAllowsNone) {
  const std::string lanes = "vectorize n in 0..8 {";
  const auto guarded = [&](const std::string& condition) {
    return Lowered(Dot(lanes + " if " + condition + " {", "%a[0, d]", "%b[n, d]", "} }"));
  };
  EXPECT_THAT(guarded("n < 5"), Not(HasSubstr("products")));
  EXPECT_THAT(guarded("n < 8"), HasSubstr("products")) << "decided: all lanes are at work";
  EXPECT_THAT(guarded("%t[0] < 5"), HasSubstr("products")) << "the same for all lanes";
}

TEST(Dots, WhatEachLaneHasOfItsOwnIsNotSideBySide) {
  EXPECT_THAT(Lowered("vectorize n in 0..8 { alloc register %o: uint8[4] C { for i in 0..4 { %o[i] "
                      "= %a[0, n * 4 + i] } " +
                      Dot("", "%o[d]", "%b[n, d]", "") + " } }"),
              Not(HasSubstr("products")));
}

TEST(Lanes, TooManyOrUnknownOnesAreALoop) {
  EXPECT_THAT(Lowered("vectorize n in 0..256 { %s[floordiv(n, 16), floormod(n, 16)] = int32(0) }"),
              HasSubstr("vectorize n"));
  EXPECT_THAT(Lowered("vectorize n in 0..257 { %s[0, 0] = int32(0) }"), HasSubstr("for n"));
  EXPECT_THAT(Lowered("for m in 0..8 { vectorize n in 0..m { %s[m, n] = int32(0) } }"),
              HasSubstr("for n"));
}

TEST(Unrolling, CodeThatWouldBecomeTooLongIsALoop) {
  const auto unrolled = [](const std::string& outer, const std::string& inner) {
    return Lowered("unroll o in 0.." + outer + " { unroll i in 0.." + inner +
                   " { %y[0, 0] = %x[0, 0] + 1.0 } }");
  };
  EXPECT_THAT(unrolled("256", "255"), HasSubstr("unroll o in 0..256"));
  EXPECT_THAT(unrolled("256", "256"), HasSubstr("for o in 0..256"));
  EXPECT_THAT(unrolled("256", "256"), HasSubstr("unroll i in 0..256"));
  EXPECT_THAT(unrolled("256", "100000"), HasSubstr("unroll o in 0..256"));
  EXPECT_THAT(unrolled("256", "100000"), HasSubstr("for i in 0..100000"));
  EXPECT_THAT(unrolled("4", "%t[o]"), HasSubstr("for i in 0..%t[o]"));
  EXPECT_THAT(Lowered("unroll i in %t[0]..+4 { %y[0, 0] = %x[0, 0] + 1.0 }"),
              HasSubstr("unroll i in %t[0]..+4"));
}

TEST(Unrolling, TheLimitIsThatOfALaunch) {
  const auto after = [](const std::string& first) {
    return Lowered(first + " unroll i in 0..10000 { %y[1, 0] = 1.0 }");
  };
  EXPECT_THAT(after("unroll o in 0..50000 { %y[0, 0] = 1.0 }"), HasSubstr("unroll i"));
  EXPECT_THAT(after("unroll o in 0..60000 { %y[0, 0] = 1.0 }"), HasSubstr("for i"));
  EXPECT_THAT(after("for p in 0..2 { unroll o in 0..60000 { %y[0, 0] = 1.0 } }"),
              HasSubstr("for i"));
}

TEST(Unrolling, DotLoopsCount) {
  const auto dots = [](const std::string& count) {
    return Lowered(
        Dot("unroll o in 0.." + count + " { for n in 0..8 {", "%a[0, d]", "%b[n, d]", "} }"));
  };
  EXPECT_THAT(dots("10000"), HasSubstr("unroll o"));
  EXPECT_THAT(dots("14000"), HasSubstr("for o"));
}

std::string Tile(const std::string& target, const std::string& value) {
  return Lowered("unroll r in 0..8 { vectorize n in 0..16 { " + target + " = " + value + " } }");
}

TEST(Transpositions, RowsThatAreNeighboursAndLanesApartAreTransposed) {
  EXPECT_THAT(Tile("%y[n, r]", "%x[r, n]"), HasSubstr("transposes the store of r"));
  EXPECT_THAT(Tile("%y[r, n]", "%x[n, r]"), HasSubstr("transposes loads of r"));
  EXPECT_THAT(Tile("%y[r, n]", "%x[r, n]"), Not(HasSubstr("transposes")));
  EXPECT_THAT(Tile("%y[n, r * 2]", "%x[r, n]"), Not(HasSubstr("transposes")));
}

TEST(Transpositions, ElementsOutsideTheBufferAreNotTouched) {
  EXPECT_THAT(Tile("%y[r, n]", "select(n + r < 64, %x[n, r + 56], 0.0)"),
              HasSubstr("transposes loads of r"));
  EXPECT_THAT(Tile("%y[r, n]", "select(n + r < 8, %x[n + 56, r], 0.0)"),
              Not(HasSubstr("transposes")));
  EXPECT_THAT(Tile("%y[r, n]", "select(%t[0] < 8, %x[n, r + min(max(%t[%t[0]], 0), 8)], 0.0)"),
              Not(HasSubstr("transposes")))
      << "the index itself may be loaded from outside its table";
}

// The second row reads the index that the first row wrote.
TEST(Transpositions, AnIndexThatTheStoreWritesMovesTheLoads) {
  const auto lowered = [](const std::string& index) {
    return Lowered(
        "alloc register %i: int64[16, 16] NC { unroll r in 0..8 { vectorize n in 0..16 "
        "{ %i[r, n] = cast<int64>(%x[n, r + min(max(" +
        index + ", 0), 8)]) } } }");
  };
  EXPECT_THAT(lowered("%i[0, 0]"), Not(HasSubstr("transposes")));
  EXPECT_THAT(lowered("%t[0]"), HasSubstr("transposes loads of r"));
}

// Tiles side by side are emitted one after the other, which the rows of the nest are not.
TEST(Transpositions, TilesThatStoreToTheSameElementsStay) {
  const auto lowered = [](const std::string& column) {
    return Lowered("unroll r in 0..4 { unroll b in 0..2 { vectorize n in 0..16 { %y[n, " + column +
                   "] = %x[r * 2 + b, n] } } }");
  };
  EXPECT_THAT(lowered("b * 4 + r"), HasSubstr("transposes the store of r"));
  EXPECT_THAT(lowered("b + r"), Not(HasSubstr("transposes the store of r")));
}

TEST(Transpositions, AStoreThatReadsItsOwnBufferStays) {
  EXPECT_THAT(Tile("%y[n, r]", "%y[n, r] + 1.0"), Not(HasSubstr("transposes")));
}

// The last tile, which is narrower, has a branch of its own; the others are all inside.
TEST(Transpositions, TilesBesideANarrowerOneAreTransposed) {
  EXPECT_THAT(Lowered("parallel o in 0..6 { if o == 5 { %y[0, 0] = 0.0 } else { unroll r in 0..12 "
                      "{ vectorize n in 0..16 { %y[n + 48, o * 12 + r] = %x[r, n] } } } }"),
              HasSubstr("transposes the store of r"));
}

}  // namespace
}  // namespace hone::lower
