// The choice of layouts against all choices there are, on problems small enough to list them.
#include "compiler/passes/layout_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "compiler/passes/pbqp.h"
#include "support/random.h"

namespace hone::passes {
namespace {

// Costs in whole numbers, so that sums are exact.
double Cost(Random& random, uint64_t most) { return static_cast<double>(random.Below(most)); }

int AddValue(Random& random, LayoutProblem& problem, int layouts) {
  LayoutValue value{.layouts = layouts, .fixed = 0, .readers = {}, .copies = {}};
  for (int i = 0; i < layouts * layouts; ++i) value.copies.push_back(1 + Cost(random, 40));
  problem.values.push_back(value);
  return static_cast<int>(problem.values.size()) - 1;
}

// A kernel of these operands with up to four options; returns its result.
int AddKernel(Random& random, LayoutProblem& problem, std::vector<int> operands, int layouts = 2) {
  LayoutKernel kernel{.operands = std::move(operands), .result = -1, .options = {}};
  kernel.result = AddValue(random, problem, layouts);
  for (uint64_t n = 1 + random.Below(4); n > 0; --n) {
    LayoutOption option{.ns = Cost(random, 100), .operands = {}, .result = 0};
    for (int v : kernel.operands) {
      const int choices = problem.values[static_cast<size_t>(v)].layouts;
      option.operands.push_back(static_cast<int>(random.Below(static_cast<uint64_t>(choices))));
    }
    option.result = static_cast<int>(random.Below(static_cast<uint64_t>(layouts)));
    kernel.options.push_back(std::move(option));
  }
  problem.kernels.push_back(kernel);
  return kernel.result;
}

// The least total there is.
double BruteForce(const LayoutProblem& problem) {
  LayoutChoice choice(problem.kernels.size(), 0);
  double least = TotalNs(problem, choice);
  while (true) {
    size_t k = 0;
    for (; k < choice.size(); ++k) {
      if (++choice[k] < static_cast<int>(problem.kernels[k].options.size())) break;
      choice[k] = 0;
    }
    if (k == choice.size()) return least;
    least = std::min(least, TotalNs(problem, choice));
  }
}

void ExpectLeast(const LayoutProblem& problem, uint64_t seed) {
  const ChosenLayouts chosen = ChooseLayouts(problem);
  EXPECT_TRUE(chosen.is_exact) << seed;
  EXPECT_EQ(TotalNs(problem, chosen.choice), BruteForce(problem)) << seed;
}

TEST(LayoutChoice, ChainsTakeTheLeastThereIs) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    LayoutProblem problem;
    int value = AddValue(random, problem, 2);
    for (int k = 0; k < 6; ++k) {
      value = AddKernel(random, problem, {value}, 1 + static_cast<int>(seed % 3));
    }
    problem.values[static_cast<size_t>(value)].readers = {0};
    ExpectLeast(problem, seed);
  }
}

// Values have several readers, which share the copies.
TEST(LayoutChoice, TreesTakeTheLeastThereIs) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    LayoutProblem problem;
    std::vector<int> values{AddValue(random, problem, 2)};
    for (int k = 0; k < 7; ++k) {
      const int read = values[random.Below(values.size())];
      values.push_back(AddKernel(random, problem, {read}, 2 + static_cast<int>(seed % 2)));
    }
    if (seed % 2 == 0) problem.values[static_cast<size_t>(values[2])].readers = {0};
    ExpectLeast(problem, seed);
  }
}

// conv, conv + residual, as in ResNet; with a convolution on the shortcut now and then.
TEST(LayoutChoice, ResidualBlocksTakeTheLeastThereIs) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    LayoutProblem problem;
    int value = AddValue(random, problem, 2);
    for (int block = 0; block < 3; ++block) {
      const int inner = AddKernel(random, problem, {value});
      const int shortcut = random.Below(3) == 0 ? AddKernel(random, problem, {value}) : value;
      value = AddKernel(random, problem, {inner, shortcut});
    }
    problem.values[static_cast<size_t>(value)].readers = {0};
    ExpectLeast(problem, seed);
  }
}

// Branches of several kernels that are concatenated, as in Inception.
TEST(LayoutChoice, BranchesThatMeetTakeTheLeastThereIs) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    LayoutProblem problem;
    const int data = AddValue(random, problem, 2);
    std::vector<int> ends;
    for (int branch = 0; branch < 4; ++branch) {
      ends.push_back(AddKernel(random, problem, {data}));
      if (branch % 2 == 0) ends.back() = AddKernel(random, problem, {ends.back()});
    }
    const int all = AddKernel(random, problem, ends);
    AddKernel(random, problem, {all, all});
    ExpectLeast(problem, seed);
  }
}

