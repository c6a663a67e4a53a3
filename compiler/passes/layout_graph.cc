#include "compiler/passes/layout_graph.h"

#include <algorithm>
#include <utility>

#include "compiler/passes/layout_copy.h"
#include "compiler/passes/layout_moves.h"
#include "compiler/passes/pieces.h"
#include "compiler/passes/rewriting.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::LayoutSignature;

// Nanoseconds for each step down the templates' order of preference: decides between equals.
constexpr double kPreferenceNs = 1e-3;

Layout RowMajorOf(const ir::TensorType& type) {
  return Layout::RowMajor(static_cast<int>(type.shape.size()));
}

bool IsKernelCall(const Expr& e) {
  return e->kind == ExprKind::kCall && e->callee && IsPrimitive(e->callee);
}

// Kernels of several results stay row-major: a value then has one layout.
std::vector<LayoutSignature> CandidatesOf(const Expr& call, const std::vector<bool>& const_params,
                                          const PassContext& context) {
  LayoutSignature row_major;
  for (size_t i = 0; i < call->args.size(); ++i) {
    if (!const_params[i]) row_major.operands.push_back(RowMajorOf(call->args[i]->type->tensor));
  }
  for (const ir::TensorType& type : TensorsOf(*call->type)) {
    row_major.results.push_back(RowMajorOf(type));
  }
  std::vector<LayoutSignature> candidates;
  if (context.signatures && !call->type->is_tuple) {
    candidates = context.signatures(call->callee, const_params, context.target);
  }
  std::erase_if(candidates, [&](const LayoutSignature& signature) {
    return signature.operands.size() != row_major.operands.size() ||
           signature.results.size() != row_major.results.size();
  });
  if (candidates.empty()) candidates.push_back(row_major);
  return candidates;
}

}  // namespace

LayoutGraph LayoutGraph::Outline(const Expr& body, const PassContext& context) {
  LayoutGraph graph;
  graph.body_ = body;
  const std::vector<Expr> order = ir::PostOrderOutside(body);
  for (const Expr& node : order) {
    if (IsKernelCall(node)) graph.AddKernel(node, context);
  }
  graph.NumberLayouts();
  graph.MarkFreeMoves(body);
  for (const Expr& node : order) {
    if (!IsKernelCall(node)) graph.AddOtherReaders(node);
  }
  if (!body->type->is_tuple) {
    graph.prices_.values[static_cast<size_t>(graph.ValueOf(body))].readers.push_back(0);
  }
  graph.AddCopies();
  return graph;
}

std::vector<KernelLayouts> LayoutGraph::Kernels() const {
  std::vector<KernelLayouts> kernels;
  for (const Kernel& kernel : kernels_) {
    kernels.push_back({kernel.call->callee, kernel.const_params, kernel.candidates});
  }
  for (const CopyOf& copy : copy_kernels_) kernels.push_back(copy.kernel);
  return kernels;
}

absl::Status LayoutGraph::Price(const PassContext& context, bool free_ends) {
  HONE_RETURN_IF_ERROR(PriceKernels(context));
  HONE_RETURN_IF_ERROR(PriceCopies(context));
  WritePrices();
  if (!free_ends) return absl::OkStatus();
  for (const Expr& node : ir::PostOrderOutside(body_)) {
    if (node->kind == ExprKind::kVar) FreeCopies(node);
  }
  FreeCopies(body_);
  return absl::OkStatus();
}

LayoutGraph::Signatures LayoutGraph::SignaturesOf(const LayoutChoice& choice) const {
  Signatures signatures;
  for (size_t k = 0; k < kernels_.size(); ++k) {
    signatures[kernels_[k].call.get()] = kernels_[k].candidates[static_cast<size_t>(choice[k])];
  }
  return signatures;
}

std::optional<LayoutChoice> LayoutGraph::ChoiceOf(
    const std::vector<std::string>& signatures) const {
  if (signatures.size() != kernels_.size()) return std::nullopt;
  LayoutChoice choice;
  for (size_t k = 0; k < kernels_.size(); ++k) {
    const std::vector<LayoutSignature>& candidates = kernels_[k].candidates;
    const auto at = std::find_if(candidates.begin(), candidates.end(), [&](const auto& candidate) {
      return candidate.ToString() == signatures[k];
    });
    if (at == candidates.end()) return std::nullopt;
    choice.push_back(static_cast<int>(at - candidates.begin()));
  }
  return choice;
}

