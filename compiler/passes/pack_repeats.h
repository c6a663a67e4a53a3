#ifndef HONE_COMPILER_PASSES_PACK_REPEATS_H_
#define HONE_COMPILER_PASSES_PACK_REPEATS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Brings main's repeats (ops/repeat.h) into the form that the memory plan takes. Scanned operands
// and stacks become rows of whole multiples of HONE_BUFFER_ALIGNMENT bytes (attribute `rows`).
// Constants move into the body, or are copied if they are states or slices. Stacks that nobody
// reads and operands that the body does not read are removed.
absl::StatusOr<ir::Module> PackRepeats(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PACK_REPEATS_H_
