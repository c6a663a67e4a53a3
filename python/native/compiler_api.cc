#include "python/native/compiler_api.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/compile_report.h"
#include "cli/json_document.h"
#include "cli/misses.h"
#include "cli/model_options.h"
#include "compiler/driver/compile.h"
#include "compiler/frontend/tensor_size.h"
#include "compiler/ir/constant_pool.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/lower.h"
#include "compiler/ops/op.h"
#include "compiler/passes/infer_type.h"
#include "compiler/passes/numerics.h"
#include "compiler/passes/pipeline.h"
#include "compiler/picture/dot.h"
#include "compiler/picture/tree.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "runtime/data_type.h"
#include "support/status.h"

struct hone_graph {
  hone::ir::Module module;
};

namespace {

using hone::CpuTarget;

thread_local std::string last_error;

// Owns what its base points at.
struct OwnedText : hone_text {
  explicit OwnedText(std::string text) : bytes(std::move(text)) {
    data = bytes.c_str();
    size = bytes.size();
  }
  std::string bytes;
};

int Fail(const absl::Status& status, int code = 0) {
  last_error = std::string(status.message());
  if (code != 0) return code;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnimplemented:
      return HONE_COMPILER_BAD_INPUT;
    default:
      return HONE_COMPILER_FAILED;
  }
}

int NullArgument() { return Fail(absl::InvalidArgumentError("expected an argument, found NULL")); }

int Give(absl::StatusOr<hone::ir::Module> module, hone_graph** graph) {
  if (!module.ok()) return Fail(module.status());
  *graph = new hone_graph{*std::move(module)};
  return HONE_COMPILER_OK;
}

int Give(absl::StatusOr<std::string> bytes, hone_text** text) {
  if (!bytes.ok()) return Fail(bytes.status());
  *text = new OwnedText(*std::move(bytes));
  return HONE_COMPILER_OK;
}

absl::StatusOr<CpuTarget> TargetOf(const char* text, int threads = 0) {
  HONE_ASSIGN_OR_RETURN(CpuTarget target, CpuTarget::Parse(text == nullptr ? "native" : text));
  if (threads > 0) target.threads = threads;
  return target;
}

absl::StatusOr<hone::driver::ConfigChain> Configs(const char* database) {
  const std::string path = database == nullptr ? "" : database;
  return hone::cli::ConfigsFrom(hone::cli::DatabasePath(path), database != nullptr);
}

// The type of the value, whose bytes are as many as it says.
absl::StatusOr<hone::ir::TensorType> TypeOf(const hone_constant& constant) {
  if (constant.name == nullptr || constant.dtype == nullptr ||
      (constant.shape == nullptr && constant.rank > 0) ||
      (constant.data == nullptr && constant.size_bytes > 0)) {
    return absl::InvalidArgumentError("expected a name, dtype, shape and data, found NULL");
  }
  const auto dtype = hone::ParseDataType(constant.dtype);
  if (!dtype) {
    return absl::InvalidArgumentError(
        fmt::format("expected an element type that Hone has for {}, found {}; convert the array",
                    constant.name, constant.dtype));
  }
  hone::ir::TensorType type{{constant.shape, constant.shape + constant.rank}, *dtype};
  HONE_ASSIGN_OR_RETURN(const int64_t bytes, hone::frontend::TensorBytes(type.shape, type.dtype));
  if (static_cast<uint64_t>(bytes) != constant.size_bytes) {
    return absl::InvalidArgumentError(fmt::format("expected {} bytes for {} of type {}, found {}",
                                                  bytes, constant.name, type.ToString(),
                                                  constant.size_bytes));
  }
  return type;
}

