// Rows whose elements lie far apart in what computes them: it is stored, not computed again for
// every row.
#include <algorithm>

#include "compiler/loop/visit.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

using loop::Stmt;
using loop::StmtKind;

// A roll over two axes, as torch exports it: slices that change places.
std::string Rolled(const std::string& first, const std::string& last) {
  const auto slice = [](const char* of, const char* axis, const char* range) {
    return fmt::format("strided_slice({}, axes=[{}], {})", of, axis, range);
  };
  return first + "%2 = " + slice("%1", "1", "begin=[5], end=[8]") +
         "; %3 = " + slice("%1", "1", "begin=[0], end=[5]") +
         "; %4 = concatenate((%2, %3), axis=1); %5 = " + slice("%4", "2", "begin=[3], end=[8]") +
         "; %6 = " + slice("%4", "2", "begin=[0], end=[3]") +
         "; %7 = concatenate((%5, %6), axis=2); " + last;
}

const char* const kWindows =
    "%8 = reshape(p0, newshape=[1, 2, 2, 4, 4, 20]); %9 = transpose(%8, axes=[0, 1, 3, 2, 4, 5]); "
    "%1 = reshape(%9, newshape=[1, 8, 8, 20]); ";

std::vector<std::string> Kernels() {
  return {"fn (p0: Tensor[(4, 4, 4, 20), float32]) { " +
              Rolled(kWindows, "nn.layer_norm(%7, axis=[3])") + " }",
          "fn (p0: Tensor[(1, 8, 8, 20), float32]) { " +
              Rolled("%1 = exp(p0); ", "nn.softmax(%7, axis=3)") + " }",
          "fn (p0: Tensor[(1, 8, 8, 20), float32]) { " +
              Rolled("%1 = exp(p0); ", "mean(%7, axis=[3])") + " }",
          "fn (p0: Tensor[(1, 9, 9, 20), float32]) { %0 = exp(p0); %1 = nn.pad(%0, pad_width=[0, "
          "0, 4, 4, 4, 4, 0, 0], pad_mode=\"reflect\"); nn.layer_norm(%1, axis=[3]) }",
          "fn (p0: Tensor[(1, 9, 9, 20), float32]) { %0 = exp(p0); %1 = nn.pad(%0, pad_width=[0, "
          "0, 4, 4, 4, 4, 0, 0], pad_mode=\"wrap\"); nn.softmax(%1, axis=3) }",
          "fn (p0: Tensor[(40, 20), float32], const p1: Tensor[(30,), int64]) { %0 = exp(p0); %1 "
          "= take(%0, p1, axis=0); nn.softmax(%1, axis=1) }"};
}

// Stores of a launch, at most.
double StoresIn(const Stmt& s) {
  if (s->kind == StmtKind::kStore) return 1;
  double stores = 0;
  for (const Stmt& child : s->body) stores += StoresIn(child);
  int64_t extent = 1;
  if (s->kind == StmtKind::kFor && !loop::IsConstInt(s->extent, &extent)) extent = 1000;
  return stores * static_cast<double>(extent);
}

// The naive nest computes everything once: a schedule that computes it a few times over is one that
// forgot to store.
TEST(StoredRows, AreNotComputedForEveryRow) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  for (const std::string& kernel : Kernels()) {
    const ops::KernelDefinition def = MustLower(kernel + " accumulate=float32 numerics=default");
    const Template& templ = TemplateFor(def);
    ASSERT_EQ(templ.name(), "rows") << kernel;
    const Task task{&def, templ.Signatures(def, machine::Machine::For(target))[0], target};
    const Config config = DefaultOfTask(task);
    EXPECT_EQ(config.String("strategy"), "rows") << kernel;
    const auto nest = NestOfConfig(task, config);
    ASSERT_TRUE(nest.ok()) << nest.status();
    double naive = 0, scheduled = 0;
    for (const loop::Launch& launch : def.naive.launches) naive += StoresIn(launch.body);
    for (const loop::Launch& launch : nest->launches) scheduled += StoresIn(launch.body);
    EXPECT_LE(scheduled, 2 * naive) << kernel;
  }
}

TEST(StoredRows, AreWhatTheNaiveNestComputes) {
  const CpuTarget wide = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  const CpuTarget narrow = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1");
  uint64_t seed = 1;
  for (const std::string& kernel : Kernels()) {
    for (const CpuTarget& target : {wide, narrow}) {
      EXPECT_GE(
          CheckTemplate(kernel + " accumulate=float32 numerics=default", "rows", target, 6, seed++),
          6);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace hone::schedule
