// Scaled dot-product attention in graph IR: the part that ONNX's Attention and those of the domain
// com.microsoft share. FuseOps makes one kernel of it (passes/attention_groups.h).
#ifndef HONE_COMPILER_FRONTEND_ONNX_ATTENTION_H_
#define HONE_COMPILER_FRONTEND_ONNX_ATTENTION_H_

#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// All have four axes: batch, heads, positions, elements of a head.
struct AttentionOperands {
  ir::Expr query;
  ir::Expr keys;    // may have fewer heads, each for several neighbouring heads of the query
  ir::Expr values;  // as many heads and positions as the keys
  double scale = 1;
  double softcap = 0;  // unless 0, scores become softcap * tanh(score / softcap)
  ir::Expr bias;       // added to the scores; broadcasts to (batch, heads, queries, keys); or null
  ir::Expr sinks;      // (heads): for each head the logit of one more key without a value; or null
  DataType softmax_dtype = DataType::kFloat32;  // of the softmax, unless the query's is wider
};

struct AttentionResults {
  ir::Expr scores;   // scaled products of queries and keys: (batch, heads, queries, keys)
  ir::Expr capped;   // the scores after softcap
  ir::Expr logits;   // the capped scores plus the bias
  ir::Expr weights;  // the softmax of the logits
  ir::Expr output;   // (batch, heads, queries, elements of a value)
};

// kInvalidArgument where the extents do not fit.
absl::StatusOr<AttentionResults> Attend(const AttentionOperands& operands);

// 1 / sqrt(elements of a head), or what the node's attribute `scale` says.
absl::StatusOr<double> AttentionScale(NodeReader& node, int64_t head_size);

// (batch, positions, heads * size) as (batch, heads, positions, size); kInvalidArgument names
// `what`.
absl::StatusOr<ir::Expr> SplitHeads(const ir::Expr& x, int64_t heads, std::string_view what);
// The inverse of SplitHeads: (batch, heads, positions, size) as (batch, positions, heads * size).
ir::Expr MergeHeads(Formula& f, const ir::Expr& x);

// `past` followed by `x` along axis 2, the positions; `x` itself if `past` is null or empty.
ir::Expr BehindPast(Formula& f, const ir::Expr& past, const ir::Expr& x);

// RowNumbers and ColumnNumbers give 0, 1, ... as int64 in the shape (count, 1) and (1, count). Call
// ChargePositions first, which charges them to the model's allowance: a file of a few bytes may
// name an extent that no memory holds.
absl::Status ChargePositions(NodeReader& node, int64_t count);
ir::Expr RowNumbers(int64_t count);
ir::Expr ColumnNumbers(int64_t count);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_ATTENTION_H_
