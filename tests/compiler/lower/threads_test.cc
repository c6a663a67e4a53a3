// What lowering makes of the threads that work on one index of a grid.
#include <string>

#include "absl/strings/str_replace.h"
#include "compiler/loop/parser.h"
#include "compiler/lower/lower.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/compiler/lower/golden_launches.h"

namespace hone::lower {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kGpu[] = "cuda -arch=sm_80 -multiprocessors=4";
constexpr char kCpu[] = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=2";

absl::StatusOr<std::vector<LoweredLaunch>> Lower(const std::string& text,
                                                 const std::string& target = kGpu) {
  const absl::StatusOr<loop::Nest> nest = loop::ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  return LowerLaunches(*nest, Target::Parse(target).value());
}

// One launch over 64 numbers.
std::string Launch(const std::string& body) {
  return R"(nest @k {
input %a: float32[64] C
workspace %w: float32[64] C
output %c: float32[64] C
run @go {
)" + body +
         "\n}}";
}

std::string ErrorOf(const std::string& body) {
  return std::string(Lower(Launch(body)).status().message());
}

size_t BarriersOf(const std::string& body) {
  const auto launches = Lower(Launch(body));
  EXPECT_TRUE(launches.ok()) << launches.status();
  if (!launches.ok()) return 0;
  const std::string text = ToText(launches->at(0));
  size_t count = 0;
  for (size_t at = 0; (at = text.find("  barrier\n", at)) != std::string::npos; ++at) ++count;
  return count;
}

// A product whose operands go through shared memory, with a tile of sums in each thread's
// registers.
constexpr char kSharedProduct[] = R"(nest @k {
input %a: float32[32, 64] NC
input %b: float32[32, 64] NC
output %c: float32[32, 32] NC
run @product {
  parallel m in 0..2 {
    parallel n in 0..2 {
      alloc register %s: float32[16, 16] NC {
        thread y in 0..4 {thread x in 0..8 {unroll i in 0..4 {unroll j in 0..2 {
          %s[y * 4 + i, x * 2 + j] = 0.0
        }}}}
        for k in 0..8 {
          alloc shared %p: float32[16, 8] NC {
            thread y1 in 0..4 {thread x1 in 0..8 {for e in 0..4 {
              %p[e * 4 + y1, x1] = %a[m * 16 + e * 4 + y1, k * 8 + x1]
            }}}
            alloc shared %q: float32[16, 8] NC {
              thread y2 in 0..2 {thread x2 in 0..8 {for e2 in 0..8 {
                %q[e2 * 2 + y2, x2] = %b[n * 16 + e2 * 2 + y2, k * 8 + x2]
              }}}
              thread y3 in 0..4 {thread x3 in 0..8 {for r in 0..8 {unroll i3 in 0..4 {unroll j3 in 0..2 {
                %s[y3 * 4 + i3, x3 * 2 + j3] = %s[y3 * 4 + i3, x3 * 2 + j3] + %p[y3 * 4 + i3, r] * %q[x3 * 2 + j3, r]
              }}}}}
            }
          }
        }
        thread y4 in 0..4 {thread x4 in 0..8 {unroll i4 in 0..4 {unroll j4 in 0..2 {
          %c[m * 16 + y4 * 4 + i4, n * 16 + x4 * 2 + j4] = %s[y4 * 4 + i4, x4 * 2 + j4]
        }}}}
      }
    }
  }
}
})";

TEST(Threads, AProductThroughSharedMemory) {
  const auto launches = Lower(kSharedProduct);
  ASSERT_TRUE(launches.ok()) << launches.status();
  ExpectGolden("threads_product", *launches);
}

TEST(Threads, OnACpuTheLoopsStay) {
  const auto launches = Lower(kSharedProduct, kCpu);
  ASSERT_TRUE(launches.ok()) << launches.status();
  EXPECT_FALSE(launches->at(0).thread.has_value());
  EXPECT_THAT(ToText(launches->at(0)), HasSubstr("thread y in 0..4"));
}

TEST(Threads, LaunchesWithoutThemAreAsBefore) {
  const auto launches = Lower(Launch("parallel i in 0..64 {%c[i] = %a[i]}"));
  ASSERT_TRUE(launches.ok()) << launches.status();
  EXPECT_FALSE(launches->at(0).thread.has_value());
}

