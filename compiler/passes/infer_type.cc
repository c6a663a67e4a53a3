#include "compiler/passes/infer_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/node_map.h"
#include "compiler/ir/printer.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/call_type.h"
#include "compiler/ops/lower.h"
#include "compiler/ops/repeat.h"
#include "compiler/ops/type_budget.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Type;

// "nn.conv2d(Tensor[(1, 3, 8, 8), float32], ..., strides=[2, 2])": the expression, for messages.
std::string Head(const Expr& node) {
  std::string list;
  constexpr size_t kLongest = 2000;
  for (const Expr& arg : node->args) {
    if (!list.empty()) list += ", ";
    if (list.size() > kLongest) {
      list.resize(kLongest);
      list += " ...";
      break;
    }
    if (arg->kind == ExprKind::kGlobalVar) {
      list += "@" + arg->name;
    } else {
      list += arg->type ? ir::ValueType(*arg).ToString() : "?";
    }
  }
  switch (node->kind) {
    case ExprKind::kCall: {
      std::string name = node->name;
      if (node->callee)
        name = node->callee->kind == ExprKind::kGlobalVar ? "@" + node->callee->name
               : node->callee->kind == ExprKind::kVar     ? "%" + node->callee->name
                                                          : "fn";
      const std::string attrs = ir::ToText(node->attrs);
      if (!list.empty() && !attrs.empty()) list += ", ";
      return fmt::format("{}({}{})", name, list, attrs);
    }
    case ExprKind::kTupleGetItem:
      return fmt::format("{}.{}", list, node->index);
    case ExprKind::kLet:
      return fmt::format("let %{}", node->args[0]->name);
    case ExprKind::kIf:
      return "if";
    default:
      return "the function";
  }
}

absl::Status Mismatch(const std::string& expected, const std::string& found) {
  return absl::InvalidArgumentError(fmt::format("expected {}, found {}", expected, found));
}

// Those that the compiler reads.
absl::Status CheckFunctionAttrs(const ir::Attrs& attrs) {
  for (const auto& [name, value] : attrs) {
    if (name == "primitive" && !std::holds_alternative<bool>(value)) {
      return Mismatch("a bool as attribute primitive", ir::ToText(value));
    }
    const bool text =
        name == "signature" || name == "numerics" || name == "accumulate" || name == "ends";
    if (text && !std::holds_alternative<std::string>(value)) {
      return Mismatch("a string as attribute " + name, ir::ToText(value));
    }
    if (name == "output_names" && !ops::StringsAttr(attrs, name)) {
      return Mismatch("a list of strings as attribute output_names", ir::ToText(value));
    }
    if (name == "numerics" && !ops::ParseNumerics(std::get<std::string>(value))) {
      return Mismatch("strict, default or fast as attribute numerics", ir::ToText(value));
    }
    if (name == "accumulate" && !ParseDataType(std::get<std::string>(value))) {
      return Mismatch("an element type as attribute accumulate", ir::ToText(value));
    }
    if (name == "ends" && std::get<std::string>(value) != "free") {
      return Mismatch("free as attribute ends", ir::ToText(value));
    }
  }
  return absl::OkStatus();
}

class Inference {
 public:
  static constexpr size_t kMaxDepth = 200;  // of functions within functions: each takes stack

  // `known` may be null.
  Inference(const ir::Module& module, InferredNodes* known) : module_(module), known_(known) {}

  absl::StatusOr<ir::Module> Run() {
    ir::Module typed;
    for (const auto& [name, function] : module_.functions) {
      HONE_ASSIGN_OR_RETURN(typed.functions[name], Global(name));
    }
    return typed;
  }

 private:
  absl::StatusOr<Expr> Global(const std::string& name) {
    const auto found = done_.find(name);
    if (found != done_.end()) return found->second;
    const Expr& function = module_.functions.at(name);
    if (function->kind != ExprKind::kFunction) {
      return absl::InvalidArgumentError(fmt::format("@{} is not a function", name));
    }
    ++depth_;
    ++in_progress_[name];
    ir::NodeMap<Expr> typed;
    for (const Expr& node : Order(function)) {
      if (IsKnown(node)) {
        typed[node.get()] = node;
        continue;
      }
      absl::StatusOr<Expr> result = Visit(node, typed);
      if (!result.ok()) return InContext(result.status(), name, node, typed);
      if (known_ != nullptr && IsSettled(**result)) known_->Add(*result);
      typed[node.get()] = *std::move(result);
    }
    --in_progress_[name];
    --depth_;
    return done_[name] = typed.at(function.get());
  }

