// Convolutions of groups.
#include "gtest/gtest.h"
#include "tests/compiler/schedule/conv_texts.h"
#include "tests/compiler/schedule/nest_check.h"

namespace hone::schedule {
namespace {

// Groups of every width, by input and output channels: of whole vectors, of halves and quarters, of
// several to a vector, of neither; multiples of each channel.
TEST(Conv, GroupedComputesWhatTheNaiveNestDoes) {
  const char* const targets[] = {"llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2",
                                 "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=2",
                                 "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1"};
  const std::pair<int64_t, int64_t> widths[] = {
      {4, 4},   {8, 8},  {2, 2},  {1, 1}, {16, 16}, {4, 8},   {8, 16}, {32, 16},
      {3, 5},   {5, 32}, {12, 8}, {1, 3}, {24, 24}, {2, 4},   {1, 2},  {1, 4},
      {40, 40}, {8, 4},  {1, 16}, {2, 1}, {20, 12}, {56, 24}, {1, 8},  {6, 6}};
  int checked = 0;
  for (uint64_t seed = 0; seed < 69; ++seed) {
    Random random(seed);
    Windows w = RandomWindows(random);
    const auto& [in, out] = widths[seed % std::size(widths)];
    const int64_t counts[] = {2, 3, 4, 8};
    const int64_t groups = counts[random.Below(4)] * (out < 8 ? 4 : 1);
    if (w.taps.size() == 2 && in == 1 && out == 1) w.taps.pop_back();
    w.data.resize(w.taps.size());
    w.strides.resize(w.taps.size());
    w.dilation.resize(w.taps.size());
    w.before.resize(w.taps.size());
    w.after.resize(w.taps.size());
    w.ic = in;
    w.oc = out * groups;
    const std::string text = WindowsText(w, "float32", "float32", groups);
    checked += CheckTemplate(text, "conv", TestTarget(targets[random.Below(3)]), 2, seed);
    if (HasFailure()) FAIL() << seed << text;
  }
  EXPECT_GE(checked, 200);
}

}  // namespace
}  // namespace hone::schedule
