// `hone run`: one run of a model on tensors from files, its outputs to files.
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "CLI/CLI.hpp"
#include "cli/compiled_model.h"
#include "cli/exit_code.h"
#include "cli/verb.h"
#include "compiler/frontend/name_list.h"
#include "compiler/frontend/tensor_file.h"
#include "fmt/format.h"
#include "runtime/specialisation.h"
#include "support/status.h"

namespace hone::cli {
namespace {

struct RunOptions {
  ModelOptions model;
  std::vector<std::string> inputs;  // NAME=FILE
  std::string output_dir;
  ConfigOptions configs;
  int threads = 0;
};

std::string Describe(std::string_view dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{}[{}]", dtype, fmt::join(shape, ", "));
}

// Where a model is compiled now, the import has checked the names that are too many: among them may
// be inputs that became constants, as they decide shapes.
absl::Status CheckNames(const hone_function& function, const Files& files, bool compiled_now) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < function.input_count; ++i) names.emplace_back(function.inputs[i].name);
  for (const auto& [name, file] : files) {
    if (!compiled_now && std::find(names.begin(), names.end(), name) == names.end()) {
      return absl::InvalidArgumentError(
          fmt::format("expected an input of the model ({}), found --input {}",
                      fmt::join(names, ", "), frontend::ShellWord(name)));
    }
  }
  for (const std::string& name : names) {
    if (!files.contains(name)) {
      return absl::InvalidArgumentError(
          fmt::format("expected --input {}=FILE for every input, found none for it",
                      frontend::ShellWord(name)));
    }
  }
  return absl::OkStatus();
}

absl::Status SetInput(Executor& executor, uint32_t index, const frontend::TensorData& tensor) {
  const hone_value& value = executor.function().inputs[index];
  const auto dtype = static_cast<DataType>(value.dtype);
  if (tensor.dtype != dtype || tensor.shape != ShapeOf(value)) {
    return absl::InvalidArgumentError(fmt::format("expected {} for input {}, found {}",
                                                  Describe(Name(dtype), ShapeOf(value)), value.name,
                                                  Describe(Name(tensor.dtype), tensor.shape)));
  }
  if (!tensor.bytes.empty()) {
    executor.device().CopyIn(executor.Input(index), tensor.bytes.data(), tensor.bytes.size());
  }
  return absl::OkStatus();
}

// The shapes of the inputs, where there are several specialisations to choose from.
ShapeBindings ShapesFor(const hone_module& table, const Tensors& values) {
  ShapeBindings shapes;
  if (table.function_count == 1) return shapes;
  for (uint32_t i = 0; i < table.functions[0].input_count; ++i) {
    const std::string name = table.functions[0].inputs[i].name;
    shapes[name] = values.at(name).shape;
  }
  return shapes;
}

// The name of each output's file, without extension. Names of tensors may hold slashes; those of
// files may not: what stands for one is numbered where it meets another.
std::vector<std::string> FileNames(const hone_function& function) {
  std::set<std::string> taken;
  for (uint32_t i = 0; i < function.output_count; ++i) taken.insert(function.outputs[i].name);
  std::vector<std::string> names;
  for (uint32_t i = 0; i < function.output_count; ++i) {
    std::string name = function.outputs[i].name;
    if (name.find('/') != std::string::npos) {
      std::replace(name.begin(), name.end(), '/', '_');
      const std::string stem = name;
      for (int n = 1; !taken.insert(name).second; ++n) name = fmt::format("{}.{}", stem, n);
    }
    names.push_back(std::move(name));
  }
  return names;
}

// Writes the output to `path`, which lacks the extension.
absl::Status WriteOutput(Executor& executor, uint32_t index, const std::string& path) {
  const hone_value& value = executor.function().outputs[index];
  frontend::TensorData tensor{
      .dtype = static_cast<DataType>(value.dtype), .shape = ShapeOf(value), .bytes = {}};
  tensor.bytes.assign(static_cast<const char*>(executor.ReadOutput(index)), value.size_bytes);
  for (const char* extension : {".pb", ".npy"}) {
    HONE_RETURN_IF_ERROR(frontend::WriteTensorFile(path + extension, tensor, value.name));
  }
  return absl::OkStatus();
}

