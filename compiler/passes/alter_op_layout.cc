#include "compiler/passes/alter_op_layout.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "compiler/ops/repeat.h"
#include "compiler/passes/layout_choice.h"
#include "compiler/passes/layout_copy.h"
#include "compiler/passes/layout_graph.h"
#include "compiler/passes/rewriting.h"
#include "compiler/passes/skeleton.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

constexpr double kLeastMeasuredGain = 0.01;  // for which what is measured is left
constexpr double kGuessNs = 1e12;            // more than any model takes

// The prices, with kernels that are not measured dearer than anything that is.
LayoutProblem WithoutUntunedKernels(const LayoutGraph& graph) {
  LayoutProblem problem = graph.prices();
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    std::vector<LayoutOption>& options = problem.kernels[k].options;
    for (size_t i = 0; i < options.size(); ++i) {
      options[i].ns += kGuessNs * graph.guesses().kernels[k].options[i].ns;
    }
  }
  return problem;
}

// The same, with copies that are not measured as dear.
LayoutProblem WithoutPredictions(const LayoutGraph& graph) {
  LayoutProblem problem = WithoutUntunedKernels(graph);
  for (size_t v = 0; v < problem.values.size(); ++v) {
    std::vector<double>& copies = problem.values[v].copies;
    for (size_t i = 0; i < copies.size(); ++i) {
      copies[i] += kGuessNs * graph.guesses().values[v].copies[i];
    }
  }
  return problem;
}

// The cheapest choice, or the cheapest of those with the fewest predictions, or with the fewest
// kernels that are not measured (decision 0007).
LayoutChoice Choose(const LayoutGraph& graph, const PassContext& context) {
  const LayoutProblem& prices = graph.prices();
  LayoutChoice cheapest = ChooseLayouts(prices).choice;
  const auto is_measured = [&](const LayoutChoice& choice) {
    return TotalNs(graph.guesses(), choice) == 0;
  };
  if (!graph.has_measurements() || is_measured(cheapest)) return cheapest;
  LayoutChoice measured = ChooseLayouts(WithoutPredictions(graph)).choice;
  if (context.layout_aim == LayoutAim::kSettled) {
    // Copies count only where all can be measured: else, where little is tuned, sparing two of them
    // would keep a whole network out of blocks.
    return is_measured(measured) ? measured : ChooseLayouts(WithoutUntunedKernels(graph)).choice;
  }
  const double gain = 1 - TotalNs(prices, cheapest) / TotalNs(prices, measured);
  return gain <= kLeastMeasuredGain ? measured : cheapest;
}

bool HasFreeEnds(const Expr& function) {
  return ir::GetAttr<std::string>(function->attrs, "ends", "") == "free";
}

// The graph with the chosen signatures, and copies where layouts differ.
class Rewriter {
 public:
  explicit Rewriter(LayoutGraph::Signatures signatures) : signatures_(std::move(signatures)) {}

  Expr Run(const Expr& body) {
    for (const Expr& node : ir::PostOrderOutside(body)) {
      const auto signature = signatures_.find(node.get());
      done_[node.get()] =
          signature != signatures_.end() ? VisitKernel(node, signature->second) : VisitOther(node);
    }
    return body->type->is_tuple ? done_.at(body.get()) : RowMajor(body);
  }

 private:
  // The signature of a kernel decides what its operands become.
  Expr VisitKernel(const Expr& call, const ir::LayoutSignature& signature) {
    std::vector<Expr> args;
    size_t operand = 0;
    for (const Expr& arg : call->args) {
      args.push_back(IsConstant(arg) ? done_.at(arg.get())
                                     : InLayout(arg, signature.operands[operand++]));
    }
    return ir::WithOperands(call, WithSignature(call->callee, signature), std::move(args));
  }

  Expr VisitOther(const Expr& node) {
    if (node->kind == ExprKind::kFunction) return node;
    std::vector<Expr> args;
    for (const Expr& arg : node->args) {
      const bool is_tensor = arg->type != nullptr && !arg->type->is_tuple;
      args.push_back(is_tensor ? RowMajor(arg) : done_.at(arg.get()));
    }
    return ir::WithOperands(node, node->callee, std::move(args));
  }

  Expr RowMajor(const Expr& value) {
    return InLayout(value, Layout::RowMajor(static_cast<int>(value->type->tensor.shape.size())));
  }

  // What stands for `value` in the result, in `layout`.
  Expr InLayout(const Expr& value, const Layout& layout) {
    const Expr& done = done_.at(value.get());
    const auto signature = signatures_.find(value.get());
    const Layout from = signature != signatures_.end()
                            ? signature->second.results[0]
                            : Layout::RowMajor(static_cast<int>(value->type->tensor.shape.size()));
    if (from == layout) return done;
    Expr& copy = copies_[{value.get(), layout.ToString()}];
    if (!copy) {
      copy = ir::WithType(ir::CallFunction(CopyKernel(*value->type, from, layout), {done}),
                          *value->type);
    }
    return copy;
  }

