// Makes the specification of a kernel from its lowered config.
#ifndef HONE_COMPILER_CODEGEN_KERNEL_SPEC_H_
#define HONE_COMPILER_CODEGEN_KERNEL_SPEC_H_

#include "compiler/codegen/codegen.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/open_task.h"

namespace hone::codegen {

// The specification has the nest's name and no tier. `lowered` is the result of lowering `def` with
// `config`.
KernelSpec KernelSpecOf(const ops::KernelDefinition& def, const schedule::Config& config,
                        schedule::LoweredConfig lowered);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_KERNEL_SPEC_H_
