// What lowering makes of tile operations in thread loops.
#include <string>

#include "compiler/loop/parser.h"
#include "compiler/lower/lower.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/compiler/lower/golden_launches.h"

namespace hone::lower {
namespace {

using ::testing::HasSubstr;

constexpr char kWithTensorCores[] = "cuda -arch=sm_80 -multiprocessors=4";

absl::StatusOr<std::vector<LoweredLaunch>> LowerFor(const std::string& target,
                                                    const std::string& text) {
  const absl::StatusOr<loop::Nest> nest = loop::ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  return LowerLaunches(*nest, Target::Parse(target).value());
}

// Two warps of two tiles each, whose factors 128 threads copy.
constexpr char kWarpProductNest[] = R"(nest @k {
input %a: bfloat16[64, 64] NC
input %b: bfloat16[16, 64] NC
output %c: float32[64, 16] NC
run @product {
  parallel b in 0..1 {
    alloc tile %s: float32[64, 16] NC {
      thread y in 0..2 {unroll i in 0..2 {tile m in 0..16 {vectorize n in 0..16 {
        %s[y * 32 + i * 16 + m, n] = 0.0
      }}}}
      for k in 0..4 {
        alloc shared %p: bfloat16[64, 24] NC {
          thread t in 0..128 {for e in 0..8 {
            %p[e * 8 + floordiv(t, 16), floormod(t, 16)] = %a[b * 64 + e * 8 + floordiv(t, 16), k * 16 + floormod(t, 16)]
          }}
          thread y1 in 0..2 {unroll i1 in 0..2 {tile m1 in 0..16 {for s1 in 0..8 {vectorize n1 in 0..16 {dot d1 in 0..2 {
            %s[y1 * 32 + i1 * 16 + m1, n1] = %s[y1 * 32 + i1 * 16 + m1, n1] + cast<float32>(%p[y1 * 32 + i1 * 16 + m1, s1 * 2 + d1]) * cast<float32>(%b[n1, k * 16 + s1 * 2 + d1])
          }}}}}}
        }
      }
      thread y2 in 0..2 {unroll i2 in 0..2 {tile m2 in 0..16 {vectorize n2 in 0..16 {
        %c[b * 64 + y2 * 32 + i2 * 16 + m2, n2] = %s[y2 * 32 + i2 * 16 + m2, n2]
      }}}}
    }
  }
}
})";

TEST(Warps, ATileOperationIsDoneByThirtyTwoThreads) {
  const auto launches = LowerFor(kWithTensorCores, kWarpProductNest);
  ASSERT_TRUE(launches.ok()) << launches.status();
  EXPECT_EQ(launches->at(0).thread->extent, 128);
  EXPECT_EQ(launches->at(0).warps.operations.size(), 3);
  ExpectGolden("warps_product", *launches);
}

// Terms of float32 are steps of one.
constexpr char kFloat32ProductNest[] = R"(nest @k {
input %a: float32[32, 32] NC
input %b: float32[16, 32] NC
output %c: float32[32, 16] NC
run @product {
  parallel b in 0..1 {
    alloc tile %s: float32[32, 16] NC {
      thread y in 0..2 {tile m in 0..16 {vectorize n in 0..16 {%s[y * 16 + m, n] = 0.0}}}
      thread y1 in 0..2 {unroll q in 0..2 {tile m1 in 0..16 {for s1 in 0..16 {vectorize n1 in 0..16 {
        %s[y1 * 16 + m1, n1] = %s[y1 * 16 + m1, n1] + %a[y1 * 16 + m1, q * 16 + s1] * %b[n1, q * 16 + s1]
      }}}}}
      thread y2 in 0..2 {tile m2 in 0..16 {vectorize n2 in 0..16 {
        %c[b * 32 + y2 * 16 + m2, n2] = %s[y2 * 16 + m2, n2]
      }}}
    }
  }
}
})";

TEST(Warps, TileOperationsOfFloat32AreAWarps) {
  const auto launches = LowerFor(kWithTensorCores, kFloat32ProductNest);
  ASSERT_TRUE(launches.ok()) << launches.status();
  EXPECT_EQ(launches->at(0).thread->extent, 64);
  EXPECT_EQ(launches->at(0).warps.operations.size(), 3);
  ExpectGolden("warps_float32", *launches);
}

// Rows of 64 elements are those of four warps together, whose elements have 16 bits.
TEST(Warps, WarpgroupsDoNotMultiplyFloat32) {
  const auto launches = LowerFor("cuda -arch=sm_90a -multiprocessors=4", R"(nest @k {
input %a: float32[64, 64] NC
input %b: float32[16, 64] NC
output %c: float32[64, 16] NC
run @product {
  parallel b in 0..1 {
    alloc tile %s: float32[64, 16] NC {
      thread y in 0..4 {tile m in 0..16 {vectorize n in 0..16 {%s[y * 16 + m, n] = 0.0}}}
      alloc shared %p: float32[64, 64] NC {
        alloc shared %r: float32[16, 64] NC {
          thread t in 0..64 {for i in 0..64 {%p[t, i] = %a[t, i]}}
          thread u in 0..64 {for j in 0..16 {%r[j, u] = %b[j, u]}}
          thread y1 in 0..4 {unroll q in 0..4 {tile m1 in 0..16 {for s1 in 0..16 {vectorize n1 in 0..16 {
            %s[y1 * 16 + m1, n1] = %s[y1 * 16 + m1, n1] + %p[y1 * 16 + m1, q * 16 + s1] * %r[n1, q * 16 + s1]
          }}}}}
        }
      }
      thread y2 in 0..4 {tile m2 in 0..16 {vectorize n2 in 0..16 {
        %c[b * 64 + y2 * 16 + m2, n2] = %s[y2 * 16 + m2, n2]
      }}}
    }
  }
}
})");
  ASSERT_TRUE(launches.ok()) << launches.status();
  EXPECT_EQ(launches->at(0).warps.operations.size(), 3);
  EXPECT_TRUE(launches->at(0).warpgroups.products.empty());
}