TEST(Threads, BarriersStandBetweenWhatDepends) {
  EXPECT_EQ(BarriersOf("thread t in 0..64 {%c[t] = %a[t]}"), 0u);
  // What one wrote the other reads, in global memory too.
  EXPECT_EQ(BarriersOf("thread t in 0..64 {%w[t] = %a[t]} thread u in 0..64 {%c[u] = %w[63 - u]}"),
            1u);
  EXPECT_EQ(BarriersOf("alloc shared %s: float32[64] C {thread t in 0..64 {%s[t] = %a[t]} thread u "
                       "in 0..64 {%c[u] = %s[63 - u]}}"),
            1u);
  // Both only read.
  EXPECT_EQ(BarriersOf("thread t in 0..64 {%w[t] = %a[t]} thread u in 0..64 {%c[u] = %a[u]}"), 0u);
  // One barrier serves all that was written before it.
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[64] C {alloc shared %r: float32[64] C {
      thread t in 0..64 {%s[t] = %a[t]} thread u in 0..64 {%r[u] = %a[u]}
      thread v in 0..64 {%w[v] = %s[63 - v]} thread x in 0..64 {%c[x] = %r[63 - x]}}})"),
            1u);
}

TEST(Threads, AnIterationWaitsForTheOneBeforeIt) {
  // Before the copy is filled again, all have read it; and what is behind the loop waits for it.
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[64] C {
      for k in 0..4 {thread t in 0..64 {%s[t] = %a[t]} thread u in 0..64 {%w[u] = %s[63 - u]}}
      thread v in 0..64 {%c[v] = %w[63 - v]}})"),
            3u);
  // A loop that may not run leaves open what was before it.
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[64] C {thread t in 0..64 {%s[t] = %a[t]}
      for k in 0..4 {for l in 0..k {thread u in 0..64 {%w[u] = %s[63 - u]}}
      thread v in 0..64 {%c[v] = %s[v]}}})"),
            2u);
}

TEST(Threads, WhatIsAllocatedLaterMayHaveTheMemoryOfWhatIsGone) {
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[64] C {thread t in 0..64 {%s[t] = %a[t]}
      thread u in 0..64 {%w[u] = %s[63 - u]}}
      alloc shared %r: float32[64] C {thread v in 0..64 {%r[v] = %a[v]}})"),
            2u);
  // The next iteration's copy, too, waits for those that read the second one.
  EXPECT_EQ(BarriersOf(R"(for k in 0..4 {
      alloc shared %s: float32[64] C {thread t in 0..64 {%s[t] = %a[t]}}
      alloc shared %r: float32[64] C {thread v in 0..64 {%r[v] = %a[v]}}})"),
            2u);
  // Buffers that are there at the same time have memory of their own.
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[64] C {alloc shared %r: float32[64] C {
      thread t in 0..64 {%s[t] = %a[t]} thread v in 0..64 {%r[v] = %a[v]}}})"),
            0u);
}

// What an iteration copies is not what it reads, and is read one or two iterations later.
TEST(Threads, SlotsThatIndicesTellApartAreMemoryOfTheirOwn) {
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[3, 64] NC {
      for k in 0..9 {thread t in 0..64 {%s[floormod(k + 2, 3), t] = %a[t]}
        thread u in 0..64 {%w[u] = %s[floormod(k, 3), 63 - u]}}})"),
            1u);
  // With two slots, too.
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[2, 64] NC {
      for k in 0..9 {thread t in 0..64 {%s[floormod(k + 1, 2), t] = %a[t]}
        thread u in 0..64 {%w[u] = %s[floormod(k, 2), 63 - u]}}})"),
            1u);
  // The slot that is copied is read at once: the next iteration copies to another one.
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[2, 64] NC {
      for k in 0..9 {thread t in 0..64 {%s[floormod(k, 2), t] = %a[t]}
        thread u in 0..64 {%w[u] = %s[floormod(k, 2), 63 - u]}}})"),
            1u);
  // Iterations that are further apart than one have slots in common, if there are as many.
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[3, 64] NC {
      for k in 0..3 {thread t in 0..64 {%s[floormod(k, 3), t] = %a[t]}}})"),
            0u);
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[3, 64] NC {
      for k in 0..4 {thread t in 0..64 {%s[floormod(k, 3), t] = %a[t]}}})"),
            1u);
  // Which slot is read is not known.
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[3, 64] NC {
      for k in 0..9 {thread t in 0..64 {%s[floormod(k + 2, 3), t] = %a[t]}
        thread u in 0..64 {%w[u] = %s[floordiv(k, 3), 63 - u]}}})"),
            2u);
  // The index is not one of loops around the threads: other threads have other slots.
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[64, 2] NC {
      for k in 0..9 {thread t in 0..64 {%s[t, 0] = %a[t]} thread u in 0..64 {%w[u] = %s[u, 0]}}})"),
            2u);
  // Constants are slots as well.
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[2, 64] NC {
      thread t in 0..64 {%s[0, t] = %a[t]} thread u in 0..64 {%s[1, u] = %a[u]}})"),
            0u);
}

