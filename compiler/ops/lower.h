// Lowers a fused function to its naive nest.
#ifndef HONE_COMPILER_OPS_LOWER_H_
#define HONE_COMPILER_OPS_LOWER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/workload.h"
#include "compiler/loop/stmt.h"
#include "compiler/ops/op.h"

namespace hone::ops {

// One operator call of the fused function, in execution order.
struct OpStage {
  std::string op;
  FuseKind kind = FuseKind::kOpaque;
  ir::Attrs attrs;
  std::vector<std::string> args;     // names of buffers of the naive nest
  std::vector<std::string> results;  // likewise
};

// How far a kernel's results may be off. kStrict: sums add exactly the products of the definition,
// in any order, and every operator rounds to its type. kDefault also allows algorithms with fewer
// products, which may be off by about 1e-5 of the largest value, and 16-bit floats are rounded only
// where a kernel stores them (RoundOnce). kFast also allows products of narrow weights by data
// rounded to 16 bits.
enum class Numerics { kStrict, kDefault, kFast };
// The names are "strict", "default" and "fast"; nullopt for another text.
std::string_view Name(Numerics numerics);
std::optional<Numerics> ParseNumerics(std::string_view text);

// What a kernel computes: all that schedule templates know of it.
struct KernelDefinition {
  ir::Workload workload;
  loop::Nest
      naive;  // all buffers row-major, one launch a stage, inputs and constants in parameter order
  std::vector<OpStage> ops;
  double flops = 0;
  Numerics numerics = Numerics::kDefault;
};

// The workload of a fused function. Its anchor is the first operator of the highest fusion kind:
// complex before reduction before all others.
ir::Workload WorkloadOf(const ir::Expr& function, const std::vector<bool>& const_params);

// Makes the definition of a fused function whose types are inferred. `const_params[i]` says whether
// parameter i is a constant of the model. kUnimplemented names an operator without a definition;
// kInvalidArgument says what does not fit in the function.
absl::StatusOr<KernelDefinition> Lower(const ir::Expr& function,
                                       const std::vector<bool>& const_params);
// The same with an empty workload, for callers that only run the nest.
absl::StatusOr<KernelDefinition> Define(const ir::Expr& function,
                                        const std::vector<bool>& const_params);
// The same for a workload's text, as the daemon and the builders get it.
absl::StatusOr<KernelDefinition> LowerWorkload(std::string_view workload_text);
// Parses the text of a layout signature for this kernel. kInvalidArgument if its ranks are not
// those of the kernel.
absl::StatusOr<ir::LayoutSignature> ParseSignature(const KernelDefinition& kernel,
                                                   std::string_view text);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_LOWER_H_