TEST(Warps, WithoutTensorCoresOneThreadDoesIt) {
  for (const char* const target : {"cuda -arch=sm_75", "opencl -device=any"}) {
    const auto launches = LowerFor(target, kWarpProductNest);
    ASSERT_TRUE(launches.ok()) << launches.status();
    EXPECT_TRUE(launches->at(0).warps.operations.empty());
    EXPECT_THAT(ToText(launches->at(0)), HasSubstr("if thread < 2 {"));
  }
}

// One warp of a launch whose sums are of this shape.
std::string WarpErrorOf(const std::string& body, const std::string& shape = "16, 16") {
  const auto launches = LowerFor(kWithTensorCores,
                                 "nest @k {\n"
                                 "input %a: bfloat16[64, 64] NC\n"
                                 "input %f: float32[64, 64] NC\n"
                                 "output %c: float32[64, 64] NC\n"
                                 "run @go {parallel b in 0..2 {alloc tile %s: float32[" +
                                     shape + "] NC {\n" + body + "\n}}}}");
  return std::string(launches.status().message());
}

constexpr char kZero[] =
    "thread w in 0..1 {tile m in 0..16 {vectorize n in 0..16 {%s[m, n] = 0.0}}}";

TEST(Warps, OperationsOfOtherShapesAreRefused) {
  EXPECT_EQ(WarpErrorOf(kZero), "");
  // Rows, terms and types that the instructions do not have.
  EXPECT_THAT(
      WarpErrorOf("thread w in 0..2 {tile m in 0..8 {vectorize n in 0..16 {%s[w * 8 + m, n] "
                  "= 0.0}}}"),
      HasSubstr("expected tile operations of a warp, 16 rows by 8 or 16 lanes"));
  EXPECT_THAT(WarpErrorOf("thread w in 0..1 {tile m in 0..16 {for k in 0..4 {vectorize n in 0..16 "
                          "{dot d in 0..2 {%s[m, n] = %s[m, n] + cast<float32>(%a[m, k * 2 + d]) * "
                          "cast<float32>(%a[n, k * 2 + d])}}}}}"),
              HasSubstr("8 or 16 steps of two bfloat16, two float16 or one float32, found\n"));
  EXPECT_THAT(WarpErrorOf("thread w in 0..1 {tile m in 0..16 {for k in 0..4 {vectorize n in 0..16 "
                          "{%s[m, n] = %s[m, n] + %f[m, k] * %f[n, k]}}}}"),
              HasSubstr("expected tile operations of a warp"));
  // Tiles that lie over each other's borders, and along other axes.
  EXPECT_THAT(WarpErrorOf("thread w in 0..1 {for i in 0..2 {tile m in 0..16 {vectorize n in 0..16 "
                          "{%s[i * 8 + m, n] = 0.0}}}}",
                          "24, 16"),
              HasSubstr("side by side"));
}

TEST(Warps, NothingElseIsDoneWithAWarpsSums) {
  EXPECT_THAT(
      WarpErrorOf(std::string(kZero) +
                  "thread t in 0..1 {for i in 0..16 {for j in 0..16 {%c[i, j] = %s[i, j]}}}"),
      HasSubstr("expected tile operations alone to touch the sums 's', which warps hold, found "
                "thread loop 't'"));
  EXPECT_THAT(WarpErrorOf("thread w in 0..1 {%c[b, w] = 1.0 tile m in 0..16 {vectorize n in 0..16 "
                          "{%s[m, n] = 0.0}}}"),
              HasSubstr("expected nothing but tile operations in thread loop 'w'"));
}

TEST(Warps, AWarpLoadsNothingThatItStores) {
  const std::string store = "tile m1 in 0..16 {vectorize n1 in 0..16 {%c[m1, n1] = %s[m1, n1]}}";
  const std::string multiply =
      "tile m2 in 0..16 {for k in 0..16 {vectorize n2 in 0..16 {%s[m2, n2] = %s[m2, n2] + %c[m2, "
      "k] * %f[n2, k]}}}";
  EXPECT_THAT(WarpErrorOf(fmt::format("thread w in 0..1 {{{} {}}}", store, multiply)),
              HasSubstr("thread loop 'w' to load nothing that they store, found 'c'"));
  EXPECT_EQ(
      WarpErrorOf(fmt::format("thread w in 0..1 {{{}}} thread v in 0..1 {{{}}}", store, multiply)),
      "");
}

TEST(Warps, ThreadsOfAWarpGoTheSameWay) {
  EXPECT_EQ(WarpErrorOf("thread w in 0..2 {if b < 1 {tile m in 0..16 {vectorize n in 0..16 {%s[w * "
                        "16 + m, n] = 0.0}}}}",
                        "32, 16"),
            "");
  EXPECT_THAT(WarpErrorOf("thread w in 0..1 {if %f[0, w] < 1.0 {tile m in 0..16 {vectorize n in "
                          "0..16 {%s[m, n] = 0.0}}}}"),
              HasSubstr("depend on loops alone"));
}

}  // namespace
}  // namespace hone::lower
