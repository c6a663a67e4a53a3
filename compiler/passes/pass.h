// What a pass is, and what passes are given.
#ifndef HONE_COMPILER_PASSES_PASS_H_
#define HONE_COMPILER_PASSES_PASS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/target.h"
#include "compiler/ir/workload.h"

namespace hone::passes {

// Computes an operator call whose arguments are constants, or tuples of them, and whose types are
// inferred: one constant for each tensor of the result. kUnimplemented: cannot; the call stays.
using Evaluator = std::function<absl::StatusOr<std::vector<ir::Expr>>(const ir::Expr& call)>;

// The layout signatures that kernels can be compiled for, the preferred one first; row-major is
// always one of them. `function` is primitive, with types; `const_params` as for ops::WorkloadOf.
using SignatureSource = std::function<std::vector<ir::LayoutSignature>(
    const ir::Expr& function, const std::vector<bool>& const_params, const Target& target)>;

struct PassContext {
  Target target;
  Evaluator evaluator;         // null: nothing is evaluated
  SignatureSource signatures;  // null: every kernel is row-major
};

// A function from module to module. It gets every type inferred and may leave new nodes without:
// the pipeline infers them after each pass. kInvalidArgument or kUnimplemented only for what a
// user's model can bring about.
struct Pass {
  std::string name;
  std::function<absl::StatusOr<ir::Module>(const ir::Module&, const PassContext&)> run;
};

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PASS_H_