// Two slots of which one is filled while the other one is read, and then three.
constexpr char kPipelined[] = R"(alloc shared %s: float32[SLOTS, 64] NC {
    for f in 0..FIRST {thread t in 0..64 {%s[f, t] = %a[t]}}
    for k in 0..9 {
      thread t2 in 0..64 {if k + FIRST < 9 {%s[floormod(k + FIRST, SLOTS), t2] = %a[63 - t2]}}
      thread u in 0..64 {%w[u] = %s[floormod(k, SLOTS), 63 - u]}}
    thread v in 0..64 {%c[v] = %w[63 - v]}})";

std::string Pipelined(const std::string& slots, const std::string& first) {
  return absl::StrReplaceAll(kPipelined, {{"SLOTS", slots}, {"FIRST", first}});
}

TEST(Threads, CopiesToSlotsAreGroupsThatBarriersLeavePending) {
  const auto launches = Lower(Launch(Pipelined("3", "2")));
  ASSERT_TRUE(launches.ok()) << launches.status();
  ExpectGolden("threads_pipelined", *launches);
  EXPECT_EQ(launches->at(0).copied.size(), 1u);
  // With two slots each barrier waits for all.
  const auto two = Lower(Launch(Pipelined("2", "1")));
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_THAT(ToText(two->at(0)), HasSubstr("commit"));
  EXPECT_THAT(ToText(two->at(0)), Not(HasSubstr("pending")));
  // With four of which one is left alone, barriers leave as much pending as with three.
  const auto four = Lower(Launch(Pipelined("4", "2")));
  ASSERT_TRUE(four.ok()) << four.status();
  EXPECT_EQ(four->at(0).copied.size(), 1u);
  EXPECT_THAT(ToText(four->at(0)), HasSubstr("barrier pending 1"));
}

TEST(Threads, OtherCopiesAreNotInTheBackground) {
  const auto is_plain = [](const std::string& body, const std::string& target = kGpu) {
    const auto launches = Lower(Launch(body), target);
    EXPECT_TRUE(launches.ok()) << launches.status() << body;
    return launches.ok() && launches->at(0).copied.empty() &&
           ToText(launches->at(0)).find("commit") == std::string::npos;
  };
  EXPECT_FALSE(is_plain(Pipelined("3", "2")));
  EXPECT_TRUE(is_plain(Pipelined("3", "2"), "cuda -arch=sm_75 -multiprocessors=4"));
  EXPECT_TRUE(is_plain(Pipelined("3", "2"), "opencl -device=pocl"));
  const auto with = [](const std::string& from, const std::string& to) {
    std::string body = Pipelined("3", "2");
    body.replace(body.find(from), from.size(), to);
    return body;
  };
  EXPECT_TRUE(is_plain(with("%a[63 - t2]", "%a[63 - t2] * 2.0"))) << "it is computed";
  EXPECT_TRUE(is_plain(with("for f in 0..2", "for f in 0..1"))) << "the first slots are not filled";
  EXPECT_TRUE(is_plain(with("floormod(k + 2, 3)", "floormod(k + 1, 3)"))) << "one is filled twice";
  EXPECT_TRUE(is_plain(with("floormod(k, 3)", "floormod(k + 1, 3)"))) << "another slot is read";
  EXPECT_TRUE(is_plain(with("for k in 0..9 {", "for k in 0..9 {if k < 8 {").append("}")))
      << "some iterations copy nothing";
}

