#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"

namespace hone::schedule {
namespace {

std::string DenseText(int64_t m, int64_t n, int64_t k, bool epilogue, bool constant) {
  const std::string params =
      fmt::format("p0: Tensor[({}, {}), float32], {}p1: Tensor[({}, {}), float32]", m, k,
                  constant ? "const " : "", n, k);
  const std::string end = " accumulate=float32 numerics=default";
  if (!epilogue) return fmt::format("fn ({}) {{ nn.dense(p0, p1) }}", params) + end;
  return fmt::format(
             "fn ({}, const p2: Tensor[({},), float32]) {{ %0 = nn.dense(p0, p1); %1 = "
             "nn.bias_add(%0, p2); nn.relu(%1) }}",
             params, n) +
         end;
}

TEST(Dense, EveryConfigComputesWhatTheNaiveNestDoes) {
  const Target wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const Target narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  const int64_t shapes[][3] = {{1, 1, 1},   {1, 16, 8},   {1, 100, 24}, {7, 17, 5},
                               {13, 33, 8}, {32, 31, 16}, {5, 128, 3},  {64, 15, 4}};
  int checked = 0;
  uint64_t seed = 1;
  for (const auto& [m, n, k] : shapes) {
    for (const bool epilogue : {false, true}) {
      const Target& target = seed % 2 == 0 ? wide : narrow;
      checked +=
          CheckTemplate(DenseText(m, n, k, epilogue, seed % 3 != 0), "dense", target, 4, seed);
      ++seed;
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 30);
}

}  // namespace
}  // namespace hone::schedule
