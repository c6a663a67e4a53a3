#ifndef HONE_COMPILER_PASSES_FLATTEN_TUPLES_H_
#define HONE_COMPILER_PASSES_FLATTEN_TUPLES_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Items of tuples in sight become the fields; tuples that main takes or gives become their tensors,
// in order ("x.0", "x.1.0"). What is left are operands of operators that take tuples, the results
// of those that give them, and one flat tuple as main's result.
absl::StatusOr<ir::Module> FlattenTuples(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FLATTEN_TUPLES_H_
