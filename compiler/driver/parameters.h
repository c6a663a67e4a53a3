// Plans the parameter section of a module, with one copy of each constant in each layout.
#ifndef HONE_COMPILER_DRIVER_PARAMETERS_H_
#define HONE_COMPILER_DRIVER_PARAMETERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/driver/kernel_graph.h"
#include "compiler/loop/stmt.h"

namespace hone::driver {

// Identifies a call of a kernel graph.
struct CallPlace {
  int specialisation = 0;
  int call = 0;
  bool operator==(const CallPlace&) const = default;
};

// Where the constants that run launches read will lie, as they are or prepared. The plan is made
// before anything is prepared: what equal prepare launches make of equal constants is stored once,
// across specialisations too.
struct ParameterPlan {
  // For each call of one specialisation and each buffer of its kernel's nest, an offset into the
  // section, which is a multiple of HONE_BUFFER_ALIGNMENT. Only constants that run launches read
  // have one.
  using Offsets = std::vector<std::vector<std::optional<uint64_t>>>;
  std::vector<Offsets> offsets;  // by specialisation
  struct Entry {
    CallPlace call;  // the first call that reads it
    size_t buffer = 0;
    uint64_t offset_bytes = 0;
  };
  // In ascending order of offsets, the entries of a call together. The calls that prepare the most
  // bytes come last: by then most constants have been freed.
  std::vector<Entry> entries;
  uint64_t size_bytes = 0;
};

// `nests[k]` is the scheduled nest of kernel k.
ParameterPlan PlanParameters(const KernelGraph& graph, const std::vector<loop::Nest>& nests);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_PARAMETERS_H_
