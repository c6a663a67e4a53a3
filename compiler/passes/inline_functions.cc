#include "compiler/passes/inline_functions.h"

#include <map>
#include <set>
#include <unordered_map>

#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using Bindings = std::unordered_map<const ir::ExprNode*, Expr>;

// `e` with variables replaced.
Expr Substitute(const Expr& e, const Bindings& bindings) {
  return ir::Rewrite(e, [&](const Expr& node) -> Expr {
    const auto it = bindings.find(node.get());
    return it == bindings.end() ? node : it->second;
  });
}

class Inliner {
 public:
  explicit Inliner(const ir::Module& module) : module_(module) {}

  // Functions that call others twice, over and over, would fill the memory.
  bool TooLarge() const { return copied_ > kMaxCopied; }

  Expr Inline(const std::string& name) {
    const auto done = done_.find(name);
    if (done != done_.end()) return done->second;
    active_.insert(name);
    const Expr& function = module_.functions.at(name);
    const Expr body = Flatten(ir::Body(*function));
    active_.erase(name);
    std::vector<Expr> args = ir::Params(*function);
    args.push_back(body);
    const Expr result = ir::WithOperands(function, nullptr, std::move(args));
    // Within a cycle the result depends on where one entered it.
    if (active_.empty() || !met_cycle_) done_[name] = result;
    return result;
  }

 private:
  static constexpr size_t kMaxCopied = 200'000;

  // Operands first: when a call or let is reached, its parts are flat.
  Expr Flatten(const Expr& body) {
    const Expr calls_gone = ir::Rewrite(body, [&](const Expr& node) -> Expr {
      return node->kind == ExprKind::kCall && node->callee ? InlineCall(node) : node;
    });
    return InlineLets(calls_gone);
  }

  Expr InlineCall(const Expr& call) {
    if (TooLarge()) return call;
    Expr function = call->callee;
    if (function->kind == ExprKind::kGlobalVar) {
      const std::string& name = function->name;
      if (active_.contains(name)) {
        met_cycle_ = true;
        return call;
      }
      function = Inline(name);
    }
    Bindings bindings;
    const std::vector<Expr> params = ir::Params(*function);
    for (size_t i = 0; i < params.size(); ++i) bindings[params[i].get()] = call->args[i];
    copied_ += ir::PostOrder(ir::Body(*function)).size();
    return Substitute(ir::Body(*function), bindings);
  }

  // All variables at once; what one is bound to may use others, which are then replaced in turn.
  static Expr InlineLets(const Expr& body) {
    Bindings values;
    for (const Expr& node : ir::PostOrder(body)) {
      if (node->kind == ExprKind::kLet) values[node->args[0].get()] = node->args[1];
    }
    if (values.empty()) return body;
    Bindings done;
    return Resolve(body, values, done);
  }

  static Expr Resolve(const Expr& root, const Bindings& values, Bindings& done) {
    std::vector<Expr> stack{root};
    while (!stack.empty()) {
      const Expr node = stack.back();
      if (done.contains(node.get())) {
        stack.pop_back();
        continue;
      }
      std::vector<Expr> needs = node->args;
      if (node->callee) needs.push_back(node->callee);
      if (node->kind == ExprKind::kLet) needs = {node->args[2]};
      const auto value = values.find(node.get());
      if (value != values.end()) needs = {value->second};
      bool ready = true;
      for (const Expr& need : needs) {
        if (done.contains(need.get())) continue;
        stack.push_back(need);
        ready = false;
      }
      if (!ready) continue;
      stack.pop_back();
      done[node.get()] = Resolved(
          node, value != values.end() || node->kind == ExprKind::kLet ? needs : std::vector<Expr>(),
          done);
    }
    return done.at(root.get());
  }

  static Expr Resolved(const Expr& node, const std::vector<Expr>& replaced_by,
                       const Bindings& done) {
    if (!replaced_by.empty()) return done.at(replaced_by[0].get());
    std::vector<Expr> args;
    for (const Expr& arg : node->args) args.push_back(done.at(arg.get()));
    return ir::WithOperands(node, node->callee ? done.at(node->callee.get()) : nullptr,
                            std::move(args));
  }

  const ir::Module& module_;
  std::set<std::string> active_;
  std::map<std::string, Expr> done_;
  bool met_cycle_ = false;
  size_t copied_ = 0;
};

}  // namespace

absl::StatusOr<ir::Module> InlineFunctions(const ir::Module& module, const PassContext&) {
  ir::Module result;
  Inliner inliner(module);
  for (const auto& [name, function] : module.functions) {
    result.functions[name] = inliner.Inline(name);
  }
  if (inliner.TooLarge()) {
    return absl::InvalidArgumentError(
        "expected a model of at most 200,000 nodes once its functions are inlined, found more");
  }
  return result;
}

}  // namespace hone::passes