// The inputs of a module choose among the shapes that it has.
absl::Status CheckShapes(const ModelOptions& model) {
  if (IsModelSource(model) || model.shapes.empty()) return absl::OkStatus();
  return WithExitCode(absl::InvalidArgumentError(
                          fmt::format("expected --shape with a model, found {}, which is "
                                      "compiled already: its --input files choose the shapes",
                                      model.path)),
                      kUsage);
}

// Says which inputs are none of the compiled function: the import made constants of their values,
// or a cut left out what reads them.
void ReportBound(const hone_function& function, const Files& files, bool is_cut) {
  for (const auto& [name, file] : files) {
    const auto* const end = function.inputs + function.input_count;
    const bool stayed = std::any_of(function.inputs, end,
                                    [&](const hone_value& value) { return value.name == name; });
    if (stayed) continue;
    fmt::print(stderr,
               "note: the value of input {} is compiled in: it decides a shape or a branch, or "
               "replaces a default value{}\n",
               name, is_cut ? "; or --cut left out what reads it" : "");
  }
}

absl::Status RunModel(const RunOptions& options) {
  HONE_RETURN_IF_ERROR(CheckShapes(options.model));
  HONE_ASSIGN_OR_RETURN(const Files files, ParseFiles("--input", options.inputs));
  const bool compiles = IsModelSource(options.model);
  Tensors values;
  if (compiles) {
    HONE_ASSIGN_OR_RETURN(values, ReadTensors(files));
  }
  HONE_ASSIGN_OR_RETURN(const CompiledModel model,
                        OpenOrCompile(options.model, options.threads, options.configs, values));
  const hone_module& table = model.module->table();
  HONE_RETURN_IF_ERROR(CheckNames(table.functions[0], files, compiles));
  if (!compiles) {
    HONE_ASSIGN_OR_RETURN(values, ReadTensors(files));
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> made,
                        MakeExecutor(model, ShapesFor(table, values)));
  Executor& executor = *made;
  const hone_function& function = executor.function();
  for (uint32_t i = 0; i < function.input_count; ++i) {
    HONE_RETURN_IF_ERROR(SetInput(executor, i, values.at(function.inputs[i].name)));
  }
  ReportBound(function, files, !options.model.outputs.empty());
  executor.Run();
  HONE_RETURN_IF_ERROR(DeviceStatus(executor));
  std::error_code error;
  std::filesystem::create_directories(options.output_dir, error);
  if (error) {
    return absl::InvalidArgumentError(
        fmt::format("expected to make the folder {}: {}", options.output_dir, error.message()));
  }
  const std::vector<std::string> names = FileNames(function);
  for (uint32_t i = 0; i < function.output_count; ++i)
    HONE_RETURN_IF_ERROR(WriteOutput(executor, i, options.output_dir + "/" + names[i]));
  return absl::OkStatus();
}

}  // namespace

void AddRun(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App& verb = *app.add_subcommand("run", "Run a model once on tensors from files");
  verb.add_option("MODEL", options->model.path,
                  "The model (.onnx, .pb, .relay) or a compiled module (.so)")
      ->required();
  options->model.AddBindings(verb);
  verb.add_option("--input", options->inputs, "NAME=FILE.pb or NAME=FILE.npy, one for each input");
  verb.add_option("--output-dir", options->output_dir,
                  "Where NAME.pb and NAME.npy of each output go")
      ->required();
  AddThreads(verb, options->threads, "Threads (default: as compiled)");
  options->configs.AddTo(verb);
  verb.callback([options, &action] { action = [options] { return RunModel(*options); }; });
}

}  // namespace hone::cli