absl::StatusOr<hone::cli::ModelOptions> OptionsOf(const hone_bindings* bindings) {
  hone::cli::ModelOptions options;
  if (bindings == nullptr) return options;
  options.shapes.assign(bindings->shapes, bindings->shapes + bindings->shape_count);
  options.dims.assign(bindings->dims, bindings->dims + bindings->dim_count);
  options.outputs.assign(bindings->cuts, bindings->cuts + bindings->cut_count);
  for (size_t i = 0; i < bindings->constant_count; ++i) {
    const hone_constant& constant = bindings->constants[i];
    HONE_ASSIGN_OR_RETURN(hone::ir::TensorType type, TypeOf(constant));
    options.constant_values[constant.name] = {
        type.dtype, std::move(type.shape),
        std::string(static_cast<const char*>(constant.data), constant.size_bytes)};
  }
  return options;
}

absl::StatusOr<hone::ir::Module> LoadFile(const char* path, const hone_bindings* bindings) {
  HONE_ASSIGN_OR_RETURN(hone::cli::ModelOptions options, OptionsOf(bindings));
  options.path = path;
  return hone::cli::LoadModel(options, "a graph");
}

absl::StatusOr<hone::ir::Module> LoadBytes(std::string_view bytes, const hone_bindings* bindings) {
  HONE_ASSIGN_OR_RETURN(const hone::cli::ModelOptions options, OptionsOf(bindings));
  return hone::cli::LoadModelBytes(bytes, options, "a graph");
}

nlohmann::json Described(const std::string& name, const hone::ir::TensorType& type) {
  return {{"name", name}, {"shape", type.shape}, {"dtype", std::string(hone::Name(type.dtype))}};
}

void DescribeResult(const hone::ir::Type& type, const std::vector<std::string>& names,
                    nlohmann::json& outputs) {
  if (type.is_tuple) {
    for (const hone::ir::Type& field : type.fields) DescribeResult(field, names, outputs);
  } else if (type.IsTensor()) {
    const size_t index = outputs.size();
    outputs.push_back(Described(
        index < names.size() ? names[index] : fmt::format("output{}", index), type.tensor));
  }
}

absl::StatusOr<std::string> Signature(const hone::ir::Module& module) {
  HONE_ASSIGN_OR_RETURN(const hone::ir::Module typed, hone::passes::InferTypes(module));
  const auto main = typed.functions.find("main");
  if (main == typed.functions.end()) {
    return absl::InvalidArgumentError("expected a function @main, found none");
  }
  nlohmann::json inputs = nlohmann::json::array();
  for (const hone::ir::Expr& param : hone::ir::Params(*main->second)) {
    if (param->type->IsTensor()) inputs.push_back(Described(param->name, param->type->tensor));
  }
  nlohmann::json outputs = nlohmann::json::array();
  DescribeResult(*hone::ir::Body(*main->second)->type,
                 hone::ops::StringsAttr(main->second->attrs, "output_names")
                     .value_or(std::vector<std::string>()),
                 outputs);
  return hone::cli::DocumentText({{"inputs", inputs}, {"outputs", outputs}});
}

absl::StatusOr<hone::ir::Module> Bind(const hone::ir::Module& module, const hone_constant& value) {
  HONE_ASSIGN_OR_RETURN(const hone::ir::TensorType type, TypeOf(value));
  const std::string name = value.name;
  using hone::ir::Expr;
  const auto main = module.functions.find("main");
  if (main == module.functions.end()) {
    return absl::InvalidArgumentError("expected a function @main, found none");
  }
  std::vector<Expr> args;
  Expr constant;
  Expr bound;
  for (const Expr& param : hone::ir::Params(*main->second)) {
    if (param->name != name) {
      args.push_back(param);
      continue;
    }
    if (!param->type->IsTensor() || !(param->type->tensor == type)) {
      return absl::InvalidArgumentError(fmt::format(
          "expected a {} for %{}, found a {}", param->type->ToString(), name, type.ToString()));
    }
    bound = param;
    constant = hone::ir::ConstantFromBytes(param->type->tensor, value.data);
  }
  if (!bound) {
    return absl::InvalidArgumentError(
        fmt::format("expected the name of a parameter of @main, found '{}'", name));
  }
  args.push_back(hone::ir::Rewrite(hone::ir::Body(*main->second), [&](const Expr& node) {
    return node == bound ? constant : node;
  }));
  hone::ir::Module result = module;
  result.functions["main"] = hone::ir::WithOperands(main->second, nullptr, std::move(args));
  return result;
}