std::vector<std::string> LayoutGraph::TextsOf(const LayoutChoice& choice) const {
  std::vector<std::string> texts;
  for (size_t k = 0; k < kernels_.size(); ++k) {
    texts.push_back(kernels_[k].candidates[static_cast<size_t>(choice[k])].ToString());
  }
  return texts;
}

int LayoutGraph::ValueOf(const Expr& expr) {
  const auto [it, is_new] = value_ids_.try_emplace(expr.get(), static_cast<int>(values_.size()));
  if (is_new) {
    values_.push_back({expr, {RowMajorOf(expr->type->tensor)}});
    prices_.values.emplace_back();
  }
  return it->second;
}

int LayoutGraph::LayoutOf(int value, const Layout& layout) {
  std::vector<Layout>& layouts = values_[static_cast<size_t>(value)].layouts;
  const auto it = std::find(layouts.begin(), layouts.end(), layout);
  if (it != layouts.end()) return static_cast<int>(it - layouts.begin());
  layouts.push_back(layout);
  return static_cast<int>(layouts.size()) - 1;
}

void LayoutGraph::AddKernel(const Expr& call, const PassContext& context) {
  Kernel kernel{.call = call, .const_params = {}, .operands = {}, .candidates = {}};
  LayoutKernel numbered;
  for (const Expr& arg : call->args) {
    kernel.const_params.push_back(IsConstant(arg));
    if (IsConstant(arg)) continue;
    kernel.operands.push_back(arg);
    numbered.operands.push_back(ValueOf(arg));
  }
  if (!call->type->is_tuple) numbered.result = ValueOf(call);
  kernel.candidates = CandidatesOf(call, kernel.const_params, context);
  for (const LayoutSignature& candidate : kernel.candidates) {
    LayoutOption option;
    for (size_t i = 0; i < numbered.operands.size(); ++i) {
      option.operands.push_back(LayoutOf(numbered.operands[i], candidate.operands[i]));
    }
    if (numbered.result >= 0) option.result = LayoutOf(numbered.result, candidate.results[0]);
    numbered.options.push_back(std::move(option));
  }
  kernels_.push_back(std::move(kernel));
  prices_.kernels.push_back(std::move(numbered));
}

void LayoutGraph::NumberLayouts() {
  for (size_t v = 0; v < values_.size(); ++v) {
    const size_t layouts = values_[v].layouts.size();
    prices_.values[v].layouts = static_cast<int>(layouts);
    prices_.values[v].copies.assign(layouts * layouts, 0);
  }
}

void LayoutGraph::MarkFreeMoves(const Expr& body) {
  std::vector<LayoutMove> moves;
  std::vector<size_t> at;
  for (size_t k = 0; k < kernels_.size(); ++k) {
    if (kernels_[k].operands.size() != kernels_[k].call->args.size()) continue;
    moves.push_back({kernels_[k].call, kernels_[k].candidates});
    at.push_back(k);
  }
  std::vector<std::vector<bool>> free = FreeMoves(moves, body);
  for (size_t i = 0; i < at.size(); ++i) kernels_[at[i]].is_free = std::move(free[i]);
}

// What is no kernel reads tensors as they are outside: row-major, layout 0.
void LayoutGraph::AddOtherReaders(const Expr& node) {
  if (node->kind == ExprKind::kFunction) return;
  for (const Expr& arg : node->args) {
    const auto known = value_ids_.find(arg.get());
    if (known != value_ids_.end()) {
      std::vector<int>& readers = prices_.values[static_cast<size_t>(known->second)].readers;
      if (readers.empty()) readers.push_back(0);
    }
  }
}

