#include "cli/model_options.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/tuned_configs.h"
#include "cli/whole_number.h"
#include "compiler/codegen/codegen.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/pb_model.h"
#include "compiler/ir/constant_pool.h"
#include "compiler/ir/parser.h"
#include "compiler/ops/lower.h"
#include "compiler/passes/numerics.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "runtime/thread_team.h"
#include "support/status.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    return absl::NotFoundError(fmt::format("expected a model at {}, could not read it", path));
  return text.str();
}

}  // namespace

void AddThreads(CLI::App& verb, int& threads, const std::string& help) {
  verb.add_option("--threads", threads, help)->check(WholeNumber(1, int{kMaxThreads}));
}

void TargetOptions::AddTo(CLI::App& verb) {
  verb.add_option("--target", target, "What to generate code for, as text")
      ->capture_default_str()
      ->each([this](const std::string&) { is_given = true; });
  AddThreads(verb, threads, "Threads of the target (default: all cores)");
}

absl::StatusOr<Target> TargetOptions::ResolveAny() const {
  absl::StatusOr<Target> any = Target::Parse(target);
  if (!any.ok()) return WithExitCode(any.status(), kUsage);
  if (any->AsCpu() != nullptr) return Resolve();
  if (threads == 0) return any;
  return WithExitCode(
      absl::InvalidArgumentError(fmt::format(
          "expected --threads for a target of kind llvm only, found it with '{}'", target)),
      kUsage);
}

absl::StatusOr<CpuTarget> TargetOptions::Resolve() const {
  absl::StatusOr<CpuTarget> resolved = CpuTarget::Parse(target);
  if (!resolved.ok()) return WithExitCode(resolved.status(), kUsage);
  if (threads > 0) resolved->threads = threads;
  return resolved;
}

void ModelOptions::AddTo(CLI::App& verb, const std::string& name) {
  verb.add_option(name, path, "The model (.onnx, .pb, .relay)")->required();
  AddBindings(verb);
}

void ModelOptions::AddBindings(CLI::App& verb) {
  verb.add_option("--shape", shapes,
                  "Binds an input's symbolic shape: name=1,3,224,224; again for an input: one more "
                  "specialisation");
  verb.add_option("--dim", dims,
                  "Binds a symbolic extent wherever it stands: batch=4; again for it: one more "
                  "specialisation");
  verb.add_option("--constant", constants,
                  "NAME=FILE.pb or NAME=FILE.npy: makes an input that decides a shape a constant");
  verb.add_option("--cut", outputs,
                  "Makes a value of the model an output instead of the model's own and leaves out "
                  "what it is not computed from; may be repeated");
  const auto check = [](const std::string& text) -> std::string {
    if (ops::ParseNumerics(text)) return "";
    return fmt::format("expected strict, default or fast, found '{}'", text);
  };
  verb.add_option(
          "--numerics", numerics,
          "How results may be rounded: strict, default or fast (default: as the model says)")
      ->check(CLI::Validator(check, "NAME"));
}

absl::StatusOr<Files> ParseFiles(const std::string& flag, const std::vector<std::string>& texts) {
  Files files;
  for (const std::string& text : texts) {
    // A name may hold '=' no more than a file may; the last one parts them.
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      return WithExitCode(
          absl::InvalidArgumentError(fmt::format("expected {} NAME=FILE, found '{}'", flag, text)),
          kUsage);
    }
    files[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return files;
}

absl::StatusOr<Tensors> ReadTensors(const Files& files) {
  Tensors tensors;
  for (const auto& [name, file] : files) {
    HONE_ASSIGN_OR_RETURN(tensors[name], frontend::ReadTensorFile(file));
  }
  return tensors;
}

namespace {

absl::Status CheckIsFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_regular_file(status)) return absl::OkStatus();
  const bool exists = std::filesystem::exists(status);
  const char* found = std::filesystem::is_directory(status) ? "a folder" : "no regular file";
  return absl::NotFoundError(fmt::format("expected a model file at {}, found {}; check the path",
                                         path, exists ? found : "none"));
}

absl::StatusOr<Tensors> ConstantsOf(const ModelOptions& model) {
  HONE_ASSIGN_OR_RETURN(const Files files, ParseFiles("--constant", model.constants));
  HONE_ASSIGN_OR_RETURN(Tensors constants, ReadTensors(files));
  constants.insert(model.constant_values.begin(), model.constant_values.end());
  return constants;
}

