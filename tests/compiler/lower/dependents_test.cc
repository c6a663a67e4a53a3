// Which launches wait for those ahead of them, and where they let those behind them start.
#include "compiler/lower/dependents.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "compiler/loop/parser.h"
#include "compiler/lower/lower.h"
#include "gtest/gtest.h"

namespace hone::lower {
namespace {

constexpr char kHopperOfFourUnits[] = "cuda -arch=sm_90 -multiprocessors=4";

std::vector<LoweredLaunch> LaunchesOfText(const std::string& launches,
                                          const std::string& target = kHopperOfFourUnits) {
  const std::string text =
      "nest @k {\ninput %a: float32[64, 32] NC\nconstant %w: float32[64] C\n"
      "prepared %p: float32[64] C\noutput %c: float32[64, 32] NC\noutput %d: float32[64] C\n" +
      launches + "}";
  const absl::StatusOr<loop::Nest> nest = loop::ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  if (!nest.ok()) return {};
  auto lowered = LowerLaunches(*nest, *Target::Parse(target));
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  return lowered.value_or(std::vector<LoweredLaunch>());
}

// The head of the text of a run launch of one loop, from the word "waits" on.
std::string WaitsOf(const std::string& body) {
  const auto launches = LaunchesOfText("run @go {parallel m in 0..64 {" + body + "}}");
  if (launches.empty()) return "";
  const std::string text = ToText(launches[0]);
  const std::string head = text.substr(0, text.find('\n'));
  const size_t begin = head.find("waits");
  return begin == std::string::npos ? "" : head.substr(begin);
}

constexpr char kTwoLaunches[] =
    "prepare @pack {parallel m in 0..64 {%p[m] = %w[m]}}\n"
    "run @go {parallel m in 0..64 {%d[m] = %a[m, 0] + %p[m]}}\n";

TEST(Dependents, LaunchesOfRunsWaitFromHopperOn) {
  for (const char* const target :
       {"cuda -arch=sm_90", "cuda -arch=sm_90a", "cuda -arch=sm_100", "cuda -arch=sm_120"}) {
    const auto launches = LaunchesOfText(kTwoLaunches, target);
    ASSERT_EQ(launches.size(), 2);
    EXPECT_FALSE(launches[0].waits) << target;
    EXPECT_TRUE(launches[1].waits) << target;
  }
  for (const char* const target :
       {"cuda -arch=sm_75", "cuda -arch=sm_80", "cuda -arch=sm_89", "opencl -device=any",
        "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3"}) {
    const auto launches = LaunchesOfText(kTwoLaunches, target);
    ASSERT_EQ(launches.size(), 2);
    EXPECT_FALSE(launches[1].waits) << target;
  }
}

TEST(Dependents, ALaunchWithoutThreadsWaitsForNothing) {
  EXPECT_FALSE(LaunchesOfText("run @go {parallel m in 0..0 {%d[m] = %a[m, 0]}}")[0].waits);
}

TEST(Dependents, StartBehindTheLastLoopOfSums) {
  EXPECT_EQ(WaitsOf("alloc register %s: float32[1] C {"
                    "%s[0] = 0.0\n"
                    "for k in 0..32 {%s[0] = %s[0] + %a[m, k]}"
                    "%d[m] = %s[0]}"),
            "waits, dependents start behind k");
  // A softmax has its maximum first, then its sum, and a loop that stores results.
  EXPECT_EQ(WaitsOf("alloc register %m: float32[1] C {alloc register %s: float32[1] C {"
                    "%m[0] = -1.0\n"
                    "for k in 0..32 {%m[0] = max(%m[0], %a[m, k])}"
                    "%s[0] = 0.0\n"
                    "for r in 0..32 {%s[0] = %s[0] + exp(%a[m, r] - %m[0])}"
                    "for e in 0..32 {%c[m, e] = exp(%a[m, e] - %m[0]) / %s[0]}}}"),
            "waits, dependents start behind r");
  // Means that run along.
  EXPECT_EQ(WaitsOf("alloc register %s: float32[1] C {"
                    "%s[0] = 0.0\n"
                    "for k in 0..32 {%s[0] = (%s[0] + %a[m, k]) * 0.5}"
                    "%d[m] = %s[0]}"),
            "waits, dependents start behind k");
}

TEST(Dependents, StartBehindAllThatRepeatsALoopOfSums) {
  const std::string sums = "for k in 0..32 {%s[i] = %s[i] + %a[i, k]}";
  EXPECT_EQ(WaitsOf("alloc register %s: float32[4] C {unroll i in 0..4 {%s[i] = 0.0\n" + sums +
                    "}%d[m] = %s[0] + %s[3]}"),
            "waits, dependents start behind k");
  const auto launch =
      LaunchesOfText(
          "run @go {parallel m in 0..64 {alloc register %s: float32[4] C {for i in 0..4 "
          "{%s[i] = 0.0\n" +
          sums + "}%d[m] = %s[0] + %s[3]}}}")
          .at(0);
  ASSERT_NE(launch.end_of_sums, nullptr);
  EXPECT_EQ(launch.end_of_sums->var->name, "i");
}

TEST(Dependents, StartInABranchOnlyWhereNothingIsBehindIt) {
  const std::string sums = "%s[0] = 0.0\nfor k in 0..32 {%s[0] = %s[0] + %a[m, k]}";
  const auto place = [](const std::string& body) {
    return LaunchesOfText("run @go {parallel m in 0..64 {alloc register %s: float32[1] C {" + body +
                          "}}}")
        .at(0)
        .end_of_sums;
  };
  const loop::StmtNode* const inside = place("if m < 60 {" + sums + "%d[m] = %s[0]}");
  ASSERT_NE(inside, nullptr);
  EXPECT_EQ(inside->kind, loop::StmtKind::kFor);
  const auto followed =
      LaunchesOfText("run @go {parallel m in 0..64 {alloc register %s: float32[1] C {if m < 60 {" +
                     sums + "}%d[m] = %s[0]}}}");
  ASSERT_NE(followed.at(0).end_of_sums, nullptr);
  EXPECT_EQ(followed[0].end_of_sums->kind, loop::StmtKind::kIf);
}

TEST(Dependents, StartWhereBlocksEndWithoutAnEpilogueOrSums) {
  // Nothing is behind the loop.
  EXPECT_EQ(WaitsOf("%d[m] = 0.0\nfor k in 0..32 {%d[m] = %d[m] + %a[m, k]}"), "waits");
  EXPECT_EQ(WaitsOf("for i in 0..4 {%c[m, i] = 0.0\nfor k in 0..32 {%c[m, i] = %c[m, i] + %a[m, k]}"
                    "%c[m, i] = max(%c[m, i], 0.0)}"),
            "waits");
  // Elements that are updated once each, or that are new in each step, are no sums.
  EXPECT_EQ(WaitsOf("for e in 0..32 {%c[m, e] = %c[m, e] + %a[m, e]}%d[m] = 1.0"), "waits");
  EXPECT_EQ(WaitsOf("for e in 0..32 {alloc register %s: float32[1] C {%s[0] = %a[m, e]\n"
                    "%s[0] = %s[0] * 2.0\n%c[m, e] = %s[0]}}%d[m] = 1.0"),
            "waits");
  EXPECT_EQ(WaitsOf("%d[m] = %a[m, 0]"), "waits");
}

}  // namespace
}  // namespace hone::lower
