#include "compiler/driver/kernel_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "compiler/driver/repeat_values.h"
#include "compiler/driver/views.h"
#include "compiler/ir/constant_pool.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/repeat.h"
#include "compiler/passes/pieces.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::driver {

// Kernels of all specialisations, each once.
class KernelTable {
 public:
  absl::StatusOr<int> KernelOf(const ir::ExprNode& call, const std::vector<bool>& const_params,
                               const ir::LayoutSignature& signature);
  Kernel& operator[](int id) { return kernels_[id]; }
  std::vector<Kernel> Take() { return std::move(kernels_); }

 private:
  std::string UniqueName(const ops::KernelDefinition& def);

  std::vector<Kernel> kernels_;
  std::map<std::pair<std::string, std::string>, int> ids_;  // by workload digest and signature
  std::set<std::string> names_;
};

absl::StatusOr<int> KernelTable::KernelOf(const ir::ExprNode& call,
                                          const std::vector<bool>& const_params,
                                          const ir::LayoutSignature& signature) {
  HONE_ASSIGN_OR_RETURN(ops::KernelDefinition def, ops::Lower(call.callee, const_params));
  const auto key = std::make_pair(def.workload.digest, signature.ToString());
  const auto found = ids_.find(key);
  if (found != ids_.end()) return found->second;

  Kernel kernel{.name = UniqueName(def),
                .def = std::make_shared<const ops::KernelDefinition>(std::move(def)),
                .signature = signature,
                .calls = 0};
  kernels_.push_back(std::move(kernel));
  const int id = static_cast<int>(kernels_.size()) - 1;
  ids_[key] = id;
  return id;
}

std::string KernelTable::UniqueName(const ops::KernelDefinition& def) {
  std::string name;
  for (const ops::OpStage& op : def.ops) {
    std::string_view word = op.op;
    if (word.starts_with("nn.")) word.remove_prefix(3);
    if (!name.empty()) name += "_";
    name += word;
    if (name.size() > 60) break;
  }
  std::string unique = name;
  for (int i = 1; !names_.insert(unique).second; ++i) unique = fmt::format("{}.{}", name, i);
  return unique;
}

namespace {

std::vector<ir::Type> ResultTypes(const ir::ExprNode& call) {
  return call.type->is_tuple ? call.type->fields : std::vector<ir::Type>{*call.type};
}

// The calls of one specialisation.
class SpecialisationBuilder {
 public:
  SpecialisationBuilder(KernelTable& kernels, int number, const ir::Module& module)
      : kernels_(kernels), number_(number), module_(module) {}

  absl::StatusOr<Specialisation> Build() {
    const ir::ExprNode& main = *module_.functions.at("main");
    for (const ir::Expr& param : ir::Params(main)) AddInput(param);
    for (const ir::Expr& node : ir::PostOrderOutside(ir::Body(main))) {
      HONE_RETURN_IF_ERROR(Visit(node));
    }
    HONE_RETURN_IF_ERROR(MarkOutputs(main));
    DropViews();
    for (size_t c = 0; c < graph_.calls.size(); ++c) HONE_RETURN_IF_ERROR(AddKernel(c));
    return std::move(graph_);
  }

 private:
  int AddValue(Value value) {
    graph_.values.push_back(std::move(value));
    return static_cast<int>(graph_.values.size()) - 1;
  }

  void AddInput(const ir::Expr& param) {
    const ir::TensorType& type = param->type->tensor;
    Value value{.kind = Value::Kind::kInput,
                .name = param->name,
                .type = type,
                .layout = Layout::RowMajor(static_cast<int>(type.shape.size())),
                .data = {},
                .index = static_cast<int>(graph_.inputs.size())};
    const int id = AddValue(std::move(value));
    graph_.inputs.push_back(id);
    values_of_[param.get()] = {id};
  }

  absl::Status Visit(const ir::Expr& node) {
    switch (node->kind) {
      case ir::ExprKind::kVar:
      case ir::ExprKind::kFunction:
      case ir::ExprKind::kGlobalVar:
        return absl::OkStatus();  // parameters are inputs; functions are handled at their calls
      case ir::ExprKind::kConstant: {
        const ir::TensorType& type = node->type->tensor;
        Value value{.kind = Value::Kind::kConstant,
                    .name = fmt::format("constant{}", graph_.values.size()),
                    .type = type,
                    .layout = Layout::RowMajor(static_cast<int>(type.shape.size())),
                    .data = node->data};
        values_of_[node.get()] = {AddValue(std::move(value))};
        return absl::OkStatus();
      }
      case ir::ExprKind::kTuple: {
        std::vector<int>& all = values_of_[node.get()];
        for (const ir::Expr& field : node->args) {
          const std::vector<int>& ids = values_of_.at(field.get());
          all.insert(all.end(), ids.begin(), ids.end());
        }
        return absl::OkStatus();
      }
      case ir::ExprKind::kTupleGetItem:
        values_of_[node.get()] = {values_of_.at(node->args[0].get())[node->index]};
        return absl::OkStatus();
      case ir::ExprKind::kCall:
        return ops::IsRepeat(*node) ? VisitRepeat(node) : VisitCall(node);
      default:
        return absl::InternalError(
            "expected calls of kernels and tuples of their results after the passes, found another "
            "kind of node");
    }
  }

