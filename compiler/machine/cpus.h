// What is known of single CPUs beyond their features and caches: one row each.
#ifndef HONE_COMPILER_MACHINE_CPUS_H_
#define HONE_COMPILER_MACHINE_CPUS_H_

#include <optional>
#include <span>
#include <string_view>

namespace hone::machine {

// What a CPU does otherwise than the rules of the models say.
struct CpuQuirks {
  std::string_view cpu;  // as targets name it
  // What one core reads in order from behind its second cache, where that is far from the rule.
  std::optional<double> l3_stream_bytes_a_cycle = std::nullopt;
  // Products of bfloat16 that vectors make in the time of one of float32, where the target has dot
  // products of bfloat16.
  double bfloat16_dot_rate = 1;
  bool adds_beside_multiplies = false;
};

std::span<const CpuQuirks> AllQuirks();
// The row of a CPU; one without quirks where there is none.
CpuQuirks QuirksOf(std::string_view cpu);

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_CPUS_H_