absl::StatusOr<std::string> DrawAs(const hone::ir::Module& module, const std::string& format) {
  HONE_ASSIGN_OR_RETURN(const hone::ir::Module typed, hone::passes::InferTypes(module));
  const hone::picture::Picture picture = hone::picture::MakePicture(typed);
  if (format == "tree") return hone::picture::ToTree(picture);
  if (format == "dot") return Draw(picture, hone::picture::ImageFormat::kDot);
  if (format == "svg") return Draw(picture, hone::picture::ImageFormat::kSvg);
  if (format == "pdf") return Draw(picture, hone::picture::ImageFormat::kPdf);
  if (format == "png") return Draw(picture, hone::picture::ImageFormat::kPng);
  return absl::InvalidArgumentError(
      fmt::format("expected format tree, dot, svg, pdf or png, found '{}'", format));
}

absl::StatusOr<std::string> CodeAs(const hone::ir::Module& module, const char* target_text,
                                   const std::string& form) {
  HONE_ASSIGN_OR_RETURN(const CpuTarget target, TargetOf(target_text));
  HONE_ASSIGN_OR_RETURN(hone::driver::ConfigChain configs, Configs(nullptr));
  hone::driver::CodeForm code = hone::driver::CodeForm::kNests;
  if (form == "llvm") {
    code = hone::driver::CodeForm::kLlvmIr;
  } else if (form == "assembly") {
    code = hone::driver::CodeForm::kAssembly;
  } else if (form != "nests") {
    return absl::InvalidArgumentError(
        fmt::format("expected form nests, llvm or assembly, found '{}'", form));
  }
  return hone::driver::GeneratedCode(module, target, configs, code);
}

// Graphs have no names, by which misses are told apart for people.
constexpr char kModelOfPython[] = "Python";

struct BuildOptions {
  const char* target = nullptr;
  int threads = 0;
  const char* database = nullptr;
  bool require_tuned = false;
};

// What specialisations have in common is in memory once.
std::vector<hone::ir::Module> ModulesOf(const hone_graph* const* graphs, size_t count) {
  std::vector<hone::ir::Module> modules;
  hone::ir::ConstantPool pool;
  for (size_t i = 0; i < count; ++i) {
    modules.push_back(count > 1 ? pool.Share(graphs[i]->module) : graphs[i]->module);
  }
  return modules;
}

absl::StatusOr<std::string> Build(std::vector<hone::ir::Module> modules,
                                  const BuildOptions& options, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const CpuTarget target, TargetOf(options.target, options.threads));
  HONE_ASSIGN_OR_RETURN(hone::driver::ConfigChain configs, Configs(options.database));
  HONE_ASSIGN_OR_RETURN(
      const hone::driver::CompileReport report,
      hone::driver::Compile(std::move(modules),
                            {.target = target, .require_tuned = options.require_tuned}, configs,
                            path));
  // That the misses are not recorded is no reason to be without the module.
  const std::string database = options.database == nullptr ? "" : options.database;
  hone::cli::RecordMisses(report, kModelOfPython,
                          {.database = hone::cli::DatabasePath(database), .server = ""})
      .IgnoreError();
  return hone::cli::ReportJson(report);
}

}  // namespace

const char* hone_compiler_error(void) { return last_error.c_str(); }

int hone_graph_parse(const char* text, size_t size, hone_graph** graph) {
  if (text == nullptr || graph == nullptr) return NullArgument();
  return Give(hone::ir::ParseModule({text, size}), graph);
}

