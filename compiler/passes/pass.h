// What a pass is, and what passes are given.
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
// inferred: one constant for each tensor of the result. kUnimplemented: cannot; the call stays.
using Evaluator = std::function<absl::StatusOr<std::vector<ir::Expr>>(const ir::Expr& call)>;

// The layout signatures that kernels can be compiled for, the preferred one first; row-major is
// always one of them. `function` is primitive, with types; `const_params` as for ops::WorkloadOf.
using SignatureSource = std::function<std::vector<ir::LayoutSignature>(
    const ir::Expr& function, const std::vector<bool>& const_params, const Target& target)>;

// Nanoseconds of one call of a kernel with the best config known, for each of `signatures`; nullopt
// where none was measured on the target. Arguments as for SignatureSource.
using MeasuredTimes = std::function<absl::StatusOr<std::vector<std::optional<double>>>(
    const ir::Expr& function, const std::vector<bool>& const_params,
    const std::vector<ir::LayoutSignature>& signatures, const Target& target)>;

// A kernel and the signatures that it may be compiled for. The function is as for SignatureSource.
struct KernelLayouts {
  ir::Expr function;
  std::vector<bool> const_params;
  std::vector<ir::LayoutSignature> signatures;
};
// Is told of all that MeasuredTimes and KeptLayouts will be asked, before any of it is, copies
// between layouts included: what is known of a model may be far away, and is then fetched at once.
// `skeleton`: empty where no final of the model counts.
using ExpectLayouts = std::function<absl::Status(const std::string& skeleton,
                                                 const std::vector<KernelLayouts>& kernels)>;

// The layout signature of each kernel call in execution order, as a final of the model with this
// skeleton (skeleton.h) kept them; nullopt: the model has none.
using KeptLayouts = std::function<absl::StatusOr<std::optional<std::vector<std::string>>>(
    const std::string& skeleton)>;
// Learns what AlterOpLayout chose for main: likewise.
using OnLayouts =
    std::function<void(const std::string& skeleton, std::vector<std::string> signatures)>;

// What becomes of layouts that are measured in part.
enum class LayoutAim {
  kSettled,  // to be compiled: a choice that is measured as a whole, else as many measured kernels
             // as can be; predictions decide the rest
  kExplore,  // to be tuned: left for another that is predicted to be faster by more than 1 %
};

struct PassContext {
  Target target;
  Evaluator evaluator = nullptr;         // null: nothing is evaluated
  SignatureSource signatures = nullptr;  // null: every kernel is row-major
  MeasuredTimes measured = nullptr;      // null: nothing was measured
  ExpectLayouts expect = nullptr;        // null: nobody wants to know before
  LayoutAim layout_aim = LayoutAim::kSettled;
  KeptLayouts kept_layouts = nullptr;  // null: layouts are always chosen anew
  OnLayouts on_layouts = nullptr;
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
