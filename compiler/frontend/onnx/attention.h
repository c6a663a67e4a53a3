// Scaled dot-product attention in graph IR: the part that ONNX's Attention and those of the domain
// com.microsoft share. FuseOps makes one kernel of it (passes/attention_groups.h).
#ifndef HONE_COMPILER_FRONTEND_ONNX_ATTENTION_H_
#define HONE_COMPILER_FRONTEND_ONNX_ATTENTION_H_

#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// All have four axes: batch, heads, positions, elements of a head.
struct AttentionOperands {
  ir::Expr query;
  ir::Expr keys;    // of fewer heads than the query's, each serves several neighbouring ones
  ir::Expr values;  // of as many heads and positions as the keys
  double scale = 1;
  double softcap = 0;  // scores are softcap tanh(score / softcap), unless it is 0
  ir::Expr bias;       // added to the scores; broadcasts to (batch, heads, queries, keys); or null
  ir::Expr sinks;      // (heads): the logit of one more key, which has no value; or null
  DataType softmax_dtype = DataType::kFloat32;  // at least that of the query
};

struct AttentionResults {
  ir::Expr scores;   // scaled products of queries and keys: (batch, heads, queries, keys)
  ir::Expr capped;   // the same within softcap
  ir::Expr logits;   // plus the bias
  ir::Expr weights;  // their softmax
  ir::Expr output;   // (batch, heads, queries, elements of a value)
};

// kInvalidArgument where the extents do not fit.
absl::StatusOr<AttentionResults> Attend(const AttentionOperands& operands);

// 1 / sqrt(elements of a head), or what the node's attribute `scale` says.
absl::StatusOr<double> AttentionScale(NodeReader& node, int64_t head_size);

// (batch, positions, heads * size) as (batch, heads, positions, size); kInvalidArgument names
// `what`.
absl::StatusOr<ir::Expr> SplitHeads(const ir::Expr& x, int64_t heads, std::string_view what);
// The way back.
ir::Expr MergeHeads(Formula& f, const ir::Expr& x);

// The positions before those of `x`, along axis 2; `x` itself where `past` is null or empty.
ir::Expr BehindPast(Formula& f, const ir::Expr& past, const ir::Expr& x);

// 0, 1, ... as int64 in the shape (count, 1) or (1, count). ChargePositions first: a file of a few
// bytes may name an extent that no memory holds.
absl::Status ChargePositions(NodeReader& node, int64_t count);
ir::Expr RowNumbers(int64_t count);
ir::Expr ColumnNumbers(int64_t count);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_ATTENTION_H_
