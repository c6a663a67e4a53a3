// The specification of a kernel whose config is lowered.
#ifndef HONE_COMPILER_CODEGEN_KERNEL_SPEC_H_
#define HONE_COMPILER_CODEGEN_KERNEL_SPEC_H_

#include "compiler/codegen/codegen.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/open_task.h"

namespace hone::codegen {

// It has the name of the nest, and no tier. `lowered` is what the config makes of the kernel.
KernelSpec KernelSpecOf(const ops::KernelDefinition& def, const schedule::Config& config,
                        schedule::LoweredConfig lowered);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_KERNEL_SPEC_H_
