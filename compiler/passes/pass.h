// Defines what a pass is, and what passes are given.
#ifndef HONE_COMPILER_PASSES_PASS_H_
#define HONE_COMPILER_PASSES_PASS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/target.h"
#include "compiler/ir/workload.h"

namespace hone::passes {

// Computes an operator call whose arguments are constants, or tuples of them, and whose types are
// inferred: one constant for each tensor of the result. kUnimplemented if it cannot; the call then
// stays.
using Evaluator = std::function<absl::StatusOr<std::vector<ir::Expr>>(const ir::Expr& call)>;

// The layout signatures that kernels can be compiled for, the preferred one first; row-major is
// always one of them. `function` is primitive, with types; `const_params` as for ops::WorkloadOf.
using SignatureSource = std::function<std::vector<ir::LayoutSignature>(
    const ir::Expr& function, const std::vector<bool>& const_params, const Target& target)>;

// Nanoseconds of one call of a kernel with the best config known, for each of `signatures`; nullopt
// if none was measured on the target. Arguments as for SignatureSource.
using MeasuredTimes = std::function<absl::StatusOr<std::vector<std::optional<double>>>(
    const ir::Expr& function, const std::vector<bool>& const_params,
    const std::vector<ir::LayoutSignature>& signatures, const Target& target)>;

// A kernel and the signatures that it may be compiled for. The function is as for SignatureSource.
struct KernelLayouts {
  ir::Expr function;
  std::vector<bool> const_params;
  std::vector<ir::LayoutSignature> signatures;
};
// Called once before MeasuredTimes and KeptLayouts, with all that they will be asked for, copies
// between layouts included, so that a remote database can be asked in one call. `skeleton` is empty
// if finals of the model are not to be considered.
using ExpectLayouts = std::function<absl::Status(const std::string& skeleton,
                                                 const std::vector<KernelLayouts>& kernels)>;

// The layout signature of each kernel call in execution order, as a final of the model with this
// skeleton (skeleton.h) kept them; nullopt: the model has none.
using KeptLayouts = std::function<absl::StatusOr<std::optional<std::vector<std::string>>>(
    const std::string& skeleton)>;
// Called with the signatures that AlterOpLayout chose for main, in the same form.
using OnLayouts =
    std::function<void(const std::string& skeleton, std::vector<std::string> signatures)>;

// How AlterOpLayout chooses layouts when only some kernels are measured.
enum class LayoutAim {
  // For compiling: a choice whose kernels are all measured, or else one with as many measured
  // kernels as possible; predictions decide the rest.
  kSettled,
  // For tuning: the measured choice, unless another is predicted to be faster by more than 1 %.
  kExplore,
};

struct PassContext {
  Target target;
  Evaluator evaluator = nullptr;         // null: nothing is evaluated
  SignatureSource signatures = nullptr;  // null: every kernel is row-major
  MeasuredTimes measured = nullptr;      // null: nothing was measured
  ExpectLayouts expect = nullptr;        // null: not called
  LayoutAim layout_aim = LayoutAim::kSettled;
  KeptLayouts kept_layouts = nullptr;  // null: layouts are always chosen anew
  OnLayouts on_layouts = nullptr;
};

// A function from module to module. All nodes that it gets are typed; nodes that it makes need not
// be, because the pipeline infers types after each pass. kInvalidArgument and kUnimplemented are
// only for errors that a user's model can cause.
struct Pass {
  std::string name;
  std::function<absl::StatusOr<ir::Module>(const ir::Module&, const PassContext&)> run;
};

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PASS_H_
