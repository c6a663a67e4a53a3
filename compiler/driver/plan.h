// Plans where every buffer of every call lies, which is the graph part of a module.
#ifndef HONE_COMPILER_DRIVER_PLAN_H_
#define HONE_COMPILER_DRIVER_PLAN_H_

#include <cstdint>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/driver/kernel_graph.h"
#include "compiler/driver/parameters.h"
#include "compiler/loop/stmt.h"
#include "compiler/passes/memory_plan.h"

namespace hone::driver {

struct PlannedFunction {
  codegen::FunctionSpec spec;
  uint64_t peak_live_bytes = 0;  // of activations and workspaces: no arena can be smaller
};

// `nests[k]` is the nest of kernel k; `parameters` is ParameterPlan::offsets of this
// specialisation. `order` is how the target's devices run calls.
PlannedFunction PlanFunction(const Specialisation& graph, const std::vector<loop::Nest>& nests,
                             const ParameterPlan::Offsets& parameters, passes::CallOrder order);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_PLAN_H_
