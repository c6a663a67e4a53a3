#include <fmt/format.h>

#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"

namespace hone::schedule {
namespace {

CpuTarget WideTarget() {
  return TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
}
CpuTarget NarrowTarget() {
  return TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
}

struct Sizes {
  int64_t heads, rows, keys, depth, units;
};

// Values as the product takes them: units by keys.
std::string Plain(const Sizes& n) {
  return fmt::format(
      "fn (p0: Tensor[({0}, {1}, {3}), float32], p1: Tensor[({0}, {2}, {3}), float32], p2: "
      "Tensor[({0}, {4}, {2}), float32]) {{ %0 = nn.batch_matmul(p0, p1); %1 = nn.softmax(%0, "
      "axis=-1); nn.batch_matmul(%1, p2) }}",
      n.heads, n.rows, n.keys, n.depth, n.units);
}

// Scaled and masked, by batch and head; values in order.
std::string Masked(const Sizes& n, int64_t batch) {
  return fmt::format(
      "fn (p0: Tensor[({0}, {1}, {3}), float32], p1: Tensor[({0}, {2}, {3}), float32], p2: "
      "Tensor[({5}, 1, 1, {2}), float32], p3: Tensor[({0}, {2}, {4}), float32]) {{ %0 = "
      "nn.batch_matmul(p0, p1); %1 = reshape(%0, newshape=[{5}, {6}, {1}, {2}]); %2 = "
      "multiply(%1, 0.25f32); %3 = add(%2, p2); %4 = nn.softmax(%3, axis=-1); %5 = reshape(%4, "
      "newshape=[{0}, {1}, {2}]); %6 = transpose(p3, axes=[0, 2, 1]); nn.batch_matmul(%5, %6) }}",
      n.heads, n.rows, n.keys, n.depth, n.units, batch, n.heads / batch);
}

// Windows: a bias of each head, and behind another reshape a mask of each window.
std::string WindowedText(const Sizes& n, int64_t windows) {
  return fmt::format(
      "fn (p0: Tensor[({0}, {1}, {3}), float32], p1: Tensor[({0}, {2}, {3}), float32], const p2: "
      "Tensor[(1, {6}, {1}, {2}), float32], const p3: Tensor[(1, {5}, 1, {1}, {2}), float32], p4: "
      "Tensor[({0}, {4}, {2}), float32]) {{ %0 = nn.batch_matmul(p0, p1); %1 = reshape(%0, "
      "newshape=[{5}, {6}, {1}, {2}]); %2 = add(%1, p2); %3 = reshape(%2, newshape=[1, {5}, {6}, "
      "{1}, {2}]); %4 = add(%3, p3); %5 = reshape(%4, newshape=[-1, {6}, {1}, {2}]); %6 = "
      "nn.softmax(%5, axis=-1); %7 = reshape(%6, newshape=[{0}, {1}, {2}]); nn.batch_matmul(%7, "
      "p4) }}",
      n.heads, n.rows, n.keys, n.depth, n.units, windows, n.heads / windows);
}

// The degenerate ones first; none that a vector or a tile divides but the last.
const Sizes kSizes[] = {{1, 1, 1, 1, 1},   {2, 1, 17, 3, 5},  {1, 9, 1, 4, 16},
                        {2, 7, 15, 5, 17}, {1, 13, 33, 4, 1}, {2, 17, 31, 3, 8},
                        {1, 67, 5, 2, 33}, {2, 32, 64, 8, 16}};

TEST(Attention, EveryConfigComputesWhatTheNaiveNestDoes) {
  int checked = 0;
  uint64_t seed = 1;
  for (const Sizes& n : kSizes) {
    const CpuTarget target = seed % 2 == 0 ? WideTarget() : NarrowTarget();
    checked += CheckTemplate(Plain(n) + kDefaultEnd, "attention", target, 6, seed++);
    if (HasFailure()) return;
  }
  EXPECT_GE(checked, 50);
}

TEST(Attention, ScalesAndMasksTheScores) {
  uint64_t seed = 1;
  for (const Sizes& n : kSizes) {
    for (const CpuTarget& target : {WideTarget(), NarrowTarget()}) {
      CheckTemplate(Masked(n, n.heads) + kDefaultEnd, "attention", target, 3, seed++);
      CheckTemplate(Masked(n, 1) + kDefaultEnd, "attention", target, 3, seed++);
      if (HasFailure()) return;
    }
  }
}

TEST(Attention, AddsBiasesBetweenReshapes) {
  uint64_t seed = 1;
  for (const Sizes& n : kSizes) {
    const CpuTarget target = seed % 2 == 0 ? WideTarget() : NarrowTarget();
    CheckTemplate(WindowedText(n, n.heads) + kDefaultEnd, "attention", target, 3, seed++);
    CheckTemplate(WindowedText(n, 1) + kDefaultEnd, "attention", target, 3, seed++);
    if (HasFailure()) return;
  }
  CheckTemplate(WindowedText({12, 49, 49, 4, 8}, 4) + kDefaultEnd, "attention", WideTarget(), 3,
                seed);
}

// Heads that are parts of one matrix are read where they lie.
TEST(Attention, ReadsHeadsOutOfOneMatrix) {
  std::string text = "fn (p0: Tensor[(7, 48), float32]) { ";
  int value = 0;
  const auto let = [&](const std::string& expression) {
    text += fmt::format("%{} = {}; ", value, expression);
    return fmt::format("%{}", value++);
  };
  std::string heads[3];
  for (int i = 0; i < 3; ++i) {
    const std::string slice =
        let(fmt::format("strided_slice(p0, axes=[1], begin=[{}], end=[{}])", 16 * i, 16 * (i + 1)));
    const std::string split = let(fmt::format("reshape({}, newshape=[7, 2, 8])", slice));
    heads[i] =
        let(fmt::format("transpose({}, axes={})", split, i == 2 ? "[1, 2, 0]" : "[1, 0, 2]"));
  }
  const std::string scores = let(fmt::format("nn.batch_matmul({}, {})", heads[0], heads[1]));
  const std::string weights = let(fmt::format("nn.softmax({}, axis=2)", scores));
  text += fmt::format("nn.batch_matmul({}, {}) }}", weights, heads[2]);
  for (const CpuTarget& target : {WideTarget(), NarrowTarget()}) {
    CheckTemplate(text + kDefaultEnd, "attention", target, 10, 3);
    if (HasFailure()) return;
  }
}

// Biases are added as keys and values are packed.
TEST(Attention, ComputesKeysAndValuesOnce) {
  const std::string text =
      "fn (p0: Tensor[(2, 9, 8), float32], p1: Tensor[(19, 16), float32], p2: Tensor[(16), "
      "float32]) { %0 = add(p1, p2); %1 = reshape(%0, newshape=[19, 2, 8]); %2 = transpose(%1, "
      "axes=[1, 0, 2]); %3 = nn.batch_matmul(p0, %2); %4 = nn.softmax(%3); %5 = multiply(p1, p2); "
      "%6 = reshape(%5, newshape=[19, 2, 8]); %7 = transpose(%6, axes=[1, 2, 0]); "
      "nn.batch_matmul(%4, %7) }";
  for (const CpuTarget& target : {WideTarget(), NarrowTarget()}) {
    CheckTemplate(text + kDefaultEnd, "attention", target, 10, 5);
    if (HasFailure()) return;
  }
}

TEST(Attention, TakesWhatFollowsElementByElement) {
  CheckTemplate(
      std::string(
          "fn (p0: Tensor[(2, 9, 4), float32], p1: Tensor[(2, 19, 4), float32], p2: Tensor[(2, 17, "
          "19), float32], p3: Tensor[(17), float32]) { %0 = nn.batch_matmul(p0, p1); %1 = "
          "nn.softmax(%0); %2 = nn.batch_matmul(%1, p2); add(%2, p3) }") +
          kDefaultEnd,
      "attention", WideTarget(), 8, 1);
}

// What is no attention: weights read twice, a softmax of columns, weights changed in between.
TEST(Attention, LeavesOthersToTheGenericTemplate) {
  const std::string params =
      "fn (p0: Tensor[(2, 9, 4), float32], p1: Tensor[(2, 9, 4), float32], p2: Tensor[(2, 8, 9), "
      "float32]) { %0 = nn.batch_matmul(p0, p1); ";
  const char* const bodies[] = {
      "%1 = nn.softmax(%0); %2 = nn.batch_matmul(%1, p2); (%1, %2) }",
      "%1 = nn.softmax(%0, axis=1); nn.batch_matmul(%1, p2) }",
      "%1 = nn.softmax(%0); %2 = nn.relu(%1); nn.batch_matmul(%2, p2) }",
      "%1 = nn.softmax(%0); %2 = transpose(%1, axes=[0, 2, 1]); nn.batch_matmul(%2, p2) }",
      "%1 = nn.softmax(%0); nn.batch_matmul(p2, %1) }"};
  for (const char* body : bodies) {
    const ops::KernelDefinition def = MustLower(params + body + kDefaultEnd);
    EXPECT_EQ(TemplateFor(def).name(), "generic") << body;
  }
}

}  // namespace
}  // namespace hone::schedule