// Any operands, more than once too.
LayoutProblem AnyGraph(Random& random, int kernels, uint64_t most_operands) {
  LayoutProblem problem;
  std::vector<int> values{AddValue(random, problem, 2), AddValue(random, problem, 3)};
  for (int k = 0; k < kernels; ++k) {
    std::vector<int> operands;
    for (uint64_t n = 1 + random.Below(most_operands); n > 0; --n) {
      operands.push_back(values[random.Below(values.size())]);
    }
    values.push_back(AddKernel(random, problem, operands, 1 + static_cast<int>(random.Below(3))));
    if (random.Below(4) == 0) problem.values.back().readers = {0};
  }
  return problem;
}

TEST(LayoutChoice, AnyGraphIsSolvedExactlyOrNoWorseThanGreedily) {
  int exact = 0;
  double chosen_ns = 0;
  double least_ns = 0;
  double greedy_ns = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const LayoutProblem problem = AnyGraph(random, 8, 3);
    const ChosenLayouts chosen = ChooseLayouts(problem);
    const double total = TotalNs(problem, chosen.choice);
    const double least = BruteForce(problem);
    const double greedy = TotalNs(problem, ChooseGreedily(problem));
    EXPECT_GE(total, least) << seed;
    EXPECT_TRUE(total == least || !chosen.is_exact) << seed;
    EXPECT_LE(total, greedy) << seed;
    exact += chosen.is_exact ? 1 : 0;
    chosen_ns += total;
    least_ns += least;
    greedy_ns += greedy;
  }
  EXPECT_GT(exact, 100);
  EXPECT_LT(exact, 400);
  EXPECT_LE(chosen_ns, 1.001 * least_ns);
  EXPECT_GE(greedy_ns, 1.005 * least_ns);  // there was something to win
}

TEST(LayoutChoice, AmongEqualsThePreferredOptionIsTaken) {
  LayoutProblem problem;
  problem.values.assign(2, {.layouts = 2, .fixed = 0, .readers = {}, .copies = {0, 5, 5, 0}});
  const LayoutOption blocked{.ns = 7, .operands = {0}, .result = 1};
  const LayoutOption row_major{.ns = 7, .operands = {0}, .result = 0};
  problem.kernels.push_back({.operands = {0}, .result = 1, .options = {blocked, row_major}});
  EXPECT_EQ(ChooseLayouts(problem).choice, LayoutChoice{0});
  problem.kernels[0].options = {row_major, blocked};
  EXPECT_EQ(ChooseLayouts(problem).choice, LayoutChoice{0});
}

// DenseNet's form, where every kernel reads all before it within a block, at the length that
// synthetic models have.
TEST(LayoutChoice, TenThousandKernelsAreChosenAtOnce) {
  Random random(1);
  LayoutProblem problem;
  std::vector<int> block{AddValue(random, problem, 2)};
  for (int k = 0; k < 10000; ++k) {
    const int result = AddKernel(random, problem, block);
    if (block.size() == 12) block.clear();
    block.push_back(result);
  }
  const ChosenLayouts chosen = ChooseLayouts(problem);
  EXPECT_FALSE(chosen.is_exact);
  EXPECT_LE(TotalNs(problem, chosen.choice), TotalNs(problem, ChooseGreedily(problem)));
}

// One value that all kernels read.
TEST(LayoutChoice, TenThousandReadersOfOneValueAreChosenAtOnce) {
  Random random(1);
  LayoutProblem problem;
  const int data = AddValue(random, problem, 2);
  for (int k = 0; k < 10000; ++k) AddKernel(random, problem, {data});
  EXPECT_TRUE(ChooseLayouts(problem).is_exact);
}

TEST(Pbqp, ForbiddenPairsAreLeftAlone) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  Pbqp graph;
  for (int i = 0; i < 3; ++i) graph.AddNode({0, 1});
  graph.AddEdge(0, 1, {kNever, 0, 0, kNever});
  graph.AddEdge(1, 2, {kNever, 0, 0, kNever});
  const Pbqp::Solution solution = graph.Solve();
  EXPECT_TRUE(solution.is_exact);
  EXPECT_EQ(solution.choice, (std::vector<int>{0, 1, 0}));
}

}  // namespace
}  // namespace hone::passes
