// Which tile operations four warps do together.
#include <fmt/format.h>

#include <string>

#include "compiler/loop/parser.h"
#include "compiler/lower/lower.h"
#include "gtest/gtest.h"
#include "tests/compiler/lower/golden_launches.h"

namespace hone::lower {
namespace {

// Four warps of 16 rows, each with two tiles of lanes, whose factors threads copy 64 terms at a
// time.
struct GroupOfWarps {
  std::string row = "y1 * 16 + m1";   // of the left factor
  std::string lane = "j1 * 16 + n1";  // of the right factor
  int64_t left_terms = 64;            // that a row has room for
  std::string part = "q * 32";        // the first term
  std::string condition = "k < 4";    // around the product
  int64_t copied = 8;                 // neighbours that a thread copies at once
};

absl::StatusOr<std::vector<LoweredLaunch>> LaunchesOf(const GroupOfWarps& group,
                                                      const std::string& arch = "sm_90a") {
  const std::string text = fmt::format(
      R"(nest @k {{
input %a: bfloat16[64, 256] NC
input %b: bfloat16[32, 256] NC
output %c: float32[64, 32] NC
run @product {{
  parallel b in 0..1 {{
    alloc tile %s: float32[64, 32] NC {{
      thread y in 0..4 {{unroll j in 0..2 {{tile m in 0..16 {{vectorize n in 0..16 {{
        %s[y * 16 + m, j * 16 + n] = 0.0
      }}}}}}}}
      for k in 0..4 {{
        alloc shared %p: bfloat16[64, {2}] NC {{alloc shared %r: bfloat16[32, 64] NC {{
          thread t in 0..64 {{for e in 0..{6} {{vectorize v in 0..{5} {{
            %p[t, e * {5} + v] = %a[t, k * 64 + e * {5} + v]
          }}}}}}
          thread u in 0..32 {{for f in 0..8 {{vectorize w in 0..8 {{
            %r[u, f * 8 + w] = %b[u, k * 64 + f * 8 + w]
          }}}}}}
          thread y1 in 0..4 {{if {4} {{unroll q in 0..2 {{unroll j1 in 0..2 {{tile m1 in 0..16 {{for s1 in 0..16 {{vectorize n1 in 0..16 {{dot d1 in 0..2 {{
            %s[y1 * 16 + m1, j1 * 16 + n1] = %s[y1 * 16 + m1, j1 * 16 + n1] + cast<float32>(%p[{0}, {3} + s1 * 2 + d1]) * cast<float32>(%r[{1}, {3} + s1 * 2 + d1])
          }}}}}}}}}}}}}}}}
        }}}}
      }}
      thread y2 in 0..4 {{unroll j2 in 0..2 {{tile m2 in 0..16 {{vectorize n2 in 0..16 {{
        %c[y2 * 16 + m2, j2 * 16 + n2] = %s[y2 * 16 + m2, j2 * 16 + n2]
      }}}}}}}}
    }}
  }}
}}
}})",
      group.row, group.lane, group.left_terms, group.part, group.condition, group.copied,
      64 / group.copied);
  const absl::StatusOr<loop::Nest> nest = loop::ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  return LowerLaunches(*nest, Target::Parse("cuda -arch=" + arch + " -multiprocessors=4").value());
}

size_t ProductsOf(const GroupOfWarps& group, const std::string& arch = "sm_90a") {
  const auto launches = LaunchesOf(group, arch);
  EXPECT_TRUE(launches.ok()) << launches.status();
  if (!launches.ok()) return 0;
  EXPECT_FALSE(launches->at(0).warps.operations.empty());
  return launches->at(0).warpgroups.products.size();
}

TEST(Warpgroups, FourWarpsMultiplyFromSwizzledMemory) {
  const auto launches = LaunchesOf({});
  ASSERT_TRUE(launches.ok()) << launches.status();
  EXPECT_EQ(launches->at(0).warpgroups.products.size(), 1);
  EXPECT_EQ(launches->at(0).warpgroups.swizzled.size(), 2);
  ExpectGolden("warpgroups_product", *launches);
}

TEST(Warpgroups, OtherProductsAreTheWorkOfSingleWarps) {
  EXPECT_EQ(ProductsOf({}), 1);
  EXPECT_EQ(ProductsOf({}, "sm_90"), 0);
  // Rows with something behind them, in another order, or the same for all warps.
  EXPECT_EQ(ProductsOf({.left_terms = 72}), 0);
  EXPECT_EQ(ProductsOf({.row = "(3 - y1) * 16 + m1"}), 0);
  EXPECT_EQ(ProductsOf({.row = "m1"}), 0);
  // Tiles that do not go along the right factor, and terms that begin elsewhere.
  EXPECT_EQ(ProductsOf({.lane = "n1"}), 0);
  EXPECT_EQ(ProductsOf({.part = "q * 8"}), 0);
  // Not all of the warps.
  EXPECT_EQ(ProductsOf({.condition = "y1 < 3"}), 0);
}

TEST(Warpgroups, OperandsThatOthersAccessAcrossChunksAreNotSwizzled) {
  EXPECT_EQ(ProductsOf({.copied = 4}), 1);
  EXPECT_EQ(ProductsOf({.copied = 16}), 0);
}

}  // namespace
}  // namespace hone::lower