  bool IsKnown(const Expr& node) const { return known_ != nullptr && known_->Has(node); }

  // ir::PostOrder without what is below known nodes.
  std::vector<Expr> Order(const Expr& root) const {
    if (known_ == nullptr) return ir::PostOrder(root);
    std::vector<Expr> order;
    ir::NodeSet seen{root.get()};
    std::vector<std::pair<const Expr*, size_t>> stack{{&root, IsKnown(root) ? kDone : 0}};
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      const size_t args = (*node)->args.size();
      if (next >= args + ((*node)->callee ? 1 : 0)) {
        order.push_back(*node);
        stack.pop_back();
        continue;
      }
      const Expr& operand = next < args ? (*node)->args[next] : (*node)->callee;
      ++next;
      if (!seen.insert(operand.get()).second) continue;
      stack.emplace_back(&operand, IsKnown(operand) ? kDone : 0);
    }
    return order;
  }

  // Whether its type follows from nodes that stay as they are, in any module.
  bool IsSettled(const ir::ExprNode& node) const {
    if (node.kind == ExprKind::kGlobalVar) return false;
    return std::all_of(node.args.begin(), node.args.end(),
                       [&](const Expr& arg) { return known_->Has(arg); }) &&
           (!node.callee || known_->Has(node.callee));
  }

  // Only innermost errors get the expression: those of called functions have theirs already.
  static absl::Status InContext(const absl::Status& status, const std::string& name,
                                const Expr& node, const ir::NodeMap<Expr>& typed) {
    const std::string message(status.message());
    if (message.starts_with("in @")) return status;
    std::vector<Expr> args;
    for (const Expr& arg : node->args) args.push_back(typed.at(arg.get()));
    const Expr shown = ir::WithOperands(node, node->callee, args);
    return {status.code(), fmt::format("in @{}, {}: {}", name, Head(shown), message)};
  }

  absl::StatusOr<Expr> Visit(const Expr& node, const ir::NodeMap<Expr>& typed) {
    Expr rebuilt = ir::WithOperandsOf(node, typed);
    if (node->kind == ExprKind::kVar || node->kind == ExprKind::kConstant ||
        node->kind == ExprKind::kGlobalVar) {
      return rebuilt;
    }
    HONE_ASSIGN_OR_RETURN(Type type, TypeOf(*rebuilt));
    HONE_RETURN_IF_ERROR(budget_.Charge(type));
    if (rebuilt->type && *rebuilt->type == type) return rebuilt;
    return ir::WithType(rebuilt, std::move(type));
  }

  absl::StatusOr<Type> TypeOf(const ir::ExprNode& node) {
    switch (node.kind) {
      case ExprKind::kCall:
        return CallType(node);
      case ExprKind::kFunction:
        HONE_RETURN_IF_ERROR(CheckFunctionAttrs(node.attrs));
        return FunctionResult(node);
      case ExprKind::kTuple: {
        Type type{.is_tuple = true};
        HONE_ASSIGN_OR_RETURN(type.fields, ValueTypes(node.args));
        return type;
      }
      case ExprKind::kTupleGetItem:
        return FieldType(*node.args[0]->type, node.index);
      case ExprKind::kLet:
        return LetType(node);
      case ExprKind::kIf:
        return IfType(node);
      default:
        return absl::InternalError("a node without a type");
    }
  }

  static absl::StatusOr<Type> FieldType(const Type& tuple, int64_t index) {
    if (!tuple.is_tuple || index < 0 || index >= static_cast<int64_t>(tuple.fields.size())) {
      return Mismatch(fmt::format("a tuple with a field {}", index), tuple.ToString());
    }
    return tuple.fields[static_cast<size_t>(index)];
  }

  absl::StatusOr<Type> FunctionResult(const ir::ExprNode& function) {
    HONE_ASSIGN_OR_RETURN(Type type, ValueType(ir::Body(function)));
    if (function.type && *function.type != type) {
      return Mismatch("a result of the stated type " + function.type->ToString(), type.ToString());
    }
    return type;
  }

  absl::StatusOr<Type> LetType(const ir::ExprNode& let) {
    HONE_ASSIGN_OR_RETURN(const Type value, ValueType(let.args[1]));
    if (*let.args[0]->type != value) {
      return Mismatch("a value of the variable's type " + let.args[0]->type->ToString(),
                      value.ToString());
    }
    return ValueType(let.args[2]);
  }

  absl::StatusOr<Type> IfType(const ir::ExprNode& node) {
    const Type boolean{.tensor = {{}, DataType::kBool}};
    HONE_ASSIGN_OR_RETURN(const std::vector<Type> types, ValueTypes(node.args));
    if (types[0] != boolean) return Mismatch("a condition of type bool", types[0].ToString());
    if (types[1] != types[2]) {
      return Mismatch("branches of one type", types[1].ToString() + " and " + types[2].ToString());
    }
    return types[1];
  }

  // As a value: of the name of a function, that function's type.
  absl::StatusOr<Type> ValueType(const Expr& e) {
    if (e->kind != ExprKind::kGlobalVar) return ir::ValueType(*e);
    if (!module_.functions.contains(e->name)) {
      return absl::InvalidArgumentError(fmt::format("there is no function @{}", e->name));
    }
    HONE_ASSIGN_OR_RETURN(const Expr function, NamedFunction(e->name));
    return ir::ValueType(*function);
  }

  absl::StatusOr<std::vector<Type>> ValueTypes(const std::vector<Expr>& values) {
    std::vector<Type> types;
    for (const Expr& value : values) {
      HONE_ASSIGN_OR_RETURN(Type type, ValueType(value));
      types.push_back(std::move(type));
    }
    return types;
  }

  absl::StatusOr<Type> CallType(const ir::ExprNode& call) {
    HONE_ASSIGN_OR_RETURN(const std::vector<Type> args, ValueTypes(call.args));
    if (!call.callee) return ops::InferCallType(call.name, args, call.attrs);
    HONE_ASSIGN_OR_RETURN(const Type function, ValueType(call.callee));
    if (ops::IsRepeat(call)) {
      HONE_ASSIGN_OR_RETURN(const ops::Repeat repeat, ops::RepeatOf(call.attrs));
      return ops::RepeatType(repeat, function, args);
    }
    if (!function.is_function) return Mismatch("a function to call", function.ToString());
    const size_t params = function.fields.size() - 1;
    if (params != args.size()) {
      return Mismatch(fmt::format("{} arguments", params), std::to_string(args.size()));
    }
    for (size_t i = 0; i < params; ++i) {
      if (function.fields[i] == args[i]) continue;
      return Mismatch(fmt::format("argument {} of type {}", i, function.fields[i].ToString()),
                      args[i].ToString());
    }
    return function.fields.back();
  }

  // A function that calls itself, or that is too deep for the stack, must state its type; that it
  // holds is found when its own turn comes.
  absl::StatusOr<Expr> NamedFunction(const std::string& name) {
    if (in_progress_[name] == 0 && depth_ < kMaxDepth) return Global(name);
    const Expr& function = module_.functions.at(name);
    if (function->kind == ExprKind::kFunction && function->type) return function;
    if (in_progress_[name] == 0) {
      return absl::InvalidArgumentError(
          fmt::format("expected functions that use one another at most {} deep, or that state the "
                      "types of their results; found more",
                      kMaxDepth));
    }
    return absl::InvalidArgumentError(
        fmt::format("@{} calls itself and must state the type of its result", name));
  }

  static constexpr size_t kDone = std::numeric_limits<size_t>::max();

  const ir::Module& module_;
  InferredNodes* const known_;
  std::map<std::string, Expr> done_;
  std::map<std::string, int> in_progress_;
  size_t depth_ = 0;
  ops::TypeBudget budget_;
};

}  // namespace

absl::StatusOr<ir::Module> InferTypes(const ir::Module& module) {
  return Inference(module, nullptr).Run();
}

absl::StatusOr<ir::Module> InferTypes(const ir::Module& module, InferredNodes& known) {
  return Inference(module, &known).Run();
}

}  // namespace hone::passes
