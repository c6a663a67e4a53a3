// What is known of particular CPUs beyond their features and caches: one row each.
#ifndef HONE_COMPILER_MACHINE_CPUS_H_
#define HONE_COMPILER_MACHINE_CPUS_H_

#include <optional>
#include <span>
#include <string_view>

namespace hone::machine {

// Where a CPU deviates from the rules of the analytic models.
struct CpuQuirks {
  std::string_view cpu;  // as targets name it
  // How fast one core reads in order from the third cache, if that is far from the rule.
  std::optional<double> l3_stream_bytes_a_cycle = std::nullopt;
  // How many products of bfloat16 vectors compute in the time of one of float32, if the target has
  // dot products of bfloat16.
  double bfloat16_dot_rate = 1;
  bool adds_beside_multiplies = false;
};

std::span<const CpuQuirks> AllQuirks();
// The row of a CPU; a row without quirks if the table has none.
CpuQuirks QuirksOf(std::string_view cpu);

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_CPUS_H_
