// The contenders of a model's final: each has layouts, and a config for each kernel.
#ifndef HONE_CLI_MODEL_CONTENDER_H_
#define HONE_CLI_MODEL_CONTENDER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/timed_model.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/config_source.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/target.h"

namespace hone::cli {

// The layouts and kernels of one module, in its order.
struct ModelContender {
  std::string skeleton;
  std::vector<std::string> layouts;  // driver::SpecialisationReport
  std::vector<driver::KernelReport> kernels;

  bool operator==(const ModelContender& other) const;
};

// Returns the layouts and kernels that a compile with `configs` chooses, or if that is null an
// untuned compile. If `layouts` is not empty, the layouts are these.
absl::StatusOr<ModelContender> ChooseContender(const ir::Module& module, const Target& target,
                                               std::unique_ptr<driver::ConfigSource> configs,
                                               const std::vector<std::string>& layouts = {});

// Compiles the contender into a temporary file. The result is ready to be timed.
absl::StatusOr<TimedModel> CompileContender(const ir::Module& module, const Target& target,
                                            const ModelContender& contender);

}  // namespace hone::cli

#endif  // HONE_CLI_MODEL_CONTENDER_H_
