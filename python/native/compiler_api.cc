#include "python/native/compiler_api.h"

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/compile_report.h"
#include "cli/model_options.h"
#include "compiler/driver/compile.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ops/lower.h"
#include "compiler/ops/op.h"
#include "compiler/passes/infer_type.h"
#include "compiler/passes/numerics.h"
#include "compiler/passes/pipeline.h"
#include "compiler/picture/dot.h"
#include "compiler/picture/tree.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "support/status.h"

struct hone_graph {
  hone::ir::Module module;
};

namespace {

using hone::Target;

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

absl::StatusOr<Target> TargetOf(const char* text, int threads = 0) {
  HONE_ASSIGN_OR_RETURN(Target target, Target::Parse(text == nullptr ? "native" : text));
  if (threads > 0) target.threads = threads;
  return target;
}

absl::StatusOr<hone::driver::ConfigChain> Configs(const char* database) {
  const std::string path = database == nullptr ? "" : database;
  return hone::cli::ConfigsFrom(hone::cli::DatabasePath(path), database != nullptr);
}

struct Value {
  std::string type;
  const void* data = nullptr;
  size_t size = 0;
};

absl::StatusOr<hone::ir::Module> Bind(const hone::ir::Module& module, const std::string& name,
                                      const Value& value) {
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
    if (!param->type->IsTensor() || param->type->ToString() != value.type ||
        param->type->tensor.SizeBytes() != static_cast<int64_t>(value.size)) {
      return absl::InvalidArgumentError(fmt::format("expected a {} for %{}, found a {} of {} bytes",
                                                    param->type->ToString(), name, value.type,
                                                    value.size));
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
  HONE_ASSIGN_OR_RETURN(const Target target, TargetOf(target_text));
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

struct BuildOptions {
  const char* target = nullptr;
  int threads = 0;
  const char* database = nullptr;
  bool require_tuned = false;
};

absl::StatusOr<std::string> Build(const hone::ir::Module& module, const BuildOptions& options,
                                  const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Target target, TargetOf(options.target, options.threads));
  HONE_ASSIGN_OR_RETURN(hone::driver::ConfigChain configs, Configs(options.database));
  HONE_ASSIGN_OR_RETURN(
      const hone::driver::CompileReport report,
      hone::driver::Compile(module, {.target = target, .require_tuned = options.require_tuned},
                            configs, path));
  return hone::cli::ReportJson(report);
}

}  // namespace

const char* hone_compiler_error(void) { return last_error.c_str(); }

int hone_graph_parse(const char* text, size_t size, hone_graph** graph) {
  if (text == nullptr || graph == nullptr) return NullArgument();
  return Give(hone::ir::ParseModule({text, size}), graph);
}

int hone_graph_load(const char* path, const char* const* shapes, size_t shape_count,
                    hone_graph** graph) {
  if (path == nullptr || graph == nullptr || (shapes == nullptr && shape_count > 0)) {
    return NullArgument();
  }
  hone::cli::ModelOptions model;
  model.path = path;
  model.shapes.assign(shapes, shapes + shape_count);
  return Give(hone::cli::LoadModel(model, "a graph"), graph);
}

void hone_graph_free(hone_graph* graph) { delete graph; }

int hone_graph_bind(const hone_graph* graph, const char* name, const char* type, const void* data,
                    size_t size, hone_graph** bound) {
  if (graph == nullptr || name == nullptr || type == nullptr || bound == nullptr ||
      (data == nullptr && size > 0)) {
    return NullArgument();
  }
  return Give(Bind(graph->module, name, {type, data, size}), bound);
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
  const absl::StatusOr<Target> parsed = TargetOf(target);
  if (!parsed.ok()) return Fail(parsed.status());
  return Give(hone::driver::RunPass(graph->module, *parsed, pass), result);
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

int hone_graph_build(const hone_graph* graph, const char* target, int threads, const char* database,
                     int require_tuned, const char* path, hone_text** report) {
  if (graph == nullptr || path == nullptr || report == nullptr) return NullArgument();
  absl::StatusOr<std::string> built =
      Build(graph->module, {target, threads, database, require_tuned != 0}, path);
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