  absl::Status VisitCall(const ir::Expr& node) {
    if (!node->callee || node->callee->kind != ir::ExprKind::kFunction) {
      return absl::InternalError(
          fmt::format("expected calls of fused functions only, found {}", node->name));
    }
    KernelCall call;
    call.repeat = repeat_;
    std::vector<int> operand_ranks;
    for (const ir::Expr& arg : node->args) {
      const int id = values_of_.at(arg.get())[0];
      call.args.push_back(id);
      const Value& value = graph_.values[id];
      if (value.kind == Value::Kind::kConstant) continue;
      operand_ranks.push_back(static_cast<int>(value.type.shape.size()));
    }
    const std::vector<ir::Type> results = ResultTypes(*node);
    std::vector<int> result_ranks;
    for (const ir::Type& type : results) {
      result_ranks.push_back(static_cast<int>(type.tensor.shape.size()));
    }
    HONE_ASSIGN_OR_RETURN(
        ir::LayoutSignature signature,
        ir::LayoutSignature::Parse(
            ir::GetAttr<std::string>(node->callee->attrs, "signature", std::string()),
            operand_ranks, result_ranks));
    for (size_t i = 0; i < results.size(); ++i) {
      call.results.push_back(AddIntermediate(graph_, results[i].tensor, signature.results[i]));
    }
    values_of_[node.get()] = call.results;
    graph_.calls.push_back(std::move(call));
    nodes_.emplace_back(node, std::move(signature));
    return absl::OkStatus();
  }

  // The body's calls stand where the repeat does, on values that move from trip to trip.
  absl::Status VisitRepeat(const ir::Expr& node) {
    const ops::Repeat repeat = ops::RepeatOf(*node);
    const auto function = module_.functions.find(node->callee->name);
    if (repeat_ >= 0 || !repeat.rows || function == module_.functions.end()) {
      return absl::InternalError("expected repeats in rows, and none in another");
    }
    RepeatValues values(repeat, graph_);
    const std::vector<ir::Expr> params = ir::Params(*function->second);
    for (size_t i = 0; i < params.size(); ++i) {
      const int arg = values_of_.at(node->args[i].get())[0];
      values_of_[params[i].get()] = {values.AddParam(i, arg, params[i]->type->tensor)};
    }
    repeat_ = static_cast<int>(graph_.repeats.size());
    graph_.repeats.push_back({.trips = repeat.trips});
    const ir::Expr& body = ir::Body(*function->second);
    for (const ir::Expr& inner : ir::PostOrderOutside(body)) HONE_RETURN_IF_ERROR(Visit(inner));
    repeat_ = -1;
    HONE_ASSIGN_OR_RETURN(values_of_[node.get()],
                          values.AddResults(values_of_.at(body.get()), *node->type));
    return absl::OkStatus();
  }

  bool IsConstant(int id) const { return graph_.values[id].kind == Value::Kind::kConstant; }

  // Calls that need not run go.
  void DropViews() {
    std::vector<Move> moves;
    for (size_t c = 0; c < graph_.calls.size(); ++c) {
      const std::vector<int>& args = graph_.calls[c].args;
      if (std::any_of(args.begin(), args.end(), [&](int id) { return IsConstant(id); })) continue;
      const auto& [node, signature] = nodes_[c];
      if (auto pieces = passes::PiecesOf(*node->callee, signature))
        moves.push_back({c, *std::move(pieces)});
    }
    const std::vector<bool> gone = PlaceViews(moves, &graph_);
    for (size_t m = moves.size(); m-- > 0;) {
      if (!gone[m]) continue;
      const auto at = static_cast<ptrdiff_t>(moves[m].call);
      graph_.calls.erase(graph_.calls.begin() + at);
      nodes_.erase(nodes_.begin() + at);
    }
  }

  absl::Status AddKernel(size_t c) {
    KernelCall& call = graph_.calls[c];
    std::vector<bool> const_params;
    for (const int id : call.args) const_params.push_back(IsConstant(id));
    const auto& [node, signature] = nodes_[c];
    HONE_ASSIGN_OR_RETURN(call.kernel, kernels_.KernelOf(*node, const_params, signature));
    Kernel& kernel = kernels_[call.kernel];
    const int64_t trips = call.repeat < 0 ? 1 : graph_.repeats[call.repeat].trips;
    if (__builtin_add_overflow(kernel.calls, trips, &kernel.calls)) kernel.calls = INT64_MAX;
    if (kernel.specialisations.empty() || kernel.specialisations.back() != number_) {
      kernel.specialisations.push_back(number_);
    }
    for (const int id : call.results) {
      Value& value = graph_.values[id];
      if (value.kind == Value::Kind::kIntermediate) {
        value.name = fmt::format("{}.{}", kernel.name, id);
      }
    }
    return absl::OkStatus();
  }

