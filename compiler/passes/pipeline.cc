#include "compiler/passes/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/passes/alter_op_layout.h"
#include "compiler/passes/canonicalize_cast.h"
#include "compiler/passes/canonicalize_ops.h"
#include "compiler/passes/combine_parallel_conv2d.h"
#include "compiler/passes/combine_parallel_dense.h"
#include "compiler/passes/dead_code.h"
#include "compiler/passes/eliminate_common_subexpr.h"
#include "compiler/passes/flatten_tuples.h"
#include "compiler/passes/fold_constant.h"
#include "compiler/passes/fold_scale_axis.h"
#include "compiler/passes/fuse_ops.h"
#include "compiler/passes/infer_type.h"
#include "compiler/passes/inline_functions.h"
#include "compiler/passes/legalize.h"
#include "compiler/passes/narrow_weights.h"
#include "compiler/passes/pack_repeats.h"
#include "compiler/passes/select_branches.h"
#include "compiler/passes/simplify_inference.h"
#include "compiler/passes/space_to_depth.h"
#include "compiler/passes/sparsify_constants.h"
#include "compiler/passes/split_zero_points.h"
#include "compiler/passes/widen_products.h"
#include "support/clock.h"
#include "support/status.h"

namespace hone::passes {
namespace {

constexpr const char* kImport = "import";
constexpr const char* kInferTypes = "InferTypes";

absl::Status CheckName(const std::string& name) {
  const std::vector<std::string> known = PassNames();
  if (name.empty() || name == kImport ||
      std::find(known.begin(), known.end(), name) != known.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("unknown pass '{}'; known: {} {}", name, kImport, fmt::join(known, " ")));
}

}  // namespace

std::vector<Pass> Pipeline() {
  return {
      {"InlineFunctions", InlineFunctions},
      {"DeadCode", DeadCode},
      {"Legalize", Legalize},
      {"SplitZeroPoints", SplitZeroPoints},
      {"SimplifyInference", SimplifyInference},
      {"CanonicalizeOps", CanonicalizeOps},
      {"SpaceToDepth", SpaceToDepth},
      {"WidenProducts", WidenProducts},
      {"EliminateCommonSubexpr", EliminateCommonSubexpr},
      {"NarrowWeights", NarrowWeights},
      {"CombineParallelConv2D", CombineParallelConv2D},
      {"CombineParallelDense", CombineParallelDense},
      {"FoldConstant", FoldConstant},
      {"SelectBranches", SelectBranches},
      {"FlattenTuples", FlattenTuples},
      {"FoldScaleAxis", FoldScaleAxis},
      {"SparsifyConstants", SparsifyConstants},
      {"CanonicalizeCast", CanonicalizeCast},
      {"PackRepeats", PackRepeats},
      {"FuseOps", FuseOps},
      {"AlterOpLayout", AlterOpLayout},
  };
}

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const Pass& pass : Pipeline()) names.push_back(pass.name);
  return names;
}

absl::StatusOr<ir::Module> RunOne(const ir::Module& module, const PassContext& context,
                                  const std::string& name) {
  HONE_ASSIGN_OR_RETURN(const ir::Module typed, InferTypes(module));
  if (name == kInferTypes) return typed;
  for (const Pass& pass : Pipeline()) {
    if (pass.name != name) continue;
    HONE_ASSIGN_OR_RETURN(const ir::Module result, pass.run(typed, context));
    return InferTypes(result);
  }
  return absl::InvalidArgumentError(fmt::format("unknown pass '{}'; known: {} {}", name,
                                                kInferTypes, fmt::join(PassNames(), " ")));
}

absl::StatusOr<ir::Module> RunPipeline(const ir::Module& module, const PassContext& context,
                                       const PipelineOptions& options) {
  HONE_RETURN_IF_ERROR(CheckName(options.after));
  const Clock& clock = Clock::Real();
  int64_t start = clock.NowNs();
  const auto report = [&](const std::string& name, const ir::Module& result) {
    if (options.on_pass) options.on_pass(name, result, clock.NowNs() - start);
    start = clock.NowNs();
  };
  InferredNodes inferred;
  HONE_ASSIGN_OR_RETURN(ir::Module current, InferTypes(module, inferred));
  report(kImport, current);
  if (options.after == kImport) return current;
  for (const Pass& pass : Pipeline()) {
    HONE_ASSIGN_OR_RETURN(current, pass.run(current, context));
    HONE_ASSIGN_OR_RETURN(current, InferTypes(current, inferred));
    report(pass.name, current);
    if (pass.name == options.after) break;
  }
  return current;
}

}  // namespace hone::passes
