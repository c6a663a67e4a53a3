// Removes casts that are not needed, and moves others so that tensors in memory have narrow types.
#ifndef HONE_COMPILER_PASSES_CANONICALIZE_CAST_H_
#define HONE_COMPILER_PASSES_CANONICALIZE_CAST_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

absl::StatusOr<ir::Module> CanonicalizeCast(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_CANONICALIZE_CAST_H_
