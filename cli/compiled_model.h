// A model ready to run: a module that was compiled before, or a model compiled now.
#ifndef HONE_CLI_COMPILED_MODEL_H_
#define HONE_CLI_COMPILED_MODEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/config_options.h"
#include "cli/model_options.h"
#include "runtime/executor.h"
#include "runtime/module.h"

namespace hone::cli {

struct CompiledModel {
  std::unique_ptr<Module> module;
  int threads = 1;
};

// A path that ends in .so is opened; anything else is compiled, with the configs of `configs`, for
// this machine. `threads` 0: as many as it was compiled for. `values` are those of LoadModel.
absl::StatusOr<CompiledModel> OpenOrCompile(const ModelOptions& model, int threads,
                                            const ConfigOptions& configs,
                                            const Tensors& values = {});

// Specialisations of one model, compiled into a temporary file that is gone when this returns.
absl::StatusOr<CompiledModel> CompileForNow(std::vector<ir::Module> modules, const Target& target,
                                            driver::ConfigChain& configs);

// The model's specialisation in which the inputs named have these shapes; the first one for none.
// The model must outlive it. kInvalidArgument names the inputs, or the shapes, that the module has.
absl::StatusOr<std::unique_ptr<Executor>> MakeExecutor(const CompiledModel& model,
                                                       const ShapeBindings& shapes);

// What ended the work of the executor's device: kUnavailable.
absl::Status DeviceStatus(const Executor& executor);

// Whether OpenOrCompile compiles it.
bool IsModelSource(const ModelOptions& model);

}  // namespace hone::cli

#endif  // HONE_CLI_COMPILED_MODEL_H_
