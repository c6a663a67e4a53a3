#include "compiler/frontend/onnx/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>

#include "compiler/frontend/file.h"
#include "compiler/frontend/onnx/control_flow.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/evaluation_limit.h"
#include "compiler/frontend/onnx/model.h"
#include "compiler/frontend/onnx/node_scope.h"
#include "compiler/frontend/tensor_size.h"
#include "compiler/ops/call_type.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::Status Prefix(const std::string& prefix, const absl::Status& status) {
  return Reworded(status, fmt::format("{}: {}", prefix, std::string(status.message())));
}

bool IsSupported(const OnnxNode& node) {
  return IsControlFlow(node.op) || Converters().contains(node.op);
}

// Node names by operator, those of the bodies of control flow too.
using Missing = std::map<std::string, std::vector<std::string>>;

void CollectMissing(const std::vector<OnnxNode>& nodes, Missing* missing) {
  for (const OnnxNode& node : nodes) {
    if (!IsSupported(node)) (*missing)[node.op].push_back(fmt::format("\"{}\"", node.name));
    for (const auto& [name, attr] : node.attrs) {
      const auto* const subgraph = std::get_if<OnnxSubgraph>(&attr);
      if (subgraph != nullptr && subgraph->graph) CollectMissing(subgraph->graph->nodes, missing);
    }
  }
}

// All unsupported operators at once, so that a user learns the whole distance in one run.
absl::Status CheckOperators(const OnnxModel& model) {
  Missing missing;
  CollectMissing(model.nodes, &missing);
  if (missing.empty()) return absl::OkStatus();
  std::vector<std::string> lines;
  for (const auto& [op, names] : missing) {
    lines.push_back(fmt::format("{} (nodes {})", op, fmt::join(names, ", ")));
  }
  return absl::UnimplementedError(
      fmt::format("the model uses operators that Hone does not have: {}", fmt::join(lines, "; ")));
}

std::string SymbolicShape(const OnnxInput& input) {
  std::vector<std::string> extents;
  for (size_t i = 0; i < input.shape.size(); ++i) {
    extents.push_back(input.shape[i] < 0 ? input.symbols[i] : fmt::format("{}", input.shape[i]));
  }
  return fmt::format("{}", fmt::join(extents, ","));
}

absl::StatusOr<ir::Expr> InputVar(const OnnxInput& input, const ImportOptions& options) {
  Shape shape = input.shape;
  if (const auto given = options.shapes.find(input.name); given != options.shapes.end()) {
    bool fits = !input.has_shape || given->second.size() == shape.size();
    for (size_t i = 0; fits && i < given->second.size(); ++i) {
      const bool open = !input.has_shape || shape[i] < 0;
      fits = given->second[i] >= 0 && (open || given->second[i] == shape[i]);
    }
    if (!fits) {
      return absl::InvalidArgumentError(
          fmt::format("--shape {}={}: the model's input has the shape {}", input.name,
                      fmt::join(given->second, ","), SymbolicShape(input)));
    }
    shape = given->second;
  } else if (const auto value = options.values.find(input.name);
             value != options.values.end() &&
             (!input.has_shape || value->second.shape.size() == shape.size())) {
    for (size_t i = 0; i < value->second.shape.size(); ++i) {
      if (!input.has_shape) shape.push_back(value->second.shape[i]);
      if (shape[i] < 0) shape[i] = value->second.shape[i];
    }
  } else if (!input.has_shape) {
    return absl::InvalidArgumentError(fmt::format(
        "input \"{0}\" has no shape in the model: give one with --shape {0}=...", input.name));
  }
  for (const int64_t extent : shape) {
    if (extent < 0) {
      return absl::InvalidArgumentError(
          fmt::format("input \"{0}\" has symbolic extents: give numbers for them with "
                      "--shape {0}={1}",
                      input.name, SymbolicShape(input)));
    }
  }
  const absl::StatusOr<int64_t> bytes = TensorBytes(shape, input.dtype);
  if (!bytes.ok()) return Prefix(fmt::format("input \"{}\"", input.name), bytes.status());
  return ir::TensorVar(input.name, std::move(shape), input.dtype);
}

// Builds "main" node by node; every tensor of the model is a typed expression by its name.
class GraphImport {
 public:
  GraphImport(const OnnxModel& model, const ImportOptions& options)
      : model_(model), options_(options), scope_(model.opset, &generated_bytes_left_) {}

