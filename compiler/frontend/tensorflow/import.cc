#include "compiler/frontend/tensorflow/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "compiler/frontend/cut_advice.h"
#include "compiler/frontend/file.h"
#include "compiler/frontend/name_list.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "compiler/frontend/tensorflow/order.h"
#include "compiler/frontend/tensorflow/placeholder.h"
#include "compiler/ops/call_type.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

using tf::Node;
using tf::Value;

// What freezing takes away.
bool IsUnfrozen(const Node& node, const tf::Graph& graph) {
  static const auto* const ops = new std::set<std::string>{
      "PartitionedCall", "StatefulPartitionedCall", "If",         "StatelessIf",
      "While",           "StatelessWhile",          "Case",       "StatelessCase",
      "VarHandleOp",     "ReadVariableOp",          "VariableV2", "Variable"};
  return ops->contains(node.op) || graph.functions.contains(node.op);
}

// Node names by operator.
using NamesByOperator = std::map<std::string, std::vector<std::string>>;

std::string ListOf(const NamesByOperator& names) {
  std::vector<std::string> lines;
  for (const auto& [op, nodes] : names) {
    lines.push_back(fmt::format("{} (nodes {})", op, fmt::join(nodes, ", ")));
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

// All unsupported operators at once, so that a user learns the whole distance in one run.
absl::Status CheckOperators(const tf::Graph& graph, const tf::Order& order) {
  NamesByOperator unfrozen;
  NamesByOperator missing;
  for (const Node* node : order.nodes) {
    const std::string name = fmt::format("\"{}\"", node->name);
    if (IsUnfrozen(*node, graph)) {
      unfrozen[node->op].push_back(name);
    } else if (node->op != "Placeholder" && !tf::Converters().contains(node->op)) {
      missing[node->op].push_back(name);
    }
  }
  std::vector<std::string> faults;
  if (!unfrozen.empty()) {
    faults.push_back(fmt::format(
        "expected a frozen graph, found functions or variables: {}; freeze the model with "
        "tensorflow.python.framework.convert_to_constants.convert_variables_to_constants_v2",
        ListOf(unfrozen)));
  }
  if (!missing.empty()) {
    faults.push_back(
        fmt::format("the model uses operators that Hone does not have: {}", ListOf(missing)));
  }
  if (faults.empty()) return absl::OkStatus();
  return absl::UnimplementedError(fmt::format("{}", fmt::join(faults, "; ")));
}

// Builds "main" node by node; every output of a node is a typed value.
class GraphDefImport {
 public:
  GraphDefImport(const tf::Graph& graph, const tf::Order& order, const ImportOptions& options,
                 Allowance allowance)
      : graph_(graph),
        order_(order),
        options_(options),
        allowance_(allowance),
        layouts_(allowance_) {}

  absl::StatusOr<ir::Module> Run() {
    HONE_ASSIGN_OR_RETURN(std::vector<ir::Expr> params, Inputs());
    for (const Node* node : order_.nodes) {
      if (node->op == "Placeholder") continue;
      const absl::Status status = Convert(*node);
      if (!status.ok())
        return Prefixed(fmt::format("node \"{}\" ({})", node->name, node->op), status);
    }
    HONE_ASSIGN_OR_RETURN(std::vector<ir::Expr> outputs, Outputs());
    ir::Expr body = outputs.size() == 1 ? outputs[0] : ops::TypedTuple(std::move(outputs));
    ir::Module module;
    module.functions["main"] =
        ops::TypedFunction(std::move(params), std::move(body), {{"output_names", output_names_}});
    return module;
  }

  // Where a graph that cannot be imported whole can be cut; none where its inputs are wrong.
  std::vector<std::string> Places() {
    if (!Inputs().ok()) return {};
    std::vector<std::string> names;
    for (const auto& [node, output] : order_.outputs) {
      names.push_back(NameOf({node->name, output.value_or(0)}));
    }
    std::map<std::string, ir::Expr> read_beyond;
    for (const Node* node : order_.nodes) {
      if (node->op == "Placeholder" || TryConvert(*node)) continue;
      for (const tf::Input& input : node->inputs) {
        names.push_back(NameOf(input));
        read_beyond.emplace(names.back(), ValueOf(input));
      }
    }
    if (read_beyond.empty()) return {};
    for (const auto& [node, output] : order_.outputs) {
      const tf::Input value = {node->name, output.value_or(0)};
      read_beyond.emplace(NameOf(value), ValueOf(value));
    }
    return PlacesAmong(names, [&](const std::string& name) { return read_beyond.at(name); });
  }

 private:
  // In the order of the file.
  absl::StatusOr<std::vector<ir::Expr>> Inputs() {
    std::set<std::string> reached;
    for (const Node* node : order_.nodes) {
      if (node->op == "Placeholder") reached.insert(node->name);
    }
    HONE_RETURN_IF_ERROR(CheckOptions(reached));
    std::vector<ir::Expr> params;
    for (const Node& node : graph_.nodes) {
      if (!reached.contains(node.name)) continue;
      absl::StatusOr<ir::Expr> value = tf::PlaceholderOf(node, options_);
      if (!value.ok()) return Prefixed(fmt::format("input \"{}\"", node.name), value.status());
      if ((*value)->kind == ir::ExprKind::kVar) params.push_back(*value);
      values_[node.name] = {{*std::move(value)}};
    }
    return params;
  }

  // Options for inputs that a cut leaves out are taken: they were right for the whole graph, to
  // whose command the line with the cut is added.
  bool IsLeftOut(const std::string& name) const {
    return !options_.outputs.empty() &&
           std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& node) {
             return node.name == name && node.op == "Placeholder";
           });
  }

  absl::Status CheckOptions(const std::set<std::string>& inputs) const {
    const auto check = [&](const auto& by_name) {
      for (const auto& [name, value] : by_name) {
        if (inputs.contains(name) || IsLeftOut(name)) continue;
        return absl::InvalidArgumentError(
            fmt::format("the model has no input \"{}\"; it has {}", name, fmt::join(inputs, ", ")));
      }
      return absl::OkStatus();
    };
    if (!options_.dims.empty()) {
      return absl::InvalidArgumentError(
          fmt::format("--dim {}={}: symbolic extents have names in ONNX models only; give the "
                      "input's shape with --shape",
                      ShellWord(options_.dims.begin()->first), options_.dims.begin()->second));
    }
    HONE_RETURN_IF_ERROR(check(options_.shapes));
    HONE_RETURN_IF_ERROR(check(options_.constants));
    return check(options_.values);
  }

  absl::Status Convert(const Node& node) {
    std::vector<Value> args;
    for (const tf::Input& input : node.inputs) {
      const std::vector<Value>& given = values_.at(input.node);
      if (input.output >= given.size()) {
        return absl::UnimplementedError(fmt::format(
            "it reads \"{}:{}\", which Hone does not compute", input.node, input.output));
      }
      args.push_back(given[input.output]);
    }
    tf::NodeReader reader(node, std::move(args), layouts_);
    HONE_ASSIGN_OR_RETURN(std::vector<Value> results, tf::Converters().at(node.op)(reader));
    HONE_RETURN_IF_ERROR(reader.CheckAllRead());
    values_[node.name] = std::move(results);
    return absl::OkStatus();
  }

  bool TryConvert(const Node& node) {
    const bool has_all =
        std::all_of(node.inputs.begin(), node.inputs.end(),
                    [&](const tf::Input& input) { return values_.contains(input.node); });
    return has_all && tf::Converters().contains(node.op) && Convert(node).ok();
  }

  // Null where Hone does not compute it.
  ir::Expr ValueOf(const tf::Input& value) const {
    const auto given = values_.find(value.node);
    if (given == values_.end() || value.output >= given->second.size()) return ir::Expr();
    return given->second[value.output].e;
  }

  absl::StatusOr<std::vector<ir::Expr>> Outputs() {
    std::vector<ir::Expr> outputs;
    for (const auto& [node, output] : order_.outputs) {
      const std::vector<Value>& given = values_.at(node->name);
      if (output && *output >= given.size()) {
        return absl::InvalidArgumentError(fmt::format("--cut {}: node \"{}\" has {} results",
                                                      NameOf({node->name, *output}), node->name,
                                                      given.size()));
      }
      for (size_t i = output.value_or(0); i < (output ? *output + 1 : given.size()); ++i) {
        HONE_ASSIGN_OR_RETURN(ir::Expr e, layouts_.AsGiven(given[i]));
        outputs.push_back(std::move(e));
        output_names_.push_back(NameOf({node->name, i}));
      }
    }
    return outputs;
  }

  // As files name it.
  static std::string NameOf(const tf::Input& value) {
    return value.output == 0 ? value.node : fmt::format("{}:{}", value.node, value.output);
  }

  const tf::Graph& graph_;
  const tf::Order& order_;
  const ImportOptions& options_;
  Allowance allowance_;
  tf::Layouts layouts_;
  std::unordered_map<std::string, std::vector<Value>> values_;
  std::vector<std::string> output_names_;
};

