#include "compiler/passes/infer_type.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <unordered_map>

#include "compiler/ir/printer.h"
#include "compiler/ops/call_type.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Type;

// "nn.conv2d(Tensor[(1, 3, 8, 8), float32], ..., strides=[2, 2])": the expression, for messages.
std::string Head(const Expr& node) {
  std::string list;
  for (const Expr& arg : node->args) {
    list += (list.empty() ? "" : ", ") + (arg->type ? arg->type->ToString() : "?");
  }
  switch (node->kind) {
    case ExprKind::kCall: {
      std::string name = node->name;
      if (node->callee)
        name = node->callee->kind == ExprKind::kGlobalVar ? "@" + node->callee->name : "fn";
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
    const bool text = name == "signature" || name == "numerics" || name == "accumulate";
    if (text && !std::holds_alternative<std::string>(value)) {
      return Mismatch("a string as attribute " + name, ir::ToText(value));
    }
  }
  return absl::OkStatus();
}

class Inference {
 public:
  explicit Inference(const ir::Module& module) : module_(module) {}

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
    ++in_progress_[name];
    std::unordered_map<const ir::ExprNode*, Expr> typed;
    for (const Expr& node : ir::PostOrder(function)) {
      absl::StatusOr<Expr> result = Visit(node, typed);
      if (!result.ok()) return InContext(result.status(), name, node, typed);
      typed[node.get()] = *std::move(result);
    }
    --in_progress_[name];
    return done_[name] = typed.at(function.get());
  }

  // Only innermost errors get the expression: those of called functions have theirs already.
  static absl::Status InContext(const absl::Status& status, const std::string& name,
                                const Expr& node,
                                const std::unordered_map<const ir::ExprNode*, Expr>& typed) {
    const std::string message(status.message());
    if (message.starts_with("in @")) return status;
    std::vector<Expr> args;
    for (const Expr& arg : node->args) args.push_back(typed.at(arg.get()));
    const Expr shown = ir::WithOperands(node, node->callee, args);
    return {status.code(), fmt::format("in @{}, {}: {}", name, Head(shown), message)};
  }

  absl::StatusOr<Expr> Visit(const Expr& node,
                             const std::unordered_map<const ir::ExprNode*, Expr>& typed) {
    std::vector<Expr> args;
    args.reserve(node->args.size());
    for (const Expr& arg : node->args) args.push_back(typed.at(arg.get()));
    const Expr callee = node->callee ? typed.at(node->callee.get()) : nullptr;
    const Expr rebuilt = ir::WithOperands(node, callee, std::move(args));
    if (node->kind == ExprKind::kVar || node->kind == ExprKind::kConstant ||
        node->kind == ExprKind::kGlobalVar) {
      return rebuilt;
    }
    HONE_ASSIGN_OR_RETURN(Type type, TypeOf(*rebuilt));
    if (rebuilt->type && *rebuilt->type == type) return rebuilt;
    return ir::WithType(rebuilt, std::move(type));
  }

  absl::StatusOr<Type> TypeOf(const ir::ExprNode& node) {
    switch (node.kind) {
      case ExprKind::kCall:
        return CallType(node);
      case ExprKind::kFunction:
        HONE_RETURN_IF_ERROR(CheckFunctionAttrs(node.attrs));
        if (node.type && ir::Body(node)->type && *node.type != *ir::Body(node)->type) {
          return Mismatch("a result of the stated type " + node.type->ToString(),
                          ir::Body(node)->type->ToString());
        }
        return *ir::Body(node)->type;
      case ExprKind::kTuple: {
        Type type{.is_tuple = true};
        for (const Expr& field : node.args) type.fields.push_back(*field->type);
        return type;
      }
      case ExprKind::kTupleGetItem:
        return FieldType(*node.args[0]->type, node.index);
      case ExprKind::kLet:
        if (*node.args[0]->type != *node.args[1]->type) {
          return Mismatch("a value of the variable's type " + node.args[0]->type->ToString(),
                          node.args[1]->type->ToString());
        }
        return *node.args[2]->type;
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

  static absl::StatusOr<Type> IfType(const ir::ExprNode& node) {
    const Type boolean{.tensor = {{}, DataType::kBool}};
    if (*node.args[0]->type != boolean) {
      return Mismatch("a condition of type bool", node.args[0]->type->ToString());
    }
    if (*node.args[1]->type != *node.args[2]->type) {
      return Mismatch("branches of one type",
                      node.args[1]->type->ToString() + " and " + node.args[2]->type->ToString());
    }
    return *node.args[1]->type;
  }

  absl::StatusOr<Type> CallType(const ir::ExprNode& call) {
    std::vector<Type> args;
    for (const Expr& arg : call.args) {
      if (!arg->type) return Mismatch("values as arguments", "the name of a function");
      args.push_back(*arg->type);
    }
    if (!call.callee) return ops::InferCallType(call.name, args, call.attrs);
    const bool global = call.callee->kind == ExprKind::kGlobalVar;
    Expr function = call.callee;
    if (global) {
      if (!module_.functions.contains(call.callee->name)) {
        return absl::InvalidArgumentError(
            fmt::format("there is no function @{}", call.callee->name));
      }
      HONE_ASSIGN_OR_RETURN(function, CalledGlobal(call.callee->name));
    }
    const std::vector<Expr> params = ir::Params(*function);
    if (params.size() != args.size()) {
      return Mismatch(fmt::format("{} arguments", params.size()), std::to_string(args.size()));
    }
    for (size_t i = 0; i < params.size(); ++i) {
      if (*params[i]->type == args[i]) continue;
      return Mismatch(fmt::format("argument {} of type {}", i, params[i]->type->ToString()),
                      args[i].ToString());
    }
    return *function->type;
  }

  // A function that calls itself must state its type.
  absl::StatusOr<Expr> CalledGlobal(const std::string& name) {
    if (in_progress_[name] == 0) return Global(name);
    const Expr& function = module_.functions.at(name);
    if (function->type) return function;
    return absl::InvalidArgumentError(
        fmt::format("@{} calls itself and must state the type of its result", name));
  }

  const ir::Module& module_;
  std::map<std::string, Expr> done_;
  std::map<std::string, int> in_progress_;
};

}  // namespace

absl::StatusOr<ir::Module> InferTypes(const ir::Module& module) { return Inference(module).Run(); }

}  // namespace hone::passes