  absl::StatusOr<ir::Module> Run() {
    HONE_RETURN_IF_ERROR(CheckOptions());
    for (const auto& [name, value] : model_.sparse_initializers) {
      HONE_RETURN_IF_ERROR(scope_.DefineSparse(name, value));
    }
    for (const auto& [name, value] : model_.initializers) {
      HONE_RETURN_IF_ERROR(scope_.Define(name, value));
    }
    std::vector<ir::Expr> params;
    for (const OnnxInput& input : model_.inputs) {
      if (const auto it = options_.constants.find(input.name); it != options_.constants.end()) {
        HONE_ASSIGN_OR_RETURN(ir::Expr value, BoundInput(input, it->second));
        HONE_RETURN_IF_ERROR(scope_.Define(input.name, std::move(value)));
        continue;
      }
      HONE_ASSIGN_OR_RETURN(ir::Expr var, InputVar(input, options_));
      HONE_RETURN_IF_ERROR(scope_.Define(input.name, var));
      params.push_back(std::move(var));
    }
    HONE_RETURN_IF_ERROR(scope_.Convert(model_.nodes));
    HONE_ASSIGN_OR_RETURN(std::vector<ir::Expr> outputs, scope_.Outputs(model_.outputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i]->type->IsTensor()) continue;
      return absl::UnimplementedError(fmt::format(
          "the output \"{}\" was expected to be a tensor, found a sequence or an optional",
          model_.outputs[i]));
    }
    ir::Expr body = outputs.size() == 1 ? outputs[0] : ops::TypedTuple(std::move(outputs));
    ir::Module module;
    module.functions["main"] =
        ops::TypedFunction(std::move(params), std::move(body), {{"output_names", model_.outputs}});
    return module;
  }

 private:
  absl::Status CheckOptions() const {
    for (const auto& [name, shape] : options_.shapes) HONE_RETURN_IF_ERROR(CheckIsInput(name));
    for (const auto& [name, value] : options_.constants) HONE_RETURN_IF_ERROR(CheckIsInput(name));
    for (const auto& [name, value] : options_.values) HONE_RETURN_IF_ERROR(CheckIsInput(name));
    return absl::OkStatus();
  }

  absl::Status CheckIsInput(const std::string& name) const {
    std::vector<std::string> names;
    for (const OnnxInput& input : model_.inputs) {
      if (input.name == name) return absl::OkStatus();
      names.push_back(input.name);
    }
    return absl::InvalidArgumentError(
        fmt::format("the model has no input \"{}\"; it has {}", name, fmt::join(names, ", ")));
  }

  static absl::StatusOr<ir::Expr> BoundInput(const OnnxInput& input, const TensorData& value) {
    if (value.dtype != input.dtype) {
      return absl::InvalidArgumentError(fmt::format("input \"{}\": {} was expected, found {}",
                                                    input.name, Name(input.dtype),
                                                    Name(value.dtype)));
    }
    bool fits = !input.has_shape || value.shape.size() == input.shape.size();
    for (size_t i = 0; fits && input.has_shape && i < input.shape.size(); ++i) {
      fits = input.shape[i] < 0 || input.shape[i] == value.shape[i];
    }
    if (!fits) {
      return absl::InvalidArgumentError(
          fmt::format("input \"{}\": a value of shape ({}) was expected, found ({})", input.name,
                      SymbolicShape(input), fmt::join(value.shape, ",")));
    }
    return MakeConstant(value.shape, value.dtype, value.bytes);
  }

  const OnnxModel& model_;
  const ImportOptions& options_;
  int64_t generated_bytes_left_ = int64_t{1} << 30;  // VGG-19 with generated weights: 0.6 GB
  NodeScope scope_;
};

absl::StatusOr<ir::Module> Import(const absl::StatusOr<OnnxModel>& read,
                                  const ImportOptions& options) {
  HONE_RETURN_IF_ERROR(read.status());
  const EvaluationLimit limit;
  const OnnxModel& model = *read;
  HONE_RETURN_IF_ERROR(CheckOperators(model));
  return ImportWithValues(
      options, [&](const ImportOptions& bound) { return GraphImport(model, bound).Run(); });
}

}  // namespace

absl::StatusOr<ir::Module> ImportOnnxBytes(std::string_view bytes, const ImportOptions& options,
                                           const std::string& folder) {
  return Import(ReadOnnxModel(bytes, folder), options);
}

absl::StatusOr<ir::Module> ImportOnnx(const std::string& path, const ImportOptions& options) {
  HONE_RETURN_IF_ERROR(SizeOfFile(path).status());
  const std::string folder = std::filesystem::path(path).parent_path().string();
  absl::StatusOr<ir::Module> module =
      Import(ReadOnnxModelFile(path, folder.empty() ? "." : folder), options);
  if (!module.ok()) return Prefix(path, module.status());
  return module;
}

}  // namespace hone::frontend
