// The parameter section of a module: one copy per (constant, layout).
#ifndef HONE_COMPILER_DRIVER_PARAMETERS_H_
#define HONE_COMPILER_DRIVER_PARAMETERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/driver/kernel_graph.h"
#include "compiler/loop/stmt.h"

namespace hone::driver {

// A call of a graph.
struct CallPlace {
  int specialisation = 0;
  int call = 0;
  bool operator==(const CallPlace&) const = default;
};

// Where what the run launches read of constants, as they are or prepared, will lie. Known before
// anything is prepared: what equal launches make of equal constants, in whichever specialisations,
// is stored once.
struct ParameterPlan {
  // What one specialisation reads where: for each call, for each buffer of its kernel's nest, an
  // offset into the section, a multiple of HONE_BUFFER_ALIGNMENT; nullopt for all buffers but
  // constants that run launches read.
  using Offsets = std::vector<std::vector<std::optional<uint64_t>>>;
  std::vector<Offsets> offsets;  // by specialisation
  struct Entry {
    CallPlace call;  // the first that has it
    size_t buffer = 0;
    uint64_t offset_bytes = 0;
  };
  // By ascending offsets, those of a call together; calls that prepare most come last: while the
  // largest of what is prepared is made, most constants are gone from memory already.
  std::vector<Entry> entries;
  uint64_t size_bytes = 0;
};

// `nests[k]` is the scheduled nest of kernel k.
ParameterPlan PlanParameters(const KernelGraph& graph, const std::vector<loop::Nest>& nests);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_PARAMETERS_H_
