#ifndef HONE_COMPILER_PASSES_FLATTEN_TUPLES_H_
#define HONE_COMPILER_PASSES_FLATTEN_TUPLES_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Replaces an item of a tuple literal by its field, and tuples among main's parameters and results
// by their tensors, in order ("x.0", "x.1.0"). The tuples that remain are operands of operators
// that take tuples, results of operators that give them, and one flat tuple as main's result.
absl::StatusOr<ir::Module> FlattenTuples(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FLATTEN_TUPLES_H_
