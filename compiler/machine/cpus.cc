#include "compiler/machine/cpus.h"

#include <algorithm>
#include <iterator>

namespace hone::machine {
namespace {

// Cores of Intel's servers since Skylake: a last-level cache in slices, a mesh away. Measured on
// Sapphire Rapids (5.0 and 5.2); the others share its design.
constexpr double kMeshBytesACycle = 5;

// Zen's vdpbf16ps makes twice the products of an FMA in its time; Intel's holds both multipliers
// for two cycles, as if there were none (docs/decisions/0013-16-bit-floats.md).
constexpr double kZenBFloat16DotRate = 2;

constexpr CpuQuirks kQuirks[] = {
    {.cpu = "skylake-avx512", .l3_stream_bytes_a_cycle = kMeshBytesACycle},
    {.cpu = "cascadelake", .l3_stream_bytes_a_cycle = kMeshBytesACycle},
    {.cpu = "cooperlake", .l3_stream_bytes_a_cycle = kMeshBytesACycle},
    {.cpu = "icelake-server", .l3_stream_bytes_a_cycle = kMeshBytesACycle},
    {.cpu = "sapphirerapids", .l3_stream_bytes_a_cycle = kMeshBytesACycle},
    {.cpu = "emeraldrapids", .l3_stream_bytes_a_cycle = kMeshBytesACycle},
    {.cpu = "graniterapids", .l3_stream_bytes_a_cycle = kMeshBytesACycle},
    {.cpu = "znver1", .bfloat16_dot_rate = kZenBFloat16DotRate},
    {.cpu = "znver2", .bfloat16_dot_rate = kZenBFloat16DotRate},
    {.cpu = "znver3", .bfloat16_dot_rate = kZenBFloat16DotRate},
    // Measured on Zen 4 alone; the other Zen cores have such units too.
    {.cpu = "znver4", .bfloat16_dot_rate = kZenBFloat16DotRate, .adds_beside_multiplies = true},
    {.cpu = "znver5", .bfloat16_dot_rate = kZenBFloat16DotRate},
};

}  // namespace

std::span<const CpuQuirks> AllQuirks() { return kQuirks; }

CpuQuirks QuirksOf(std::string_view cpu) {
  const auto row = std::ranges::find(kQuirks, cpu, &CpuQuirks::cpu);
  return row == std::end(kQuirks) ? CpuQuirks{.cpu = cpu} : *row;
}

}  // namespace hone::machine
