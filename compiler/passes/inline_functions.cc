#include "compiler/passes/inline_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "compiler/ops/repeat.h"
#include "compiler/passes/numerics.h"
#include "compiler/passes/rewriting.h"
#include "support/status.h"

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

bool TakesFunctions(const ir::ExprNode& function) {
  const std::vector<Expr> params = ir::Params(function);
  return std::any_of(params.begin(), params.end(),
                     [](const Expr& param) { return param->type->HasFunctions(); });
}

// Evaluates calls of functions as far as they can be known: what is called is a function literal
// once its operands are flat, for all values that are functions come from literals and names.
class Inliner {
 public:
  explicit Inliner(const ir::Module& module) : module_(module) {}

  absl::StatusOr<Expr> Inline(const std::string& name) {
    const auto done = done_.find(name);
    if (done != done_.end()) return done->second;
    const Expr& function = module_.functions.at(name);
    const ops::Numerics around = numerics_;
    numerics_ = NumericsOf(function).value_or(ops::Numerics::kDefault);
    active_.insert(name);
    absl::StatusOr<Expr> body = Flatten(ir::Body(*function));
    active_.erase(name);
    const ops::Numerics numerics = std::exchange(numerics_, around);
    HONE_RETURN_IF_ERROR(body.status());
    std::vector<Expr> args = ir::Params(*function);
    args.push_back(*std::move(body));
    return done_[name] =
               WithNumerics(ir::WithOperands(function, nullptr, std::move(args)), numerics);
  }

 private:
  // Functions that call others twice, over and over, would fill the memory.
  static constexpr size_t kMaxCopied = 200'000;
  static constexpr int kMaxDepth = 200;  // of calls within calls: each takes stack

  // Operands first: when a call is reached, its parts are flat. Function literals are not entered:
  // they are flattened where they are called, with what they are called with.
  absl::StatusOr<Expr> Flatten(const Expr& body) {
    const Expr root = InlineLets(body);
    if (root->kind == ExprKind::kFunction) return root;
    if (depth_ == kMaxDepth) {
      return absl::InvalidArgumentError(fmt::format(
          "expected calls of functions within functions at most {} deep, found more", kMaxDepth));
    }
    ++depth_;
    absl::Status error;
    Expr flat = ir::RewriteOutside(root, [&](const Expr& node) -> Expr {
      if (!error.ok()) return node;
      if (node->kind == ExprKind::kTupleGetItem && node->args[0]->kind == ExprKind::kTuple) {
        return node->args[0]->args[static_cast<size_t>(node->index)];
      }
      if (node->kind != ExprKind::kCall || !node->callee) return node;
      if (ops::IsRepeat(*node)) {
        error = CheckRepeat(*node);
        return node;
      }
      absl::StatusOr<Expr> inlined = Apply(node->callee, node->args);
      if (!inlined.ok()) error = inlined.status();
      return inlined.ok() ? *std::move(inlined) : node;
    });
    --depth_;
    HONE_RETURN_IF_ERROR(error);
    return flat;
  }

