// The sparse_dense template on matrices with few, many and no elements, and on columns that fill
// vectors or do not.
#include "compiler/schedule/primitives/prepare_stage.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"

namespace hone::schedule {
namespace {

std::string Kernel(int nonzeros, int rows, int inner, int columns, bool constant,
                   const char* epilogue) {
  const char* word = constant ? "const " : "";
  return fmt::format(
      "fn ({0}p0: Tensor[({1},), float32], {0}p1: Tensor[({1},), int32], {0}p2: Tensor[({2},), "
      "int32], p3: Tensor[({3}, {4}), float32]{5} accumulate=float32 numerics=default",
      word, nonzeros, rows + 1, inner, columns, epilogue);
}
constexpr char kPlain[] = ") { nn.sparse_dense(p0, p1, p2, p3) }";

int CheckOn(const std::string& kernel, uint64_t seed) {
  int checked = 0;
  for (const char* target : {"llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2",
                             "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1"}) {
    checked += CheckTemplate(kernel, "sparse_dense", TestTarget(target), 5, seed);
  }
  return checked;
}

TEST(SparseDenseTemplate, EveryConfigComputesWhatTheNaiveNestDoes) {
  int checked = 0;
  uint64_t seed = 1;
  for (const int columns : {2, 3, 7, 8, 16, 17, 31, 64, 100}) {
    for (const bool constant : {true, false}) {
      checked += CheckOn(Kernel(60, 11, 13, columns, constant, kPlain), seed++);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
  EXPECT_GE(checked, 200);
}

TEST(SparseDenseTemplate, NoRowsOneRowAndNoElements) {
  EXPECT_GT(CheckOn(Kernel(30, 1, 5, 7, true, kPlain), 1), 0);
  EXPECT_GT(CheckOn(Kernel(1, 9, 1, 16, true, kPlain), 2), 0);
  const Target target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  EXPECT_GT(CheckTemplate(Kernel(0, 4, 5, 16, true, kPlain), "empty", target, 1, 3), 0);
}

TEST(SparseDenseTemplate, TakesTheLayersEpilogue) {
  EXPECT_GT(CheckOn(Kernel(60, 11, 13, 7, true,
                           ", const p4: Tensor[(7,), float32]) { %0 = nn.sparse_dense(p0, p1, p2, "
                           "p3); %1 = add(%0, p4); nn.relu(%1) }"),
                    1),
            0);
}

TEST(PrepareStage, RefusesWhatChangesFromRunToRun) {
  const ops::KernelDefinition constant = MustLower(Kernel(9, 4, 5, 7, true, kPlain));
  loop::Nest nest = constant.naive;
  EXPECT_TRUE(PrepareStage(&nest, "sparse_columns").ok());
  EXPECT_EQ(nest.launches[0].phase, loop::Phase::kPrepare);
  ExpectSameResults(constant.naive, nest, 1, "prepared");
  EXPECT_FALSE(PrepareStage(&nest, "sparse_dense").ok());
  loop::Nest variable = MustLower(Kernel(9, 4, 5, 7, false, kPlain)).naive;
  EXPECT_FALSE(PrepareStage(&variable, "sparse_columns").ok());
}

}  // namespace
}  // namespace hone::schedule