int hone_graph_load(const char* path, const hone_bindings* bindings, hone_graph** graph) {
  if (path == nullptr || graph == nullptr) return NullArgument();
  return Give(LoadFile(path, bindings), graph);
}

int hone_graph_load_bytes(const void* data, size_t size, const hone_bindings* bindings,
                          hone_graph** graph) {
  if (data == nullptr || graph == nullptr) return NullArgument();
  return Give(LoadBytes({static_cast<const char*>(data), size}, bindings), graph);
}

void hone_graph_free(hone_graph* graph) { delete graph; }

int hone_graph_bind(const hone_graph* graph, const hone_constant* constant, hone_graph** bound) {
  if (graph == nullptr || constant == nullptr || bound == nullptr) return NullArgument();
  return Give(Bind(graph->module, *constant), bound);
}

int hone_graph_numerics(const hone_graph* graph, const char* numerics, hone_graph** result) {
  if (graph == nullptr || numerics == nullptr || result == nullptr) return NullArgument();
  if (!hone::ops::ParseNumerics(numerics)) {
    return Fail(absl::InvalidArgumentError(
        fmt::format("expected numerics strict, default or fast, found '{}'", numerics)));
  }
  return Give(hone::passes::WithNumerics(graph->module, numerics), result);
}

int hone_graph_pass(const hone_graph* graph, const char* pass, const char* target,
                    hone_graph** result) {
  if (graph == nullptr || pass == nullptr || result == nullptr) return NullArgument();
  const absl::StatusOr<CpuTarget> parsed = TargetOf(target);
  if (!parsed.ok()) return Fail(parsed.status());
  return Give(hone::driver::RunPass(graph->module, *parsed, pass), result);
}

int hone_graph_signature(const hone_graph* graph, hone_text** signature) {
  if (graph == nullptr || signature == nullptr) return NullArgument();
  return Give(Signature(graph->module), signature);
}

int hone_graph_text(const hone_graph* graph, int constants, hone_text** text) {
  if (graph == nullptr || text == nullptr) return NullArgument();
  return Give(hone::ir::ToText(graph->module, {.constants = constants != 0}), text);
}

int hone_graph_draw(const hone_graph* graph, const char* format, hone_text** picture) {
  if (graph == nullptr || format == nullptr || picture == nullptr) return NullArgument();
  return Give(DrawAs(graph->module, format), picture);
}

int hone_graph_code(const hone_graph* graph, const char* target, const char* form,
                    hone_text** code) {
  if (graph == nullptr || form == nullptr || code == nullptr) return NullArgument();
  return Give(CodeAs(graph->module, target, form), code);
}

int hone_graph_build(const hone_graph* const* graphs, size_t count, const char* target, int threads,
                     const char* database, int require_tuned, const char* path,
                     hone_text** report) {
  const bool is_complete = graphs != nullptr && count > 0 && path != nullptr && report != nullptr;
  if (!is_complete || std::count(graphs, graphs + count, nullptr) > 0) return NullArgument();
  absl::StatusOr<std::string> built =
      Build(ModulesOf(graphs, count), {target, threads, database, require_tuned != 0}, path);
  if (require_tuned != 0 && absl::IsFailedPrecondition(built.status())) {
    return Fail(built.status(), HONE_COMPILER_NOT_TUNED);
  }
  return Give(std::move(built), report);
}

int hone_pass_names(hone_text** names) {
  if (names == nullptr) return NullArgument();
  return Give(fmt::format("{}", fmt::join(hone::passes::PassNames(), "\n")), names);
}

int hone_operator_names(hone_text** names) {
  if (names == nullptr) return NullArgument();
  return Give(fmt::format("{}", fmt::join(hone::ops::OpNames(), "\n")), names);
}

void hone_text_free(hone_text* text) { delete static_cast<OwnedText*>(text); }
