#include "compiler/machine/machine.h"

#include <variant>

#include "compiler/machine/cpus.h"
#include "fmt/format.h"

namespace hone::machine {
namespace {

VectorUnit VectorUnitOf(const CpuTarget& target) {
  return {.size_bytes = target.VectorBytes(),
          .registers = target.VectorRegisters(),
          .has_half_vectors = target.VectorBytes() == 64 && target.Has("avx512vl"),
          .takes_memory_operands = target.IsX86(),
          .max_hands_nan_on = target.IsAArch64()};
}

MatrixUnit MatrixUnitOf(const CpuTarget& target) {
  return {.takes_bytes = target.MultipliesInTiles(DataType::kInt8),
          .takes_bfloat16 = target.MultipliesInTiles(DataType::kBFloat16)};
}

IssueRates IssueRatesOf(const CpuTarget& target, const CpuQuirks& quirks) {
  IssueRates rates;
  rates.adds_beside_multiplies = quirks.adds_beside_multiplies;
  if (target.IsAArch64() && target.Has("bf16")) rates.bfloat16_dot_rate = 2;
  if (target.Has("avx512bf16")) rates.bfloat16_dot_rate = quirks.bfloat16_dot_rate;
  return rates;
}

Memory MemoryOf(const CpuFacts& facts, const CpuQuirks& quirks) {
  Memory memory;
  memory.l1.size_bytes = facts.l1_bytes;
  memory.l2.size_bytes = facts.l2_bytes;
  memory.l3.size_bytes = facts.l3_bytes;
  memory.l3.stream_bytes_a_cycle = quirks.l3_stream_bytes_a_cycle;
  return memory;
}

}  // namespace

Machine Machine::For(const CpuTarget& target) {
  const CpuQuirks quirks = QuirksOf(target.cpu);
  return {.vector = VectorUnitOf(target),
          .matrix = MatrixUnitOf(target),
          .issue = IssueRatesOf(target, quirks),
          .memory = MemoryOf(target.facts, quirks),
          .copy = {},
          .launch = {},
          .parallel = {{.kind = ParallelKind::kThreads, .width = target.threads}}};
}

absl::StatusOr<Machine> Machine::For(const Target& target) {
  if (const auto* cpu = std::get_if<CpuTarget>(&target.kind)) return For(*cpu);
  return absl::UnimplementedError(fmt::format(
      "expected the target of a CPU, which analytic models know, found '{}'", target.ToString()));
}

}  // namespace hone::machine