  absl::Status MarkOutputs(const ir::ExprNode& main) {
    const auto names =
        ops::StringsAttr(main.attrs, "output_names").value_or(std::vector<std::string>());
    for (int id : values_of_.at(ir::Body(main).get())) {
      Value& value = graph_.values[id];
      if (value.kind != Value::Kind::kIntermediate) {
        return absl::InternalError(fmt::format(
            "expected output {} to be written by a kernel of its own, found that {} is",
            graph_.outputs.size(),
            value.kind == Value::Kind::kOutput ? "another output" : "no kernel's result"));
      }
      value.kind = Value::Kind::kOutput;
      value.index = static_cast<int>(graph_.outputs.size());
      const size_t index = static_cast<size_t>(value.index);
      value.name = index < names.size() ? names[index] : fmt::format("output{}", index);
      graph_.outputs.push_back(id);
    }
    return absl::OkStatus();
  }

  KernelTable& kernels_;
  const int number_;
  const ir::Module& module_;
  int repeat_ = -1;  // which is being built
  Specialisation graph_;
  std::unordered_map<const ir::ExprNode*, std::vector<int>> values_of_;
  std::vector<std::pair<ir::Expr, ir::LayoutSignature>> nodes_;  // of the calls
};

// Modules are asked for inputs and outputs by name. That of a field of a tuple may meet another's.
absl::Status CheckNames(const Specialisation& graph) {
  const std::pair<std::string_view, const std::vector<int>&> sides[] = {{"inputs", graph.inputs},
                                                                        {"outputs", graph.outputs}};
  for (const auto& [side, ids] : sides) {
    std::set<std::string_view> names;
    for (const int id : ids) {
      const std::string& name = graph.values[id].name;
      if (names.insert(name).second) continue;
      return absl::InvalidArgumentError(
          fmt::format("expected {} of different names, found two named {}: rename one (of the "
                      "fields of a tuple x, x.0 is the first)",
                      side, name));
    }
  }
  return absl::OkStatus();
}

bool SameInterface(const Specialisation& a, const Specialisation& b) {
  const auto same = [](const Value& x, const Value& y) {
    return x.name == y.name && x.type.dtype == y.type.dtype;
  };
  bool all = a.inputs.size() == b.inputs.size() && a.outputs.size() == b.outputs.size();
  for (size_t i = 0; all && i < a.inputs.size(); ++i) {
    all = same(a.values[a.inputs[i]], b.values[b.inputs[i]]);
  }
  for (size_t i = 0; all && i < a.outputs.size(); ++i) {
    all = same(a.values[a.outputs[i]], b.values[b.outputs[i]]);
  }
  return all;
}

bool SameShapes(const Specialisation& a, const Specialisation& b) {
  bool same = true;
  for (size_t i = 0; same && i < a.inputs.size(); ++i) {
    same = a.values[a.inputs[i]].type.shape == b.values[b.inputs[i]].type.shape;
  }
  return same;
}

}  // namespace

class KernelGraphBuilder::Impl {
 public:
  absl::Status Add(const ir::Module& module) {
    const auto main = module.functions.find("main");
    if (main == module.functions.end())
      return absl::InvalidArgumentError("expected a function main, found none");
    std::vector<Specialisation>& all = graph_.specialisations;
    HONE_ASSIGN_OR_RETURN(
        Specialisation added,
        SpecialisationBuilder(kernels_, static_cast<int>(all.size()), module).Build());
    HONE_RETURN_IF_ERROR(CheckNames(added));
    for (const Specialisation& other : all) {
      if (!SameInterface(added, other) || SameShapes(added, other)) {
        return absl::InvalidArgumentError(
            "expected specialisations that differ in the shapes of their inputs, and in nothing "
            "else of inputs and outputs, found two that do not");
      }
    }
    all.push_back(std::move(added));
    // One specialisation has each of its constants once.
    if (all.size() == 2) ShareConstants(all[0]);
    if (all.size() >= 2) ShareConstants(all.back());
    return absl::OkStatus();
  }

  KernelGraph Take() {
    graph_.kernels = kernels_.Take();
    return std::move(graph_);
  }

 private:
  void ShareConstants(Specialisation& specialisation) {
    for (Value& value : specialisation.values) {
      if (value.kind == Value::Kind::kConstant) value.data = constants_.Share(value.data);
    }
  }

  KernelTable kernels_;
  KernelGraph graph_;
  ir::ConstantPool constants_;
};

KernelGraphBuilder::KernelGraphBuilder() : impl_(std::make_unique<Impl>()) {}
KernelGraphBuilder::~KernelGraphBuilder() = default;
absl::Status KernelGraphBuilder::Add(const ir::Module& module) { return impl_->Add(module); }
KernelGraph KernelGraphBuilder::Take() { return impl_->Take(); }

absl::StatusOr<KernelGraph> BuildKernelGraph(const ir::Module& module) {
  KernelGraphBuilder builder;
  HONE_RETURN_IF_ERROR(builder.Add(module));
  return builder.Take();
}

}  // namespace hone::driver
