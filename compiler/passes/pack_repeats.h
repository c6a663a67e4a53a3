#ifndef HONE_COMPILER_PASSES_PACK_REPEATS_H_
#define HONE_COMPILER_PASSES_PACK_REPEATS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Brings main's repeats (ops/repeat.h) into the form that is planned: what is scanned and stacked
// are rows of whole HONE_BUFFER_ALIGNMENT bytes (attribute rows), constants are in the body or
// copied to where states and slices lie, stacks that nobody reads and operands that the body does
// not read are gone.
absl::StatusOr<ir::Module> PackRepeats(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PACK_REPEATS_H_
