// The layouts that main's kernels could have, and what they cost.
#ifndef HONE_COMPILER_PASSES_LAYOUT_GRAPH_H_
#define HONE_COMPILER_PASSES_LAYOUT_GRAPH_H_

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/passes/layout_price.h"
#include "compiler/passes/layout_problem.h"
#include "compiler/passes/pass.h"

namespace hone::passes {

// The kernels of a function's body after FuseOps, and the tensors between them. A tensor that is
// not the only result of a kernel is row-major.
class LayoutGraph {
 public:
  // Makes the graph without prices.
  static LayoutGraph Outline(const ir::Expr& body, const PassContext& context);

  // The kernels and signatures for which Price will call context.measured.
  std::vector<KernelLayouts> Kernels() const;

  // Fills in the prices; called once. Errors are those of context.measured. With `free_ends`,
  // copies of the parameters and of the result cost nothing.
  absl::Status Price(const PassContext& context, bool free_ends = false);

  // Two problems of the same form: one with prices in nanoseconds, and one in which the cost of an
  // option is the number of predictions among its prices.
  const LayoutProblem& prices() const { return prices_; }
  const LayoutProblem& guesses() const { return guesses_; }
  bool has_measurements() const { return has_measurements_; }

  // The choice with these signatures, one for each kernel in execution order; nullopt if they are
  // not signatures of this graph.
  std::optional<LayoutChoice> ChoiceOf(const std::vector<std::string>& signatures) const;
  // The reverse of ChoiceOf: the signatures of a choice, as texts.
  std::vector<std::string> TextsOf(const LayoutChoice& choice) const;

  // The signature of each kernel call, for a choice of prices().
  using Signatures = std::unordered_map<const ir::ExprNode*, ir::LayoutSignature>;
  Signatures SignaturesOf(const LayoutChoice& choice) const;

 private:
  struct Kernel {
    ir::Expr call;
    std::vector<bool> const_params;
    std::vector<ir::Expr> operands;  // those that are not constant
    std::vector<ir::LayoutSignature> candidates;
    // For each candidate, whether the call will not run under it; empty if it always runs.
    std::vector<bool> is_free = {};
  };
  struct Value {
    ir::Expr expr;
    std::vector<Layout> layouts;  // row-major first
  };
  struct Copy {
    int value = 0;
    int from = 0;
    int to = 0;
    size_t kernel = 0;  // of copy_kernels_
  };
  struct CopyOf {
    ir::TensorType type;
    Layout from;
    Layout to;
    KernelLayouts kernel;
  };

  void AddKernel(const ir::Expr& call, const PassContext& context);
  void AddOtherReaders(const ir::Expr& node);
  int ValueOf(const ir::Expr& expr);
  int LayoutOf(int value, const Layout& layout);
  void NumberLayouts();
  void MarkFreeMoves(const ir::Expr& body);
  void AddCopies();
  absl::Status PriceKernels(const PassContext& context);
  absl::Status PriceCopies(const PassContext& context);
  void WritePrices();
  void FreeCopies(const ir::Expr& value);

  ir::Expr body_;
  std::vector<Kernel> kernels_;
  std::vector<Value> values_;
  std::unordered_map<const ir::ExprNode*, int> value_ids_;
  std::vector<std::vector<LayoutPrice>> kernel_prices_;
  std::vector<Copy> copies_;
  std::vector<CopyOf> copy_kernels_;                   // each different one once
  std::vector<std::vector<LayoutPrice>> copy_prices_;  // by index into copy_kernels_
  LayoutProblem prices_;
  LayoutProblem guesses_;
  bool has_measurements_ = false;  // whether anything is measured
};

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_GRAPH_H_