absl::StatusOr<ir::Module> ImportWhole(const tf::Graph& graph, const tf::Order& order,
                                       const ImportOptions& options, Allowance allowance) {
  HONE_RETURN_IF_ERROR(CheckOperators(graph, order));
  return ImportWithValues(options, [&](const ImportOptions& bound) {
    return GraphDefImport(graph, order, bound, allowance).Run();
  });
}

}  // namespace

absl::StatusOr<ir::Module> ImportTensorflowBytes(std::string_view bytes,
                                                 const ImportOptions& options) {
  // What the file holds may be transposed once or twice; beyond that, half of the 2 GiB that a
  // small file may cost.
  Allowance allowance((int64_t{1} << 30) + 2 * static_cast<int64_t>(bytes.size()));
  HONE_ASSIGN_OR_RETURN(const tf::Graph graph, tf::ReadGraph(bytes, allowance));
  HONE_ASSIGN_OR_RETURN(const tf::Order order, tf::OrderOf(graph, options.outputs));
  absl::StatusOr<ir::Module> module = ImportWhole(graph, order, options, allowance);
  if (module.ok() || !absl::IsUnimplemented(module.status())) return module;
  return WithCutAdvice(module.status(), GraphDefImport(graph, order, options, allowance).Places());
}

absl::StatusOr<ir::Module> ImportTensorflow(const std::string& path, const ImportOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path));
  absl::StatusOr<ir::Module> module = ImportTensorflowBytes(bytes, options);
  if (!module.ok()) return Prefixed(path, module.status());
  return module;
}

}  // namespace hone::frontend
