#include <chrono>
#include <cstring>

#include "compiler/loop/builder.h"
#include "compiler/loop/interpreter.h"
#include "compiler/loop/parser.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tests/compiler/loop/random_nest.h"

namespace hone::loop {
namespace {

using testing::HasSubstr;

constexpr char kScheduled[] = R"(nest @conv_relu {
  input %data: float32[1, 64, 56, 56] NCHW16c
  constant %weight: float32[64, 64, 3, 3] NCHW
  prepared %packed: float32[64, 64, 3, 3] NCHW16c16n domain [-1, 1]
  output %"relu:0": float32[1, 64, 54, 54] NCHW16c
  prepare @pack {
    for p in 0..64 {
      %packed[p, 0, 0, 0] = %weight[p, 0, 0, 0]
    }
  }
  run @conv {
    parallel o in 0..4 {
      for h in 0..54 {
        alloc register %acc: float32[6, 16] NC {
          for r in 0..64 {
            prefetch %packed[o * 16, r, 0, 0] locality 2
            unroll w in 0..6 {
              vectorize i in 0..16 {
                %acc[w, i] = %acc[w, i] + %data[0, r, h, w] * %packed[o * 16 + i, r, 0, 0]
              }
            }
          }
          if h < 53 and not(h == 3) {
            barrier
          } else {
            for t: int32 in int32(2)..+int32(7) {
              %"relu:0"[0, 0, h, cast<int64>(t) - 1] = max(%acc[0, 0], float32(-inf)) * (1.5 + 1e-07)
            }
          }
        }
      }
    }
  }
}
)";

TEST(NestText, PrintsWhatItParsed) {
  const auto nest = ParseNest(kScheduled);
  ASSERT_TRUE(nest.ok()) << nest.status();
  // kNot of a comparison and the sum of constants fold; the rest comes back letter by letter.
  std::string expected = kScheduled;
  const std::string sum = "(1.5 + 1e-07)";
  expected.replace(expected.find(sum), sum.size(), "1.5000001");
  EXPECT_EQ(ToText(*nest), expected);
}

TEST(NestText, PrintsTilesAsItParsedThem) {
  const std::string text = R"(nest @tiles {
  input %a: uint8[7, 24] NC
  input %b: int8[16, 24] NC16n4c
  output %c: int32[7, 16] NC
  run @tiles {
    alloc tile %s: int32[7, 16] NC {
      tile z in 0..7 {
        vectorize l in 0..16 {
          %s[z, l] = int32(0)
        }
      }
      tile m in 0..7 {
        for k in 0..6 {
          vectorize n in 0..16 {
            dot d in 0..4 {
              %s[m, n] = %s[m, n] + cast<int32>(%a[m, k * 4 + d]) * cast<int32>(%b[n, k * 4 + d])
            }
          }
        }
      }
      tile r in 0..7 {
        vectorize o in 0..16 {
          %c[r, o] = %s[r, o]
        }
      }
    }
  }
}
)";
  const auto nest = ParseNest(text);
  ASSERT_TRUE(nest.ok()) << nest.status();
  EXPECT_EQ(ToText(*nest), text);
}

RC_GTEST_PROP(NestTextProperty, ParsesBackToAnEqualNest, (uint64_t seed)) {
  Random random(seed);
  const Nest nest = RandomNest(random);
  for (const Nest& step : {nest, Simplify(nest)}) {
    const std::string text = ToText(step);
    const auto parsed = ParseNest(text);
    if (!parsed.ok()) RC_FAIL(std::string(parsed.status().message()) + "\n" + text);
    if (!StructuralEqual(step, *parsed)) RC_FAIL(text + "\nbecame\n" + ToText(*parsed));
    RC_ASSERT(ToText(*parsed) == text);
  }
}

// Bytes of every global buffer after a run on inputs drawn from `seed`.
std::vector<std::vector<uint8_t>> RunNest(const Nest& nest, uint64_t seed, bool* ok) {
  Random random(seed);
  std::vector<std::vector<uint8_t>> memory;
  std::vector<void*> pointers;
  for (const Buffer& buffer : nest.buffers) {
    std::vector<uint8_t>& bytes = memory.emplace_back(static_cast<size_t>(buffer->SizeBytes()));
    const bool wide = buffer->dtype == DataType::kInt64;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const uint64_t limit = buffer->dtype == DataType::kBool ? 2 : wide && i % 8 != 0 ? 1 : 64;
      bytes[i] = static_cast<uint8_t>(random.Below(limit));
    }
  }
  for (auto& bytes : memory) pointers.push_back(bytes.data());
  *ok = Interpret(nest, pointers).ok();
  return memory;
}

