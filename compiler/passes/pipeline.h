// Runs the passes, in order, from an imported model to calls of kernels.
#ifndef HONE_COMPILER_PASSES_PIPELINE_H_
#define HONE_COMPILER_PASSES_PIPELINE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/passes/pass.h"

namespace hone::passes {

// docs/passes.md has a paragraph for each.
std::vector<Pass> Pipeline();
std::vector<std::string> PassNames();

struct PipelineOptions {
  // The last pass to run; empty: all passes, "import": none.
  std::string after;
  // Called after each pass with what it made, types inferred, and the nanoseconds it took
  // (inference included); the first call, "import", is for the model itself.
  std::function<void(const std::string& pass, const ir::Module& module, int64_t ns)> on_pass;
};

// Runs the pass of this name alone, with types inferred before and after; "InferTypes" only infers
// types. kInvalidArgument for an unknown name lists the passes.
absl::StatusOr<ir::Module> RunOne(const ir::Module& module, const PassContext& context,
                                  const std::string& name);

// kInvalidArgument for an unknown `after` lists the passes; other errors are about the model.
absl::StatusOr<ir::Module> RunPipeline(const ir::Module& module, const PassContext& context,
                                       const PipelineOptions& options = {});

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PIPELINE_H_
