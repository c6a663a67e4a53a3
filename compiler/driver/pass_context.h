// Gives the passes what they need to know of templates and measurements.
#ifndef HONE_COMPILER_DRIVER_PASS_CONTEXT_H_
#define HONE_COMPILER_DRIVER_PASS_CONTEXT_H_

#include "compiler/driver/config_source.h"
#include "compiler/ir/target.h"
#include "compiler/passes/pass.h"

namespace hone::driver {

// `configs` outlives the context; nullptr means that nothing is measured. Use a context for one run
// of the pipeline, since it remembers the kernels it has lowered.
passes::PassContext MakePassContext(const Target& target, ConfigChain* configs,
                                    passes::LayoutAim aim);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_PASS_CONTEXT_H_
