#include "cli/compiled_model.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/exit_code.h"
#include "compiler/driver/compile.h"
#include "fmt/format.h"
#include "runtime/find_device.h"
#include "runtime/host.h"
#include "runtime/specialisation.h"
#include "runtime/target_text.h"
#include "support/scratch_folder.h"
#include "support/status.h"

namespace hone::cli {
namespace {

absl::StatusOr<CompiledModel> OpenModule(const std::string& path, int threads) {
  CompiledModel model;
  std::string error;
  model.module = Module::Open(path, &error);
  if (!model.module) {
    return std::filesystem::exists(path) ? absl::InvalidArgumentError(error)
                                         : absl::NotFoundError(error);
  }
  const hone_module& table = model.module->table();
  if (table.function_count == 0) {
    return absl::InvalidArgumentError(
        fmt::format("expected a compiled model at {}, found a candidate kernel", path));
  }
  model.threads = threads > 0 ? threads : std::min(ThreadsOf(table.target), HostCoreCount());
  return model;
}

// Refuses the flags that a module took when it was compiled.
absl::Status CheckCompiledAlready(const ModelOptions& model) {
  const char* flag = nullptr;
  if (!model.constants.empty()) flag = "--constant";
  if (!model.outputs.empty()) flag = "--cut";
  if (!model.dims.empty()) flag = "--dim";
  if (!model.numerics.empty()) flag = "--numerics";
  if (flag == nullptr) return absl::OkStatus();
  return WithExitCode(
      absl::InvalidArgumentError(fmt::format(
          "expected {} with a model, found {}, which is compiled already", flag, model.path)),
      kUsage);
}

// The specialisation with these shapes, by its number.
absl::StatusOr<uint32_t> Choose(const hone_module& table, const ShapeBindings& shapes) {
  const hone_function& any = table.functions[0];
  std::vector<std::optional<InputShape>> wanted(any.input_count);
  size_t found = 0;
  for (uint32_t i = 0; i < any.input_count; ++i) {
    const auto shape = shapes.find(any.inputs[i].name);
    if (shape == shapes.end()) continue;
    wanted[i] = shape->second;
    ++found;
  }
  if (found < shapes.size()) {
    return absl::InvalidArgumentError(
        fmt::format("expected shapes of the module's inputs ({}), found {}", ShapesText(table),
                    BindingsText(shapes)));
  }
  const std::optional<uint32_t> chosen = FindSpecialisation(table, wanted);
  if (chosen) return *chosen;
  return absl::InvalidArgumentError(
      fmt::format("expected inputs of the shapes the module was compiled for ({}), found {}",
                  ShapesText(table), BindingsText(shapes)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Executor>> MakeExecutor(const CompiledModel& model,
                                                       const ShapeBindings& shapes) {
  const hone_module& table = model.module->table();
  HONE_ASSIGN_OR_RETURN(const uint32_t chosen, Choose(table, shapes));
  std::string error;
  std::shared_ptr<Device> device = FindDevice("", table.target, model.threads, &error);
  if (!device) return absl::FailedPreconditionError(error);
  std::unique_ptr<Executor> executor =
      Executor::Make(*model.module, table.functions[chosen], std::move(device), &error);
  if (!executor) return absl::ResourceExhaustedError(error);
  return executor;
}

absl::Status DeviceStatus(const Executor& executor) {
  const std::string error = executor.device().error();
  return error.empty() ? absl::OkStatus() : absl::UnavailableError(error);
}

bool IsModelSource(const ModelOptions& model) {
  return std::filesystem::path(model.path).extension() != ".so";
}

absl::StatusOr<CompiledModel> CompileForNow(std::vector<ir::Module> modules, const Target& target,
                                            driver::ConfigChain& configs) {
  HONE_ASSIGN_OR_RETURN(
      const ScratchFolder folder,
      ScratchFolder::Make(std::filesystem::temp_directory_path().string(), "hone-run-"));
  const std::string path = folder.path() + "/model.so";
  const absl::StatusOr<driver::CompileReport> report = driver::Compile(
      std::move(modules), {.target = target, .require_tuned = false}, configs, path);
  if (!report.ok()) return report.status();
  return OpenModule(path, ThreadsOf(target.ToString()));  // what is open stays mapped
}

absl::StatusOr<CompiledModel> OpenOrCompile(const ModelOptions& model, int threads,
                                            const ConfigOptions& configs, const Tensors& values) {
  if (!IsModelSource(model)) {
    HONE_RETURN_IF_ERROR(CheckCompiledAlready(model));
    return OpenModule(model.path, threads);
  }
  HONE_ASSIGN_OR_RETURN(const CpuTarget target,
                        (TargetOptions{.target = "native", .threads = threads}.Resolve()));
  HONE_ASSIGN_OR_RETURN(std::vector<ir::Module> modules, LoadSpecialisations(model, values));
  HONE_ASSIGN_OR_RETURN(driver::ConfigChain chain, configs.Open());
  return CompileForNow(std::move(modules), target, chain);
}

}  // namespace hone::cli