  // A repeat stays: its function is a part of the module, as flat as main.
  absl::Status CheckRepeat(const ir::ExprNode& call) {
    if (call.callee->kind != ExprKind::kGlobalVar) {
      return absl::InvalidArgumentError(
          "expected a repeat of a named function, found one of another value");
    }
    if (active_.contains(call.callee->name)) return CallsItself(call.callee->name);
    HONE_ASSIGN_OR_RETURN(const Expr function, Inline(call.callee->name));
    const std::vector<Expr> nodes = ir::PostOrderOutside(ir::Body(*function));
    if (std::none_of(nodes.begin(), nodes.end(),
                     [](const Expr& node) { return ops::IsRepeat(*node); })) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        fmt::format("expected repeats that do not stand in one another, found one in @{}, which is "
                    "repeated: write out the inner one",
                    call.callee->name));
  }

  static absl::Status CallsItself(const std::string& name) {
    return absl::InvalidArgumentError(fmt::format(
        "expected functions that do not call themselves, found that @{} does: models are compiled "
        "to a fixed sequence of kernels",
        name));
  }

  // `function` and `args` are flat.
  absl::StatusOr<Expr> Apply(const Expr& function, const std::vector<Expr>& args) {
    switch (function->kind) {
      case ExprKind::kFunction:
        return ApplyLiteral(function, args, /*is_flat=*/false);
      case ExprKind::kGlobalVar:
        return ApplyNamed(function->name, args);
      case ExprKind::kIf: {
        HONE_ASSIGN_OR_RETURN(Expr then, Apply(function->args[1], args));
        HONE_ASSIGN_OR_RETURN(Expr otherwise, Apply(function->args[2], args));
        return ir::If(function->args[0], std::move(then), std::move(otherwise));
      }
      default:
        return absl::InvalidArgumentError(fmt::format(
            "expected to call functions that are known when the model is compiled, found {}",
            function->kind == ExprKind::kVar ? "the parameter %" + function->name
                                             : "a value that is computed"));
    }
  }

  absl::StatusOr<Expr> ApplyNamed(const std::string& name, const std::vector<Expr>& args) {
    if (active_.contains(name)) return CallsItself(name);
    const Expr& function = module_.functions.at(name);
    if (!TakesFunctions(*function)) {
      HONE_ASSIGN_OR_RETURN(const Expr flat, Inline(name));
      return ApplyLiteral(flat, args, /*is_flat=*/true);
    }
    active_.insert(name);
    absl::StatusOr<Expr> result = ApplyLiteral(function, args, /*is_flat=*/false);
    active_.erase(name);
    return result;
  }

  absl::StatusOr<Expr> ApplyLiteral(const Expr& function, const std::vector<Expr>& args,
                                    bool is_flat) {
    const Expr& body = ir::Body(*function);
    numerics_ = Stricter(numerics_, NumericsOf(function));
    copied_ += ir::PostOrder(body).size();
    if (copied_ > kMaxCopied) {
      return absl::InvalidArgumentError(fmt::format(
          "expected a model of at most {} nodes once its functions are inlined, found more",
          kMaxCopied));
    }
    Bindings bindings;
    const std::vector<Expr> params = ir::Params(*function);
    for (size_t i = 0; i < params.size(); ++i) bindings[params[i].get()] = args[i];
    Expr result = Substitute(body, bindings);
    return is_flat ? result : Flatten(result);
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
  ops::Numerics numerics_ = ops::Numerics::kDefault;  // of the function that is made flat
  size_t copied_ = 0;
  int depth_ = 0;
};

// Every repeat that main makes gets a function of its own, with main's numerics or stricter: what
// becomes of it does not depend on what calls it besides.
ir::Module WithOwnBodies(const ir::Module& module) {
  ir::Module result = module;
  const auto found = module.functions.find("main");
  if (found == module.functions.end()) return result;
  const ops::Numerics whole = NumericsOf(found->second).value_or(ops::Numerics::kDefault);
  std::set<std::string> taken;
  result.functions["main"] = ir::RewriteOutside(found->second, [&](const Expr& node) -> Expr {
    if (!ops::IsRepeat(*node)) return node;
    const std::string& name = node->callee->name;
    const Expr& function = module.functions.at(name);
    const Expr own = WithNumerics(function, Stricter(whole, NumericsOf(function)));
    std::string unique = name;
    for (int i = 1; taken.contains(unique) || (i > 1 && module.functions.contains(unique)); ++i) {
      unique = fmt::format("{}.{}", name, i);
    }
    taken.insert(unique);
    result.functions[unique] = own;
    return unique == name ? node : ir::WithOperands(node, ir::GlobalVar(unique), node->args);
  });
  return result;
}

}  // namespace

absl::StatusOr<ir::Module> InlineFunctions(const ir::Module& module, const PassContext&) {
  ir::Module result;
  Inliner inliner(module);
  for (const auto& [name, function] : module.functions) {
    const bool is_main = name == "main";
    if (is_main && (TakesFunctions(*function) || function->type->HasFunctions())) {
      return absl::InvalidArgumentError(
          "expected @main to take and give tensors and tuples of them, found a function");
    }
    absl::StatusOr<Expr> inlined = inliner.Inline(name);
    if (is_main) HONE_RETURN_IF_ERROR(inlined.status());
    // Others may take functions, or call themselves: they count only with what main makes of them.
    result.functions[name] = inlined.ok() ? *std::move(inlined) : function;
  }
  return WithOwnBodies(result);
}

}  // namespace hone::passes
