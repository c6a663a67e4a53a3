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

// Opens a compiled module, if the path ends in .so; otherwise compiles the model for this machine,
// with the configs that `configs` finds. `threads` is 0 for as many as the module was compiled for,
// or as this machine has, if that is fewer. `values` are those of LoadSpecialisations.
absl::StatusOr<CompiledModel> OpenOrCompile(const ModelOptions& model, int threads,
                                            const ConfigOptions& configs,
                                            const Tensors& values = {});

// Compiles the specialisations of one model into a temporary file, which is gone when this returns,
// and opens it.
absl::StatusOr<CompiledModel> CompileForNow(std::vector<ir::Module> modules, const Target& target,
                                            driver::ConfigChain& configs);

// Makes an executor of the model's specialisation in which the named inputs have these shapes; of
// the first one if `shapes` is empty. The model must outlive it. kInvalidArgument names the inputs,
// or the shapes, that the module has.
absl::StatusOr<std::unique_ptr<Executor>> MakeExecutor(const CompiledModel& model,
                                                       const ShapeBindings& shapes);

// kUnavailable if the executor's device has failed, with the reason.
absl::Status DeviceStatus(const Executor& executor);

// Whether OpenOrCompile compiles the model, since it is not compiled yet.
bool IsModelSource(const ModelOptions& model);

}  // namespace hone::cli

#endif  // HONE_CLI_COMPILED_MODEL_H_