TEST(Threads, BarriersInBothBranches) {
  EXPECT_EQ(BarriersOf(R"(alloc shared %s: float32[64] C {for k in 0..4 {
      if k < 2 {thread t in 0..64 {%s[t] = %a[t]}} else {thread u in 0..64 {%s[u] = 0.0}}
      thread v in 0..64 {%c[v] = %s[63 - v]}}})"),
            3u);
}

// Between two runs of a thread's elements are those of the others.
TEST(Threads, AThreadHasRunsOfAnAxis) {
  const auto launches = Lower(Launch(R"(alloc register %s: float32[64] C {
      unroll u in 0..2 {thread t in 0..8 {unroll i in 0..4 {%s[u * 32 + t * 4 + i] = %a[i]}}}
      thread x in 0..8 {unroll v in 0..2 {unroll j in 0..4 {%c[x * 8 + v * 4 + j] =
        %s[v * 32 + x * 4 + j]}}}})"));
  ASSERT_TRUE(launches.ok()) << launches.status();
  const std::string text = ToText(launches->at(0));
  EXPECT_THAT(text, HasSubstr("alloc register %s: float32[8]"));
  EXPECT_THAT(text, HasSubstr("%s[u * 4 + i] = "));
  EXPECT_THAT(text, HasSubstr("%s[v * 4 + j]"));
}

TEST(Threads, WhatIsNoOnesPartIsAnError) {
  // Two threads of one element.
  EXPECT_THAT(
      ErrorOf("alloc register %s: float32[64] C {thread y in 0..2 {thread t in 0..32 {%s[t] "
              "= %a[t]}}}"),
      HasSubstr("which several threads touch"));
  // The second loop's threads read what others of them hold.
  EXPECT_THAT(
      ErrorOf("alloc register %s: float32[64] C {thread t in 0..32 {for i in 0..2 {%s[t * 2 "
              "+ i] = %a[t]}} thread u in 0..16 {for j in 0..4 {%c[u] = %s[u * 4 + j]}}}"),
      HasSubstr("found %s[u * 4 + j], which is in another thread's part"));
  EXPECT_THAT(
      ErrorOf("alloc register %s: float32[64] C {thread t in 0..32 {for i in 0..4 {%s[t * 2 "
              "+ i] = %a[t]}}}"),
      HasSubstr("whose thread its indices do not say"));
  EXPECT_THAT(ErrorOf("alloc register %s: float32[2] C {%s[0] = 1.0 thread t in 0..64 {%c[t] = "
                      "%a[t]}}"),
              HasSubstr("expected stores in thread loops, found one to 's' beside them"));
}

// A copy of one element has no loops.
TEST(Threads, TheFirstThreadStoresWhatABlockSharesOnce) {
  const auto launches = Lower(
      Launch("alloc shared %s: float32[1] C {%s[0] = %a[0] thread t in 0..64 {%c[t] = %s[0]}}"));
  ASSERT_TRUE(launches.ok()) << launches.status();
  const std::string text = ToText(launches->at(0));
  const size_t guard = text.find("if thread < 1 {"), barrier = text.find("barrier");
  EXPECT_LT(guard, text.find("%s[0] = %a[0]")) << text;
  EXPECT_LT(text.find("%s[0] = %a[0]"), barrier) << text;
  EXPECT_NE(barrier, std::string::npos) << text;
}

TEST(Threads, WhatThreadsMayDisagreeOnIsAnError) {
  EXPECT_THAT(ErrorOf("if %a[0] < 1.0 {thread t in 0..64 {%c[t] = %a[t]}}"),
              HasSubstr("depend on loops alone"));
  EXPECT_THAT(ErrorOf("for i in 0..4 {thread t in 0..i {%c[t] = %a[t]}}"),
              HasSubstr("expected constant bounds of thread loop 't', found 0..+i"));
  EXPECT_THAT(ErrorOf("thread t in 0..8 {for i in 0..2 {thread u in 0..8 {%c[u] = %a[t]}}}"),
              HasSubstr("expected thread loops directly in each other"));
}

}  // namespace
}  // namespace hone::lower