absl::Status LayoutGraph::PriceKernels(const PassContext& context) {
  for (const Kernel& kernel : kernels_) {
    const Expr& function = kernel.call->callee;
    std::vector<LayoutPrice> prices;
    for (const LayoutSignature& candidate : kernel.candidates) {
      prices.push_back({.predicted_ns = PredictKernelNs(function, kernel.const_params, candidate,
                                                        context.target),
                        .measured_ns = std::nullopt});
    }
    if (context.measured) {
      HONE_ASSIGN_OR_RETURN(
          const auto measured,
          context.measured(function, kernel.const_params, kernel.candidates, context.target));
      for (size_t i = 0; i < prices.size(); ++i) prices[i].measured_ns = measured[i];
    }
    // What does not run takes no time, whatever others measured of it.
    for (size_t i = 0; i < kernel.is_free.size(); ++i) {
      if (kernel.is_free[i]) prices[i].measured_ns = 0;
    }
    kernel_prices_.push_back(std::move(prices));
  }
  return absl::OkStatus();
}

void LayoutGraph::AddCopies() {
  std::map<std::string, size_t> known;
  for (size_t v = 0; v < values_.size(); ++v) {
    const ir::Type& type = *values_[v].expr->type;
    const std::vector<Layout>& layouts = values_[v].layouts;
    for (size_t from = 0; from < layouts.size(); ++from) {
      for (size_t to = 0; to < layouts.size(); ++to) {
        if (from == to) continue;
        const LayoutSignature signature{{layouts[from]}, {layouts[to]}};
        const auto [it, is_new] = known.try_emplace(
            fmt::format("{} {}", type.ToString(), signature.ToString()), copy_kernels_.size());
        copies_.push_back(
            {static_cast<int>(v), static_cast<int>(from), static_cast<int>(to), it->second});
        if (!is_new) continue;
        const Expr copy = CopyKernel(type, layouts[from], layouts[to]);
        copy_kernels_.push_back(
            {type.tensor, layouts[from], layouts[to], {copy, {false}, {signature}}});
      }
    }
  }
}

absl::Status LayoutGraph::PriceCopies(const PassContext& context) {
  for (const auto& [type, from, to, kernel] : copy_kernels_) {
    LayoutPrice price{.predicted_ns = PredictCopyNs(type, from, to, context.target),
                      .measured_ns = std::nullopt};
    if (context.measured) {
      HONE_ASSIGN_OR_RETURN(const auto measured,
                            context.measured(kernel.function, kernel.const_params,
                                             kernel.signatures, context.target));
      price.measured_ns = measured[0];
    }
    if (PiecesOf(*kernel.function, kernel.signatures[0])) price.measured_ns = 0;
    copy_prices_.push_back({price});
  }
  return absl::OkStatus();
}

void LayoutGraph::WritePrices() {
  const double ratio = Calibrate(kernel_prices_, 1);
  Calibrate(copy_prices_, ratio);
  guesses_ = prices_;
  for (size_t k = 0; k < kernels_.size(); ++k) {
    for (size_t i = 0; i < kernels_[k].candidates.size(); ++i) {
      const LayoutPrice& price = kernel_prices_[k][i];
      prices_.kernels[k].options[i].ns = price.ns + kPreferenceNs * static_cast<double>(i);
      guesses_.kernels[k].options[i].ns = price.measured_ns ? 0 : 1;
      has_measurements_ |= price.measured_ns.value_or(0) > 0;
    }
  }
  for (const Copy& copy : copies_) {
    const LayoutPrice& price = copy_prices_[copy.kernel][0];
    const auto v = static_cast<size_t>(copy.value);
    const auto at =
        static_cast<size_t>(copy.from) * static_cast<size_t>(prices_.values[v].layouts) +
        static_cast<size_t>(copy.to);
    prices_.values[v].copies[at] = price.ns;
    guesses_.values[v].copies[at] = price.measured_ns ? 0 : 1;
    has_measurements_ |= price.measured_ns.value_or(0) > 0;
  }
}

void LayoutGraph::FreeCopies(const Expr& value) {
  const auto known = value_ids_.find(value.get());
  if (known == value_ids_.end()) return;
  for (LayoutProblem* problem : {&prices_, &guesses_}) {
    std::vector<double>& copies = problem->values[static_cast<size_t>(known->second)].copies;
    std::fill(copies.begin(), copies.end(), 0.0);
  }
}

}  // namespace hone::passes
