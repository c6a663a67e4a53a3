#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/dense_text.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

TEST(Dense, EveryConfigComputesWhatTheNaiveNestDoes) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  const int64_t shapes[][3] = {{1, 1, 1},   {1, 16, 8},   {1, 100, 24}, {7, 17, 5},
                               {13, 33, 8}, {32, 31, 16}, {5, 128, 3},  {64, 15, 4}};
  int checked = 0;
  uint64_t seed = 1;
  for (const auto& [m, n, k] : shapes) {
    for (const bool epilogue : {false, true}) {
      const CpuTarget& target = seed % 2 == 0 ? wide : narrow;
      checked +=
          CheckTemplate(DenseText(m, n, k, epilogue, seed % 3 != 0), "dense", target, 4, seed);
      ++seed;
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(checked, 30);
}

// With few registers only a step of a single row is as short as its loop; and weights that are read
// once come by few loads.
TEST(Dense, ByDefaultWideVectorsTakeFourStepsAtOnce) {
  const auto unroll_of = [](const char* cpu, int64_t rows, int64_t units = 256) {
    const CpuTarget target =
        TestTarget(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={} -threads=1", cpu));
    const ops::KernelDefinition def = MustLower(DenseText(rows, units, 64, false, true));
    const Template& dense = TemplateFor(def);
    return DefaultOfTask({&def, dense.Signatures(def, machine::Machine::For(target))[0], target})
        .Int("unroll");
  };
  EXPECT_EQ(unroll_of("x86-64-v4", 32), 4);
  EXPECT_EQ(unroll_of("x86-64-v3", 32), 1);
  EXPECT_EQ(unroll_of("x86-64-v3", 1), 1);
  EXPECT_EQ(unroll_of("x86-64-v3", 1, 32), 4);
}

// Panels that few tiles read come into the second cache while it is read: of the tiles that it then
// keeps waiting, six vectors wide, a matrix of 32 rows took a fifth longer.
TEST(Dense, ByDefaultPanelsThatFewTilesReadAreNarrow) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=49152,2097152,272629760 -threads=1");
  const auto vectors_of = [&](int64_t rows, int64_t units = 1024, int64_t terms = 1024) {
    const ops::KernelDefinition def = MustLower(DenseText(rows, units, terms, false, true));
    const Template& dense = TemplateFor(def);
    return DefaultOfTask({&def, dense.Signatures(def, machine::Machine::For(target))[0], target})
        .Int("tile_v");
  };
  EXPECT_LE(vectors_of(32), 3);
  EXPECT_GE(vectors_of(1024), 5);
  // With one tile each weight is read once, and several sums hide the latency.
  for (const int64_t rows : {1, 2}) {
    EXPECT_GE(vectors_of(rows, 2048, 512), 4) << rows;
    EXPECT_GE(vectors_of(rows), 4) << rows;
  }
}

// Half a vector is as many units as there are; wider products leave it to the search.
TEST(Dense, FewUnitsTakeHalfAVector) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  const auto task_of = [&](const ops::KernelDefinition& def, const CpuTarget& target) {
    return Task{&def, TemplateFor(def).Signatures(def, machine::Machine::For(target))[0], target};
  };
  const auto default_of = [&](int64_t units, const CpuTarget& target) {
    const ops::KernelDefinition def = MustLower(DenseText(40, units, 16, true, true));
    return DefaultOfTask(task_of(def, target));
  };
  EXPECT_EQ(default_of(7, wide).Int("lanes"), 8);
  EXPECT_EQ(default_of(24, wide).Int("lanes"), 16);
  EXPECT_FALSE(default_of(15, wide).Has("lanes"));
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1");
  EXPECT_FALSE(default_of(7, narrow).Has("lanes"));

  // What was recorded before the knob was there has whole vectors.
  const ops::KernelDefinition def = MustLower(DenseText(40, 7, 16, true, true));
  const Task task = task_of(def, wide);
  const auto recorded = Config::Parse(
      R"({"strategy":"direct","tile_v":1,"tile_h":1,"tile_w":20,"unroll":1,"order":"n_m",)"
      R"("right":"packed","epilogue":"registers","prefetch":"none"})");
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  const auto today = SpaceOfTask(task).Migrate(*recorded);
  ASSERT_TRUE(today.has_value());
  EXPECT_EQ(today->Int("lanes"), 16);
}

TEST(Dense, ConfigsOfHalfVectorsComputeWhatTheNaiveNestDoes) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const int64_t shapes[][3] = {{33, 7, 16}, {1, 8, 40}, {9, 24, 5}, {64, 1, 12}, {5, 52, 8}};
  uint64_t seed = 1;
  for (const auto& [m, n, k] : shapes) {
    for (const bool constant : {false, true}) {
      CheckTemplate(DenseText(m, n, k, constant, constant), "dense", wide, 8, seed++);
      if (HasFailure()) return;
    }
  }
}

// Functions behind the product: the tile goes through memory.
TEST(Dense, ComputesFunctionsOfItsResult) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const int64_t shapes[][3] = {{1, 32, 4}, {9, 33, 8}, {13, 16, 5}, {5, 80, 3}};
  uint64_t seed = 1;
  for (const auto& [m, n, k] : shapes) {
    CheckTemplate(
        fmt::format(
            "fn (p0: Tensor[({0}, {2}), float32], const p1: Tensor[({1}, {2}), float32]) {{ "
            "%0 = nn.dense(p0, p1); %1 = erf(%0); multiply(%1, %0) }} accumulate=float32 "
            "numerics=default",
            m, n, k),
        "dense", wide, 8, seed++);
    if (HasFailure()) return;
  }
}

// Both orders of the right operand, and operands that are slices of one matrix.
TEST(Dense, MultipliesStacksWhereTheirOperandsLie) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  const char* const kernels[] = {
      "fn (p0: Tensor[(2, 5, 7), float32], p1: Tensor[(2, 17, 7), float32]) { %0 = "
      "nn.batch_matmul(p0, p1); nn.relu(%0) }",
      "fn (p0: Tensor[(3, 1, 4), float32], p1: Tensor[(1, 4, 32), float32]) { %0 = transpose(p1, "
      "axes=[0, 2, 1]); nn.batch_matmul(p0, %0) }",
      "fn (p0: Tensor[(2, 7, 5), float32], const p1: Tensor[(2, 7, 16), float32]) { %0 = "
      "transpose(p1, axes=[0, 2, 1]); %1 = transpose(p0, axes=[0, 2, 1]); nn.batch_matmul(%1, %0) "
      "}",
      "fn (p0: Tensor[(6, 32), float32]) { %0 = strided_slice(p0, axes=[1], begin=[0], end=[16]); "
      "%1 = reshape(%0, newshape=[6, 2, 8]); %2 = transpose(%1, axes=[1, 0, 2]); %3 = "
      "strided_slice(p0, axes=[1], begin=[16], end=[32]); %4 = reshape(%3, newshape=[6, 2, 8]); "
      "%5 = transpose(%4, axes=[1, 0, 2]); nn.batch_matmul(%2, %5) }"};
  uint64_t seed = 1;
  for (const char* kernel : kernels) {
    for (const CpuTarget& target : {wide, narrow}) {
      CheckTemplate(std::string(kernel) + " accumulate=float32 numerics=default", "dense", target,
                    6, seed++);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace hone::schedule
