#include "compiler/passes/skeleton.h"

#include <unordered_map>
#include <vector>

#include "compiler/ir/printer.h"
#include "compiler/ops/lower.h"
#include "compiler/ops/repeat.h"
#include "compiler/passes/rewriting.h"
#include "fmt/format.h"
#include "support/digest.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

// One line a node, which names the nodes it reads by their numbers.
class Writer {
 public:
  explicit Writer(const ir::Module& module) : module_(module) {}

  std::string Write(const Expr& function) {
    for (const Expr& param : ir::Params(*function)) Add(param, "param " + param->type->ToString());
    for (const Expr& node : ir::PostOrderOutside(ir::Body(*function))) {
      if (node->kind == ExprKind::kGlobalVar) continue;
      if (node->kind != ExprKind::kFunction && !numbers_.contains(node.get())) Visit(node);
    }
    text_ += fmt::format("return {}\n", numbers_.at(ir::Body(*function).get()));
    return text_;
  }

 private:
  void Visit(const Expr& node) {
    std::string line;
    switch (node->kind) {
      case ExprKind::kConstant:
        line = "constant " + node->type->ToString();
        break;
      case ExprKind::kCall:
        line = ops::IsRepeat(*node) ? RepeatLine(*node)
               : node->callee       ? WorkloadOf(node)
                                    : node->name;
        break;
      case ExprKind::kTupleGetItem:
        line = fmt::format("field {}", node->index);
        break;
      default:
        line = "tuple";
    }
    for (const Expr& arg : node->args) line += fmt::format(" {}", numbers_.at(arg.get()));
    Add(node, line);
  }

  std::string RepeatLine(const ir::ExprNode& call) const {
    return fmt::format("repeat ({}) {}", ir::ToText(call.attrs),
                       SkeletonOf(module_.functions.at(call.callee->name)));
  }

  static std::string WorkloadOf(const Expr& call) {
    std::vector<bool> const_params;
    for (const Expr& arg : call->args) const_params.push_back(IsConstant(arg));
    return ops::WorkloadOf(call->callee, const_params).digest;
  }

  void Add(const Expr& node, const std::string& line) {
    numbers_.emplace(node.get(), numbers_.size());
    text_ += line + "\n";
  }

  const ir::Module& module_;
  std::unordered_map<const ir::ExprNode*, size_t> numbers_;
  std::string text_;
};

}  // namespace

std::string SkeletonOf(const Expr& function, const ir::Module& module) {
  return Sha256Hex(Writer(module).Write(function));
}

}  // namespace hone::passes
