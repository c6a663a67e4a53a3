#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

struct ScaledShape {
  int64_t rows, units, terms, blocks;
};

std::string ScaledText(const ScaledShape& shape, int64_t bits, bool offsets, bool epilogue,
                       int64_t digits = 0) {
  const std::string weight =
      bits == 8 ? fmt::format("Tensor[({}, {}), {}]", shape.units, shape.terms,
                              digits == 0 ? "int8" : "uint8")
                : fmt::format("Tensor[({}, {}), int32]", shape.units, shape.terms / 8);
  const std::string scales = fmt::format("Tensor[({}, {}), float32]", shape.units, shape.blocks);
  const std::string product =
      fmt::format("nn.scaled_dense(p0, p1, p2{}, bits={}, centre={}, digits={})",
                  offsets ? ", p3" : "", bits, offsets || shape.rows % 2 == 0 ? 0 : -3, digits);
  return fmt::format(
      "fn (p0: Tensor[({}, {}), float32], const p1: {}, const p2: {}{}{}) {{ {} }} "
      "accumulate=float32 numerics=default",
      shape.rows, shape.terms, weight, scales, offsets ? ", const p3: " + scales : "",
      epilogue ? fmt::format(", const p4: Tensor[({},), float32]", shape.units) : "",
      epilogue ? fmt::format("%0 = {}; %1 = nn.bias_add(%0, p4); nn.relu(%1)", product) : product);
}

// One block or several; units and rows that fill no tile; all configs keep the bits of sums that
// are exact.
TEST(ScaledDense, EveryConfigComputesWhatTheNaiveNestDoes) {
  const CpuTarget targets[] = {
      TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2"),
      TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=1")};
  const ScaledShape shapes[] = {{1, 16, 32, 1},  {1, 100, 48, 3}, {7, 17, 16, 1},
                                {13, 33, 32, 2}, {4, 128, 64, 4}, {2, 3, 16, 1}};
  int checked = 0;
  uint64_t seed = 1;
  for (const ScaledShape& shape : shapes) {
    for (const int64_t bits : {8, 4}) {
      for (const bool offsets : {false, true}) {
        for (const int64_t digits : {0, 2, 3}) {
          checked += CheckTemplate(ScaledText(shape, bits, offsets, seed % 3 == 0, digits),
                                   "scaled_dense", targets[seed / 3 % 2], 3, seed);
          ++seed;
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GE(checked, 180);
}

// One row is a stream of weights: vectors enough to hide the latency, no matter how narrow.
TEST(ScaledDense, ByDefaultOneRowTakesSeveralVectors) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=1");
  for (const int64_t bits : {8, 4}) {
    const ops::KernelDefinition def = MustLower(ScaledText({1, 1024, 1024, 8}, bits, true, false));
    const Template& scaled = TemplateFor(def);
    EXPECT_GE(
        DefaultOfTask({&def, scaled.Signatures(def, machine::Machine::For(target))[0], target})
            .Int("tile_v"),
        4);
  }
}

}  // namespace
}  // namespace hone::schedule
