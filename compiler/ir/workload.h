// Workloads: the canonical texts of fused functions, which are the keys of tuning results.
#ifndef HONE_COMPILER_IR_WORKLOAD_H_
#define HONE_COMPILER_IR_WORKLOAD_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::ir {

// The text is one line in the syntax of graph IR: parameters renamed p0, p1, ..., nodes %0, %1, ...
// in post order, operands that are constants of the model marked `const`:
//   fn (p0: Tensor[(1, 64, 56, 56), float32], const p1: Tensor[(64, 64, 3, 3), float32])
//   { %0 = nn.conv2d(p0, p1, padding=[1, 1, 1, 1], strides=[1, 1]); nn.relu(%0) }
//   accumulate=float32 numerics=default
// Fused functions that differ only in names have the same text.
struct Workload {
  std::string text;
  std::string digest;  // SHA-256 of the text, hex
  // The digest of the same function cut after its anchor (the first operator of the highest fusion
  // kind): workloads that differ in their epilogue share it.
  std::string anchor_digest;
};

// `function` is a primitive function with inferred types; `const_params[i]` says whether parameter
// i is a constant of the model.
//
// `rank` gives an operator's rank for the choice of the anchor, because this room does not know
// operators. Most callers want ops::WorkloadOf.
using AnchorRank = std::function<int(const std::string& op)>;
Workload MakeWorkload(const Expr& function, const std::vector<bool>& const_params,
                      const AnchorRank& rank);

struct ParsedWorkload {
  Expr function;  // types not inferred
  std::vector<bool> const_params;
};
// kInvalidArgument with line and column.
absl::StatusOr<ParsedWorkload> ParseWorkload(std::string_view text);

// The layouts of every non-constant operand and result of a kernel, in order. Text:
// "NCHW16c,NCHW16c->NCHW16c"; a kernel without operands: "->NC".
struct LayoutSignature {
  std::vector<Layout> operands;
  std::vector<Layout> results;

  std::string ToString() const;
  // Parses a signature's text; the ranks come from the function's types.
  static absl::StatusOr<LayoutSignature> Parse(std::string_view text,
                                               const std::vector<int>& operand_ranks,
                                               const std::vector<int>& result_ranks);
  bool operator==(const LayoutSignature&) const = default;
};

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_WORKLOAD_H_
