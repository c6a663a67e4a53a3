// Transposed convolutions, of one group and of several.
#include <tuple>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/conv_texts.h"
#include "tests/compiler/schedule/nest_check.h"

namespace hone::schedule {
namespace {

TEST(Conv, TransposedComputesWhatTheNaiveNestDoes) {
  const char* const targets[] = {"llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2",
                                 "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1"};
  int checked = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Windows w = RandomWindows(random);
    const std::vector<int64_t> extra = Transpose(random, &w);
    const std::string text = TransposedText(w, extra);
    checked += CheckTemplate(text, "conv", TestTarget(targets[seed % 2]), 2, seed);
    if (HasFailure()) FAIL() << seed << text;
  }
  EXPECT_GE(checked, 150);
}

// Channels one by one, multiples of them, groups of whole vectors and of parts, and of neither.
TEST(Conv, GroupedTransposedComputesWhatTheNaiveNestDoes) {
  const char* const targets[] = {"llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2",
                                 "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1",
                                 "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1"};
  const std::pair<int64_t, int64_t> widths[] = {{1, 1}, {1, 2}, {4, 4},   {16, 16}, {8, 24},
                                                {1, 1}, {1, 4}, {12, 32}, {3, 5},   {2, 2}};
  int checked = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Windows w = RandomWindows(random);
    std::tie(w.ic, w.oc) = widths[seed % std::size(widths)];
    const int64_t counts[] = {2, 3, 4, 8, 16, 17};
    const int64_t groups = counts[random.Below(w.oc > 4 ? 3 : 6)];
    const std::vector<int64_t> extra = Transpose(random, &w);
    std::string text = TransposedText(w, extra, groups);
    if (seed % 4 == 3) text = absl::StrReplaceAll(text, {{", float32]", ", bfloat16]"}});
    checked += CheckTemplate(text, "conv", TestTarget(targets[random.Below(3)]), 3, seed);
    if (HasFailure()) FAIL() << seed << text;
  }
  EXPECT_GE(checked, 200);
}

}  // namespace
}  // namespace hone::schedule