// Stores of narrow and wide values, loops, conditions: simplified nests compute the same bits.
RC_GTEST_PROP(SimplifyNestProperty, ComputesTheSameBits, (uint64_t seed)) {
  Random random(seed);
  const Nest nest = RandomNest(random);
  bool ok = false;
  bool simplified_ok = false;
  const auto expected = RunNest(nest, seed, &ok);
  const auto got = RunNest(Simplify(nest), seed, &simplified_ok);
  RC_ASSERT(ok);
  RC_ASSERT(simplified_ok);
  if (expected != got) RC_FAIL(ToText(nest) + "\nbecame\n" + ToText(Simplify(nest)));
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseNest(text).status().message());
}
std::string Body(const std::string& statement) {
  return "nest @k {\n  output %y: float32[4] C\n  run @l {\n    " + statement + "\n  }\n}";
}

TEST(NestText, ErrorsSayLineColumnAndWhatWasExpected) {
  EXPECT_EQ(ErrorOf("next @k {}"), "1:1: expected 'nest', found 'next'");
  EXPECT_EQ(ErrorOf(Body("%y[i] = 0.0")), "4:8: no loop around binds i");
  EXPECT_EQ(ErrorOf(Body("%z[0] = 0.0")), "4:6: buffer %z is not declared");
  EXPECT_EQ(ErrorOf(Body("%y[0] = 1")),
            "4:13: expected a value of type float32 for %y, found int64");
  EXPECT_EQ(ErrorOf(Body("%y[0, 1] = 1.0")), "4:6: %y has 1 dimensions, found 2 indices");
  EXPECT_EQ(ErrorOf(Body("%y[0] = 1.0 + 1")),
            "4:17: the operands of + have different types, float32 and int64");
  EXPECT_EQ(ErrorOf(Body("%y[0] = max(1.0)")), "4:13: max takes 2 operands, found 1");
  EXPECT_THAT(ErrorOf("nest @k {\n  input %x: float32[4] NC\n}"),
              HasSubstr("2:24: expected a layout of 1 axes"));
}

TEST(NestText, NestingIsBounded) {
  const std::string deep = Body("%y[0] = " + std::string(100000, '(') + "1.0");
  EXPECT_THAT(ErrorOf(deep), HasSubstr("nested too deeply"));
  std::string loops;
  for (int i = 0; i < 100000; ++i) loops += "for i in 0..1 {";
  EXPECT_THAT(ErrorOf(Body(loops)), HasSubstr("nested too deeply"));
  std::string chain = "%y[0] = %y[0]";
  for (int i = 0; i < 100000; ++i) chain += " + %y[0]";
  EXPECT_THAT(ErrorOf(Body(chain)), HasSubstr("too many operators"));
}

RC_GTEST_PROP(NestTextProperty, DamagedTextIsAnErrorOrANest, (uint64_t seed)) {
  Random random(seed);
  std::string text = random.Below(2) ? kScheduled : ToText(RandomNest(random));
  for (uint64_t n = 1 + random.Below(4); n > 0; --n) {
    const size_t at = random.Below(text.size());
    switch (random.Below(3)) {
      case 0:
        text[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        text.erase(at, 1 + random.Below(5));
        break;
      default:
        text.insert(at, text.substr(random.Below(text.size()), random.Below(10)));
    }
    if (text.empty()) break;
  }
  const auto nest = ParseNest(text);
  if (nest.ok()) {
    RC_ASSERT(ParseNest(ToText(*nest)).ok());
  } else {
    RC_ASSERT(nest.status().code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST(NestText, CanonicalTextForgetsNames) {
  const auto make = [](const std::string& a, const std::string& b, const std::string& i) {
    const Buffer x = MakeBuffer(a, DataType::kFloat32, {4}, Role::kInput);
    const Buffer y = MakeBuffer(b, DataType::kFloat32, {4}, Role::kOutput);
    const Expr var = Var(i);
    return Nest{
        "n" + a, {x, y}, {{b, Phase::kRun, For(var, 0, 4, Store(y, {var}, Load(x, {var})))}}};
  };
  EXPECT_EQ(ToCanonicalText(make("x", "y", "i")), ToCanonicalText(make("p", "q", "r")));
  EXPECT_NE(ToText(make("x", "y", "i")), ToText(make("p", "q", "r")));
}

}  // namespace
}  // namespace hone::loop
