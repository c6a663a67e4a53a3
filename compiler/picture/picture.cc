#include "compiler/picture/picture.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "compiler/ir/literal.h"
#include "compiler/ir/printer.h"

namespace hone::picture {
namespace {

using ir::Expr;
using ir::ExprKind;

std::string TypeText(const Expr& e) { return e->type ? ir::ValueType(*e).ToString() : ""; }

std::string ConstantText(const Expr& constant) {
  if (constant->type->tensor.shape.empty()) return ir::LiteralText(*constant);
  return "const " + constant->type->tensor.ToString();
}

class Painter {
 public:
  Painter(const ir::Module& module, const KernelNotes& notes) : module_(module), notes_(notes) {}

  Picture Paint() {
    // Boxes first, so that calls can point at functions that come later.
    for (const auto& [name, function] : module_.functions) {
      Box& box = AddBox(picture_.root, Box::Kind::kFunction, "@" + name);
      functions_[name] = &box;
    }
    for (const auto& [name, function] : module_.functions) {
      PaintFunction(function, *functions_.at(name));
    }
    return std::move(picture_);
  }

 private:
  // The node that gives a value, and which field of it.
  struct Source {
    int node = -1;
    std::string field;
  };
  using Sources = std::unordered_map<const ir::ExprNode*, Source>;

  static Box& AddBox(Box& parent, Box::Kind kind, std::string title) {
    parent.order.emplace_back(-1, static_cast<int>(parent.boxes.size()));
    parent.boxes.push_back(std::make_unique<Box>());
    Box& box = *parent.boxes.back();
    box.kind = kind;
    box.title = std::move(title);
    return box;
  }

  int AddNode(Box& box, NodeKind kind, std::string title, std::vector<std::string> lines = {}) {
    const int id = static_cast<int>(picture_.nodes.size());
    std::erase(lines, "");
    picture_.nodes.push_back({kind, std::move(title), std::move(lines)});
    box.nodes.push_back(id);
    box.order.emplace_back(id, -1);
    return id;
  }

  void Connect(const Source& from, int to, const std::string& label = "") {
    const std::string text = from.field + (from.field.empty() || label.empty() ? "" : " ") + label;
    picture_.edges.push_back({from.node, to, text, nullptr});
  }

  void PaintFunction(const Expr& function, Box& box) {
    Sources sources;
    for (const Expr& param : ir::Params(*function)) {
      sources[param.get()] = {
          AddNode(box, NodeKind::kParameter, "%" + param->name, {TypeText(param)}), ""};
    }
    const Source result = PaintBody(ir::Body(*function), box, sources);
    const int out = AddNode(box, NodeKind::kResult, "result", {TypeText(ir::Body(*function))});
    Connect(result, out);
  }

  Source PaintBody(const Expr& body, Box& box, Sources& sources) {
    const std::vector<Expr> order = ir::PostOrderOutside(body);
    for (const Expr& node : order) {
      if (node->kind == ExprKind::kLet) bound_[node->args[0].get()] = node->args[1];
    }
    for (const Expr& node : order) {
      if (!sources.contains(node.get()) && !IsInConsumer(node)) {
        sources[node.get()] = PaintNode(node, box, sources);
      }
    }
    return SourceOf(body, box, sources);
  }

  // Constants, functions and the variables of lets are drawn where they are read first.
  static bool IsInConsumer(const Expr& node) {
    return node->kind == ExprKind::kConstant || node->kind == ExprKind::kVar ||
           node->kind == ExprKind::kFunction || node->kind == ExprKind::kGlobalVar;
  }

  Source SourceOf(const Expr& value, Box& box, Sources& sources) {
    const auto found = sources.find(value.get());
    if (found != sources.end()) return found->second;
    Source source;
    if (value->kind == ExprKind::kConstant) {
      source.node = AddNode(box, NodeKind::kConstant, ConstantText(value));
    } else if (value->kind == ExprKind::kVar) {
      source.node = AddNode(box, NodeKind::kVariable, "%" + value->name, {TypeText(value)});
      Connect(SourceOf(bound_.at(value.get()), box, sources), source.node, "let");
    } else if (value->kind == ExprKind::kGlobalVar) {
      source.node = AddNode(box, NodeKind::kCall, "@" + value->name);
    } else {
      source.node = AddNode(box, NodeKind::kCall, "fn", {TypeText(value)});
      PaintFunction(value, AddBox(box, Box::Kind::kFunction, "fn"));
    }
    return sources[value.get()] = source;
  }

