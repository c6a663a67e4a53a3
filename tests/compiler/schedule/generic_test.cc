#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"

namespace hone::schedule {
namespace {

const char* const kKernels[] = {
    "fn (p0: Tensor[(1, 20, 5, 7), float32], p1: Tensor[(1, 20, 5, 7), float32]) { %0 = add(p0, "
    "p1); nn.relu(%0) }",
    "fn (p0: Tensor[(3, 17), float32], const p1: Tensor[(17,), float32]) { %0 = multiply(p0, p1); "
    "%1 = nn.relu(%0); add(%1, p0) }",
    "fn (p0: Tensor[(37,), float32]) { nn.relu(p0) }",
    "fn (p0: Tensor[(), float32]) { nn.relu(p0) }",
    "fn (p0: Tensor[(1,), float32]) { nn.relu(p0) }",
    "fn (p0: Tensor[(2, 33, 3, 3), float32]) { nn.batch_flatten(p0) }",
    "fn (p0: Tensor[(4, 35), float32]) { nn.softmax(p0) }",
    "fn (p0: Tensor[(2, 16, 4, 4), float32]) { mean(p0, axis=[2, 3]) }",
    "fn (p0: Tensor[(2, 18, 4, 5), float32]) { sum(p0, axis=[1]) }",
    "fn (p0: Tensor[(3, 6, 5), float32]) { transpose(p0, axes=[2, 0, 1]) }",
    "fn (p0: Tensor[(1, 16, 3, 3), float32], p1: Tensor[(1, 17, 3, 3), float32]) { %0 = (p0, p1); "
    "concatenate(%0, axis=1) }",
    "fn (p0: Tensor[(2, 3, 7), float32], p1: Tensor[(2, 5, 7), float32]) { nn.batch_matmul(p0, "
    "p1) }",
    "fn (p0: Tensor[(1, 8, 5, 5), float32], const p1: Tensor[(8, 4, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, groups=2, padding=[1, 1, 1, 1]) }",
};

TEST(Generic, EveryConfigComputesWhatTheNaiveNestDoes) {
  const Target wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const Target narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  int checked = 0;
  uint64_t seed = 1;
  for (const char* kernel : kKernels) {
    for (const Target& target : {wide, narrow}) {
      checked += CheckTemplate(std::string(kernel) + " accumulate=float32 numerics=default",
                               "generic", target, 5, seed++);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 60);
}

}  // namespace
}  // namespace hone::schedule