  const LayoutGraph::Signatures signatures_;
  std::unordered_map<const ir::ExprNode*, Expr> done_;
  std::map<std::pair<const ir::ExprNode*, std::string>, Expr> copies_;
};

// A function and the layouts that its kernels can have.
struct Layouts {
  std::string name;
  Expr function;
  LayoutGraph graph;
};

// The names of the module's functions: main, then what it repeats in the order of the calls, which
// is the order that skeletons have; then all others.
std::vector<std::string> NamesInOrder(const ir::Module& module) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (const auto main = module.functions.find("main"); main != module.functions.end()) {
    add("main");
    for (const Expr& node : ir::PostOrderOutside(ir::Body(*main->second))) {
      if (ops::IsRepeat(*node)) add(node->callee->name);
    }
  }
  for (const auto& [name, function] : module.functions) add(name);
  return names;
}

// In the order in which a final of the model has their kernels, whatever the functions are called.
std::vector<Layouts> LayoutsOf(const ir::Module& module, const PassContext& context) {
  std::vector<Layouts> all;
  for (const std::string& name : NamesInOrder(module)) {
    const Expr& function = module.functions.at(name);
    all.push_back({name, function, LayoutGraph::Outline(ir::Body(*function), context)});
  }
  return all;
}

// Tells who has the measurements what of them will be asked for.
absl::Status Announce(const std::string& skeleton, const std::vector<Layouts>& all,
                      const PassContext& context) {
  if (!context.expect) return absl::OkStatus();
  std::vector<KernelLayouts> kernels;
  for (const Layouts& layouts : all) {
    for (KernelLayouts& kernel : layouts.graph.Kernels()) kernels.push_back(std::move(kernel));
  }
  return context.expect(context.kept_layouts ? skeleton : "", kernels);
}

// One for each function; nullopt where `kept` is of another model.
std::optional<std::vector<LayoutChoice>> ChoicesOf(const std::vector<Layouts>& all,
                                                   const std::vector<std::string>& kept) {
  std::vector<LayoutChoice> choices;
  size_t next = 0;
  for (const Layouts& layouts : all) {
    const size_t kernels = layouts.graph.prices().kernels.size();
    if (kernels > kept.size() - next) return std::nullopt;
    const auto begin = kept.begin() + static_cast<ptrdiff_t>(next);
    const std::optional<LayoutChoice> choice =
        layouts.graph.ChoiceOf({begin, begin + static_cast<ptrdiff_t>(kernels)});
    if (!choice) return std::nullopt;
    choices.push_back(*choice);
    next += kernels;
  }
  if (next != kept.size()) return std::nullopt;
  return choices;
}

}  // namespace

absl::StatusOr<ir::Module> AlterOpLayout(const ir::Module& module, const PassContext& context) {
  const auto main = module.functions.find("main");
  const bool is_known =
      main != module.functions.end() && (context.kept_layouts || context.on_layouts);
  const std::string skeleton = is_known ? SkeletonOf(main->second, module) : "";
  std::vector<Layouts> all = LayoutsOf(module, context);
  HONE_RETURN_IF_ERROR(Announce(skeleton, all, context));
  // Asked for before any kernel is: what a final kept of kernels follows from the model.
  std::optional<std::vector<std::string>> kept;
  if (is_known && context.kept_layouts) {
    HONE_ASSIGN_OR_RETURN(kept, context.kept_layouts(skeleton));
  }
  for (Layouts& layouts : all) {
    HONE_RETURN_IF_ERROR(layouts.graph.Price(context, HasFreeEnds(layouts.function)));
  }
  std::optional<std::vector<LayoutChoice>> choices = kept ? ChoicesOf(all, *kept) : std::nullopt;
  if (!choices) {
    choices.emplace();
    for (const Layouts& layouts : all) choices->push_back(Choose(layouts.graph, context));
  }
  std::vector<std::string> texts;
  ir::Module altered;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [name, function, graph] = all[i];
    for (std::string& text : graph.TextsOf((*choices)[i])) texts.push_back(std::move(text));
    std::vector<Expr> args = ir::Params(*function);
    args.push_back(Rewriter(graph.SignaturesOf((*choices)[i])).Run(ir::Body(*function)));
    altered.functions[name] = ir::WithOperands(function, nullptr, std::move(args));
  }
  if (is_known && context.on_layouts) context.on_layouts(skeleton, std::move(texts));
  return altered;
}

}  // namespace hone::passes
