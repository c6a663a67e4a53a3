#include "compiler/frontend/onnx/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "compiler/frontend/cut_advice.h"
#include "compiler/frontend/file.h"
#include "compiler/frontend/onnx/cut.h"
#include "compiler/frontend/onnx/evaluation_limit.h"
#include "compiler/frontend/onnx/four_bit.h"
#include "compiler/frontend/onnx/functions.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/onnx/input_shapes.h"
#include "compiler/frontend/onnx/model.h"
#include "compiler/frontend/onnx/node_scope.h"
#include "compiler/frontend/onnx/supported.h"
#include "compiler/frontend/tensor_size.h"
#include "compiler/ops/call_type.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// The input as a parameter of main.
absl::StatusOr<ir::Expr> InputVar(const OnnxInput& input, Shape shape) {
  const absl::StatusOr<int64_t> bytes = TensorBytes(shape, input.dtype);
  if (!bytes.ok()) return Prefixed(fmt::format("input \"{}\"", input.name), bytes.status());
  return ir::TensorVar(input.name, std::move(shape), input.dtype);
}

// The value that the options have for an input whose initializer is only its default; nullptr for
// none.
const TensorData* OverridingValue(const std::string& name, const ImportOptions& options) {
  for (const auto* const given : {&options.constants, &options.values}) {
    if (const auto it = given->find(name); it != given->end()) return &it->second;
  }
  return nullptr;
}

// Builds "main" node by node; every tensor of the model is a typed expression by its name.
class GraphImport {
 public:
  // `bounds`: results whose shape depends on data of a run may have the largest that they can have.
  GraphImport(const OnnxModel& model, const ImportOptions& options, bool bounds)
      : model_(model),
        options_(options),
        state_{&model.functions, Allowance(kMostGeneratedBytes), {}, SmallValues(options), bounds},
        scope_(model.opset, &state_) {}

  absl::StatusOr<ir::Module> Run() {
    HONE_RETURN_IF_ERROR(DefineGiven());
    if (absl::Status status = scope_.Convert(model_.nodes); !status.ok()) {
      if (note_.empty()) return status;
      return Reworded(status,
                      fmt::format("{}; note that {}", std::string(status.message()), note_));
    }
    HONE_ASSIGN_OR_RETURN(std::vector<ir::Expr> outputs, scope_.Outputs(model_.outputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i]->type->IsTensor()) continue;
      return absl::UnimplementedError(fmt::format(
          "the output \"{}\" was expected to be a tensor, found a sequence or an optional",
          model_.outputs[i]));
    }
    ir::Expr body = outputs.size() == 1 ? outputs[0] : ops::TypedTuple(std::move(outputs));
    ir::Module module;
    module.functions = std::move(state_.repeats.functions);
    module.functions["main"] =
        ops::TypedFunction(std::move(params_), std::move(body), {{"output_names", model_.outputs}});
    return module;
  }

  // Where a model that cannot be imported whole can be cut; none where its inputs are wrong.
  std::vector<std::string> Places() {
    if (!DefineGiven().ok()) return {};
    state_.small_values.clear();
    return PlacesToCut(model_, scope_);
  }

 private:
  static constexpr int64_t kMostGeneratedBytes = int64_t{1} << 30;  // VGG-19's weights: 0.6 GB

  // Inputs and initializers.
  absl::Status DefineGiven() {
    HONE_RETURN_IF_ERROR(CheckOptions());
    for (const auto& [name, value] : model_.sparse_initializers) {
      HONE_RETURN_IF_ERROR(scope_.DefineSparse(name, value));
    }
    HONE_ASSIGN_OR_RETURN(const InputShapes inputs, ShapesOfInputs(model_, options_));
    note_ = inputs.note;
    for (const OnnxInput& input : model_.inputs) {
      if (const auto it = options_.constants.find(input.name); it != options_.constants.end()) {
        HONE_ASSIGN_OR_RETURN(ir::Expr value, BoundInput(input, it->second));
        HONE_RETURN_IF_ERROR(scope_.Define(input.name, std::move(value)));
        continue;
      }
      HONE_ASSIGN_OR_RETURN(ir::Expr var, InputVar(input, inputs.shapes.at(input.name)));
      HONE_RETURN_IF_ERROR(scope_.Define(input.name, var));
      params_.push_back(std::move(var));
    }
    HONE_RETURN_IF_ERROR(DefineDefaulted());
    for (const auto& [name, value] : model_.initializers) {
      if (scope_.Find(name) == nullptr) HONE_RETURN_IF_ERROR(scope_.Define(name, value));
    }
    for (const std::string& name : model_.four_bit) scope_.SetTrait(name, Trait::kFourBit);
    return absl::OkStatus();
  }

  static std::set<std::string> SmallValues(const ImportOptions& options) {
    constexpr size_t kMostBytes = 64;
    std::set<std::string> names;
    for (const auto& [name, value] : options.values) {
      if (value.bytes.size() <= kMostBytes) names.insert(name);
    }
    return names;
  }

  // Inputs that have a default value in the file and another one, or a shape, in the options.
  absl::Status DefineDefaulted() {
    for (const OnnxInput& input : model_.defaulted) {
      if (const TensorData* const value = OverridingValue(input.name, options_)) {
        HONE_ASSIGN_OR_RETURN(ir::Expr constant, BoundInput(input, *value));
        HONE_RETURN_IF_ERROR(scope_.Define(input.name, std::move(constant)));
      } else if (const auto it = options_.shapes.find(input.name); it != options_.shapes.end()) {
        HONE_RETURN_IF_ERROR(CheckShape(input, it->second));
        HONE_ASSIGN_OR_RETURN(ir::Expr var, InputVar(input, it->second));
        HONE_RETURN_IF_ERROR(scope_.Define(input.name, var));
        params_.push_back(std::move(var));
      }
    }
    return absl::OkStatus();
  }

  // Options for inputs that a cut leaves out are taken: they were right for the whole model, to
  // whose command the line with the cut is added.
  absl::Status CheckOptions() const {
    for (const auto& [name, shape] : options_.shapes) HONE_RETURN_IF_ERROR(CheckIsInput(name));
    for (const auto& [name, value] : options_.constants) HONE_RETURN_IF_ERROR(CheckIsInput(name));
    for (const auto& [name, value] : options_.values) HONE_RETURN_IF_ERROR(CheckIsInput(name));
    return absl::OkStatus();
  }

  absl::Status CheckIsInput(const std::string& name) const {
    for (const auto* const inputs : {&model_.inputs, &model_.defaulted, &model_.left_out}) {
      const auto has_name = [&](const OnnxInput& input) { return input.name == name; };
      if (std::ranges::any_of(*inputs, has_name)) return absl::OkStatus();
    }
    std::vector<std::string> names;
    for (const OnnxInput& input : model_.inputs) names.push_back(input.name);
    return absl::InvalidArgumentError(
        fmt::format("the model has no input \"{}\"; it has {}", name, fmt::join(names, ", ")));
  }

  absl::StatusOr<ir::Expr> BoundInput(const OnnxInput& input, const TensorData& value) const {
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
    if (model_.four_bit.contains(input.name)) {
      HONE_RETURN_IF_ERROR(CheckFourBitValues(input.name, value));
    }
    return MakeConstant(value.shape, value.dtype, value.bytes);
  }

  const OnnxModel& model_;
  const ImportOptions& options_;
  ImportState state_;
  NodeScope scope_;
  std::vector<ir::Expr> params_;
  std::string note_;  // that of InputShapes
};