absl::StatusOr<ir::Module> Import(const std::string& path, const frontend::ImportOptions& options) {
  const std::string extension = std::filesystem::path(path).extension();
  if (extension == ".onnx") return frontend::ImportOnnx(path, options);
  if (extension == ".pb") return frontend::ImportPb(path, options);
  const char* flag = nullptr;
  if (!options.outputs.empty()) flag = "--cut";
  if (!options.constants.empty()) flag = "--constant";
  if (!options.dims.empty()) flag = "--dim";
  if (!options.shapes.empty()) flag = "--shape";
  if (flag != nullptr) {
    return WithExitCode(
        absl::InvalidArgumentError(fmt::format(
            "expected {} with a model whose name ends in .onnx or .pb, found {}", flag, path)),
        kUsage);
  }
  if (extension == ".relay") {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadText(path));
    return ir::ParseModule(text);
  }
  return absl::InvalidArgumentError(
      fmt::format("expected a model whose name ends in .onnx, .pb or .relay, found {}", path));
}

}  // namespace

absl::StatusOr<std::vector<ir::Module>> LoadSpecialisations(const ModelOptions& model,
                                                            const Tensors& values) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Specialisation> all,
                        ParseSpecialisations(model.shapes, model.dims));
  HONE_ASSIGN_OR_RETURN(const Tensors constants, ConstantsOf(model));
  HONE_RETURN_IF_ERROR(CheckIsFile(model.path));
  std::vector<ir::Module> modules;
  ir::ConstantPool pool;
  for (const Specialisation& s : all) {
    HONE_ASSIGN_OR_RETURN(ir::Module module, Import(model.path, {.shapes = s.shapes,
                                                                 .dims = s.dims,
                                                                 .constants = constants,
                                                                 .values = values,
                                                                 .outputs = model.outputs}));
    if (!model.numerics.empty()) module = passes::WithNumerics(module, model.numerics);
    if (all.size() > 1) module = pool.Share(module);
    modules.push_back(std::move(module));
  }
  return modules;
}

absl::StatusOr<ir::Module> LoadModel(const ModelOptions& model, const std::string& what) {
  HONE_RETURN_IF_ERROR(ParseOneSpecialisation(model.shapes, model.dims, what).status());
  HONE_ASSIGN_OR_RETURN(std::vector<ir::Module> modules, LoadSpecialisations(model));
  return std::move(modules[0]);
}

absl::StatusOr<ir::Module> LoadModelBytes(std::string_view bytes, const ModelOptions& model,
                                          const std::string& what) {
  HONE_ASSIGN_OR_RETURN(const Specialisation one,
                        ParseOneSpecialisation(model.shapes, model.dims, what));
  HONE_ASSIGN_OR_RETURN(const Tensors constants, ConstantsOf(model));
  return frontend::ImportPbBytes(bytes, {.shapes = one.shapes,
                                         .dims = one.dims,
                                         .constants = constants,
                                         .values = {},
                                         .outputs = model.outputs});
}

std::string InputShapes(const ir::Module& module) {
  std::vector<std::string> inputs;
  const auto main = module.functions.find("main");
  if (main == module.functions.end()) return "";
  for (const ir::Expr& param : ir::Params(*main->second)) {
    inputs.push_back(fmt::format("{}={}", param->name, fmt::join(param->type->tensor.shape, ",")));
  }
  return fmt::format("{}", fmt::join(inputs, " "));
}

std::string ModelName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string DatabasePath(const std::string& option) {
  return option.empty() ? tuning_db::DefaultPath() : option;
}

absl::StatusOr<driver::ConfigChain> ConfigsFrom(const std::string& database, bool must_exist) {
  driver::ConfigChain chain;
  absl::StatusOr<std::unique_ptr<tuning_db::Store>> store =
      tuning_db::OpenStore(database, tuning_db::OpenMode::kReadOnly);
  if (store.ok()) {
    chain.Add(MakeTunedConfigs(*std::move(store)));
  } else if (must_exist || !absl::IsNotFound(store.status())) {
    return store.status();
  }
  return chain;
}

}  // namespace hone::cli
