#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

struct CellShape {
  int64_t batch, units, terms;
};

std::string Projected(const CellShape& s, int64_t gates) {
  return fmt::format("p0: Tensor[({}, {}, {}), float32], p1: Tensor[({}, {}), float32]", s.batch,
                     gates, s.units, s.batch, s.terms);
}

std::string Weights(const CellShape& s, int64_t gates, const char* name, bool constant) {
  return fmt::format("{}{}: Tensor[({}, {}, {}), float32]", constant ? "const " : "", name, gates,
                     s.units, s.terms);
}

std::string Lstm(const CellShape& s, bool constant, bool peepholes) {
  return fmt::format(
             "fn ({}, p2: Tensor[({}, {}), float32], {}{}) {{ nn.lstm_cell(p0, p1, p2, p3{}) }}",
             Projected(s, 4), s.batch, s.units, Weights(s, 4, "p3", constant),
             peepholes ? fmt::format(", const p4: Tensor[(3, {}), float32]", s.units) : "",
             peepholes ? ", p4" : "") +
         kDefaultEnd;
}

std::string Gru(const CellShape& s, bool constant, bool bias) {
  return fmt::format("fn ({}, {}{}) {{ nn.gru_cell(p0, p1, p2{}) }}", Projected(s, 3),
                     Weights(s, 3, "p2", constant),
                     bias ? fmt::format(", const p3: Tensor[({},), float32]", s.units) : "",
                     bias ? ", p3" : "") +
         kDefaultEnd;
}

std::string GruGates(const CellShape& s, bool constant) {
  return fmt::format("fn ({}, {}) {{ nn.gru_gates(p0, p1, p2) }}", Projected(s, 2),
                     Weights(s, 2, "p2", constant)) +
         kDefaultEnd;
}

TEST(Recurrent, EveryConfigComputesWhatTheNaiveNestDoes) {
  const CpuTarget targets[] = {
      TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2"),
      TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1")};
  const CellShape shapes[] = {{1, 1, 1},   {1, 16, 16}, {1, 33, 33},
                              {2, 32, 32}, {7, 17, 17}, {13, 8, 8}};
  int checked = 0;
  uint64_t seed = 1;
  for (const CellShape& s : shapes) {
    for (const CpuTarget& target : targets) {
      const bool constant = seed % 3 != 0;
      for (const std::string& text : {Lstm(s, constant, seed % 2 == 0),
                                      Gru(s, constant, seed % 2 == 1), GruGates(s, constant)}) {
        checked += CheckTemplate(text, "recurrent", target, 4, seed);
        if (HasFailure()) return;
      }
      ++seed;
    }
  }
  EXPECT_GE(checked, 80);
}

// A state that is projected has other terms than units.
// Three vectors of each gate fit the registers, but two threads cannot share three tiles; and few
// loads follow each other in an iteration.
TEST(Recurrent, ByDefaultThreadsGetTheSameAndWeightsComeByFewLoads) {
  for (const int threads : {1, 2, 4}) {
    const CpuTarget target = TestTarget(
        fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads={}", threads));
    const ops::KernelDefinition def = MustLower(Lstm({1, 128, 128}, true, false));
    const Template& cell = TemplateFor(def);
    const Config config =
        DefaultOfTask({&def, cell.Signatures(def, machine::Machine::For(target))[0], target});
    SCOPED_TRACE(config.ToText());
    if (threads > 1) {
      EXPECT_EQ(8 / config.Int("tile_v") % threads, 0);
    }
    EXPECT_LE(4 * config.Int("tile_v") * config.Int("unroll"), 16);
  }
}

TEST(Recurrent, TakesStatesOfAnotherSize) {
  const CpuTarget target = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2");
  CheckTemplate(Lstm({3, 20, 7}, true, false), "recurrent", target, 6, 1);
}

}  // namespace
}  // namespace hone::schedule