// Whether a node of the main graph or of a function may give a result that has such bounds.
bool HasBounds(const OnnxModel& model) {
  const auto any_of = [](const std::vector<OnnxNode>& nodes) {
    return std::ranges::any_of(nodes, [](const OnnxNode& node) {
      return node.op == "NonZero" || node.op == "NonMaxSuppression";
    });
  };
  return any_of(model.nodes) || std::ranges::any_of(model.functions, [&](const auto& function) {
           return any_of(function.second.nodes);
         });
}

absl::StatusOr<ir::Module> ImportWhole(const OnnxModel& model, const ImportOptions& options,
                                       bool bounds) {
  const EvaluationLimit limit;
  return ImportWithValues(
      options, [&](const ImportOptions& bound) { return GraphImport(model, bound, bounds).Run(); });
}

absl::StatusOr<ir::Module> Import(absl::StatusOr<OnnxModel> read, const ImportOptions& options) {
  HONE_RETURN_IF_ERROR(read.status());
  OnnxModel& model = *read;
  if (!options.outputs.empty()) HONE_RETURN_IF_ERROR(CutAt(options.outputs, model));
  absl::Status status = CheckSupported(model);
  if (status.ok()) {
    absl::StatusOr<ir::Module> module = ImportWhole(model, options, /*bounds=*/false);
    if (absl::IsUnimplemented(module.status()) && HasBounds(model)) {
      module = ImportWhole(model, options, /*bounds=*/true);
    }
    if (module.ok()) return module;
    status = module.status();
  }
  const bool can_be_cut =
      model.opset <= kNewestOpset && FunctionsCalled(model.functions, model.nodes).ok();
  if (!absl::IsUnimplemented(status) || !can_be_cut) return status;
  const EvaluationLimit limit;
  return WithCutAdvice(status, GraphImport(model, options, /*bounds=*/true).Places());
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
  if (!module.ok()) return Prefixed(path, module.status());
  return module;
}

}  // namespace hone::frontend
