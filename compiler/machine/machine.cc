#include "compiler/machine/machine.h"

#include <algorithm>
#include <variant>

#include "compiler/machine/cpus.h"

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

// What every card allows a block.
constexpr int64_t kCudaThreads = 1024;
constexpr int64_t kCudaSharedBytes = 48 << 10;
// The least that OpenCL 1.2 lets a device have, of those that are not custom ones.
constexpr int64_t kOpenClLocalBytes = 32 << 10;

// A grid of blocks; 0 units or threads: not known, then 1.
Machine WithGrid(int64_t units, int64_t threads, int64_t shared_bytes) {
  Machine machine;
  machine.vector.size_bytes = SizeBytes(DataType::kFloat32);
  machine.parallel = {{.kind = ParallelKind::kGrid, .width = std::max<int64_t>(units, 1)},
                      {.kind = ParallelKind::kBlock,
                       .width = std::max<int64_t>(threads, 1),
                       .shared_bytes = shared_bytes}};
  return machine;
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

Machine Machine::For(const Target& target) {
  if (const CpuTarget* cpu = target.AsCpu()) return For(*cpu);
  if (const auto* opencl = std::get_if<OpenClTarget>(&target.kind)) {
    return WithGrid(opencl->facts.compute_units, opencl->max_threads,
                    opencl->local_bytes > 0 ? opencl->local_bytes : kOpenClLocalBytes);
  }
  const auto& cuda = std::get<CudaTarget>(target.kind);
  return WithGrid(cuda.facts.multiprocessors, kCudaThreads, kCudaSharedBytes);
}

}  // namespace hone::machine