  Source PaintNode(const Expr& node, Box& box, Sources& sources) {
    switch (node->kind) {
      case ExprKind::kCall:
        return node->callee ? PaintCall(node, box, sources) : PaintOperator(node, box, sources);
      case ExprKind::kTupleGetItem: {
        const Source tuple = SourceOf(node->args[0], box, sources);
        return {tuple.node, fmt::format("{}.{}", tuple.field, node->index)};
      }
      case ExprKind::kTuple: {
        PaintOperands(node, box, sources);
        const int id = AddNode(box, NodeKind::kTuple, "tuple");
        for (const Expr& field : node->args) Connect(SourceOf(field, box, sources), id);
        return {id, ""};
      }
      case ExprKind::kIf: {
        PaintOperands(node, box, sources);
        const int id = AddNode(box, NodeKind::kIf, "if", {TypeText(node)});
        Connect(SourceOf(node->args[0], box, sources), id, "condition");
        Connect(SourceOf(node->args[1], box, sources), id, "then");
        Connect(SourceOf(node->args[2], box, sources), id, "else");
        return {id, ""};
      }
      default:  // a let
        return SourceOf(node->args[2], box, sources);
    }
  }

  // Those that are drawn where they are read stand before their reader.
  void PaintOperands(const Expr& node, Box& box, Sources& sources) {
    const bool in_reader = node->kind == ExprKind::kCall;  // constants are lines of its label
    for (const Expr& arg : node->args) {
      if (arg->kind != ExprKind::kConstant || !in_reader) SourceOf(arg, box, sources);
    }
  }

  Source PaintOperator(const Expr& call, Box& box, Sources& sources) {
    PaintOperands(call, box, sources);
    std::vector<std::string> lines{ir::ToText(call->attrs)};
    for (const Expr& arg : call->args) {
      if (arg->kind == ExprKind::kConstant) lines.push_back(ConstantText(arg));
    }
    lines.push_back(TypeText(call));
    const int id = AddNode(box, NodeKind::kOperator, call->name, std::move(lines));
    ConnectArgs(call, id, box, sources);
    return {id, ""};
  }

  void ConnectArgs(const Expr& call, int id, Box& box, Sources& sources) {
    for (const Expr& arg : call->args) {
      if (arg->kind != ExprKind::kConstant) Connect(SourceOf(arg, box, sources), id);
    }
  }

  Source PaintCall(const Expr& call, Box& box, Sources& sources) {
    const Expr& callee = call->callee;
    if (callee->kind == ExprKind::kFunction) return PaintLiteralCall(call, box, sources);
    const bool global = callee->kind == ExprKind::kGlobalVar;
    PaintOperands(call, box, sources);
    std::vector<std::string> lines{ir::ToText(call->attrs)};
    for (const Expr& arg : call->args) {
      if (arg->kind == ExprKind::kConstant) lines.push_back(ConstantText(arg));
    }
    lines.push_back(TypeText(call));
    const int id =
        AddNode(box, NodeKind::kCall, global ? "@" + callee->name : "call", std::move(lines));
    ConnectArgs(call, id, box, sources);
    if (!global) {
      Connect(SourceOf(callee, box, sources), id, "function");
    } else if (functions_.contains(callee->name)) {
      picture_.edges.push_back({id, -1, "", functions_.at(callee->name)});
    }
    return {id, ""};
  }

  // The body stands where it is called, its parameters are the arguments.
  Source PaintLiteralCall(const Expr& call, Box& box, Sources& sources) {
    const Expr& function = call->callee;
    Sources inside;
    const std::vector<Expr> params = ir::Params(*function);
    std::unordered_map<const ir::ExprNode*, Expr> constants;
    for (size_t i = 0; i < params.size(); ++i) {
      if (call->args[i]->kind == ExprKind::kConstant) {
        constants[params[i].get()] = call->args[i];
      } else {
        inside[params[i].get()] = SourceOf(call->args[i], box, sources);
      }
    }
    const bool is_kernel = ir::GetAttr<bool>(function->attrs, "primitive", false);
    Box& kernel = AddBox(box, is_kernel ? Box::Kind::kKernel : Box::Kind::kFunction,
                         is_kernel ? KernelTitle(function) : "fn");
    if (is_kernel && notes_) {
      if (const std::optional<KernelNote> note = notes_(call)) {
        kernel.tier = note->tier;
        kernel.share = note->share;
      }
    }
    const Expr body = ir::Rewrite(ir::Body(*function), [&](const Expr& node) -> Expr {
      const auto it = constants.find(node.get());
      return it == constants.end() ? node : it->second;
    });
    return PaintBody(body, kernel, inside);
  }

  static std::string KernelTitle(const Expr& function) {
    const std::string signature = ir::GetAttr<std::string>(function->attrs, "signature", "");
    return signature.empty() ? "kernel" : "kernel " + signature;
  }

  const ir::Module& module_;
  const KernelNotes& notes_;
  Picture picture_;
  std::map<std::string, Box*> functions_;
  std::unordered_map<const ir::ExprNode*, Expr> bound_;  // by lets: variables to values
};

}  // namespace

Picture MakePicture(const ir::Module& module, const KernelNotes& notes) {
  return Painter(module, notes).Paint();
}

}  // namespace hone::picture
