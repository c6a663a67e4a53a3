// What takes part in a model's final: layouts, and a config for each kernel.
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

// What is chosen by `configs`, or where they are null by an untuned compile; in these layouts,
// where there are any.
absl::StatusOr<ModelContender> ChooseContender(const ir::Module& module, const Target& target,
                                               std::unique_ptr<driver::ConfigSource> configs,
                                               const std::vector<std::string>& layouts = {});

// Compiled into a temporary file, and ready to be timed.
absl::StatusOr<TimedModel> CompileContender(const ir::Module& module, const Target& target,
                                            const ModelContender& contender);

}  // namespace hone::cli

#endif  // HONE_CLI_MODEL_CONTENDER_H_
