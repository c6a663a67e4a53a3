// What the launch table says of how launches run beside each other.
#ifndef HONE_COMPILER_CODEGEN_LAUNCH_FACTS_H_
#define HONE_COMPILER_CODEGEN_LAUNCH_FACTS_H_

#include <vector>

#include "compiler/ir/cpu_target.h"
#include "compiler/loop/stmt.h"

namespace hone::codegen {

struct LaunchFacts {
  bool serial = false;          // one thread is enough, or the grid has one index
  bool barrier_before = false;  // depends on a launch since the barrier before
};

// Of launches in execution order (prepare launches first).
std::vector<LaunchFacts> FactsOf(const std::vector<loop::Launch>& launches,
                                 const CpuTarget& target);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LAUNCH_FACTS_H_
