// A table of what is known about particular CPUs beyond their features and caches.
#ifndef HONE_COMPILER_MACHINE_CPUS_H_
#define HONE_COMPILER_MACHINE_CPUS_H_

#include <optional>
#include <span>
#include <string_view>

namespace hone::machine {

// How a CPU deviates from what the analytic models assume of all CPUs (memory.h, units.h).
struct CpuQuirks {
  std::string_view cpu;  // as targets name it
  // The measured rate at which one core reads sequentially from the L3 cache, if it is far from
  // the rate assumed of all.
  std::optional<double> l3_stream_bytes_a_cycle = std::nullopt;
  // As in IssueRates, for targets with AVX-512's dot products of bfloat16.
  double bfloat16_dot_rate = 1;
  bool adds_beside_multiplies = false;  // as in IssueRates
};

std::span<const CpuQuirks> AllQuirks();
// The row of a CPU; a row without quirks if the table has none.
CpuQuirks QuirksOf(std::string_view cpu);

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_CPUS_H_
