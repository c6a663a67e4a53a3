#include "compiler/frontend/onnx/attention.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "support/status.h"

namespace hone::frontend {
namespace {

absl::Status Check(const AttentionOperands& o) {
  for (const ir::Expr& e : {o.query, o.keys, o.values}) {
    if (RankOf(e) == 4) continue;
    return absl::InvalidArgumentError(fmt::format(
        "(batch, heads, positions, elements) was expected, found {}", e->type->ToString()));
  }
  const Shape& q = ShapeOf(o.query);
  const Shape& k = ShapeOf(o.keys);
  const Shape& v = ShapeOf(o.values);
  const bool heads_fit = k[1] > 0 && q[1] % k[1] == 0 && v[1] == k[1];
  if (heads_fit && q[0] == k[0] && q[0] == v[0] && q[3] == k[3] && k[2] == v[2]) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("queries, keys and values of one attention were expected, found {}, {} and {} as "
                  "(batch, heads, positions, elements)",
                  o.query->type->ToString(), o.keys->type->ToString(), o.values->type->ToString()));
}

// Every head as often as it serves one of `heads`, then one stack of matrices.
ir::Expr StackHeads(Formula& f, const ir::Expr& x, int64_t heads) {
  const int64_t own = ShapeOf(x)[1];
  ir::Expr all = x;
  if (own != heads) {
    std::vector<int64_t> sources(heads);
    for (int64_t i = 0; i < heads; ++i) sources[i] = i / (heads / own);
    all = f.Call("take", {x, IntsConstant(sources)}, {{"axis", int64_t{1}}});
  }
  return f.Reshape(all, {ShapeOf(x)[0] * heads, ShapeOf(x)[2], ShapeOf(x)[3]});
}

bool IsHalf(const ir::Expr& x) {
  return DtypeOf(x) == DataType::kFloat16 || DtypeOf(x) == DataType::kBFloat16;
}

std::vector<int64_t> Numbers(int64_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Over the keys of `shape`, and over the sinks, whose share nothing gets.
ir::Expr Softmax(Formula& f, const ir::Expr& logits, const ir::Expr& sinks, const Shape& shape) {
  if (!sinks || !logits) return f.Call("nn.softmax", {logits}, {{"axis", int64_t{3}}});
  const ir::Expr each = f.Reshape(f.Cast(sinks, DtypeOf(logits)), {1, shape[1], 1, 1});
  const ir::Expr column =
      f.Call("broadcast_to", {each}, {{"shape", Shape{shape[0], shape[1], shape[2], 1}}});
  const ir::Expr all =
      f.Call("nn.softmax", {f.Concat({logits, column}, 3)}, {{"axis", int64_t{3}}});
  return f.Slice(all, 3, 0, shape[3]);
}

}  // namespace

absl::StatusOr<AttentionResults> Attend(const AttentionOperands& o) {
  HONE_RETURN_IF_ERROR(Check(o));
  Formula f;
  const int64_t batch = ShapeOf(o.query)[0];
  const int64_t heads = ShapeOf(o.query)[1];
  const Shape square = {batch, heads, ShapeOf(o.query)[2], ShapeOf(o.keys)[2]};
  // The products of 16-bit queries and keys may be out of range before they are scaled.
  const ir::Expr factor = f.Number(o.scale, o.query);
  const ir::Expr query = IsHalf(o.query) ? f.Mul(o.query, factor) : o.query;
  const ir::Expr product =
      f.Call("nn.batch_matmul", {StackHeads(f, query, heads), StackHeads(f, o.keys, heads)});
  AttentionResults results;
  results.scores = f.Reshape(product, square);
  if (!IsHalf(o.query)) results.scores = f.Mul(results.scores, factor);
  results.capped = results.scores;
  if (o.softcap != 0) {
    const ir::Expr cap = f.Number(o.softcap, o.query);
    results.capped = f.Mul(f.Call("tanh", {f.Div(results.scores, cap)}), cap);
  }
  results.logits = o.bias ? f.Add(results.capped, o.bias) : results.capped;
  const ir::Expr wide = SizeBytes(o.softmax_dtype) > SizeBytes(DtypeOf(o.query))
                            ? f.Cast(results.logits, o.softmax_dtype)
                            : results.logits;
  results.weights = f.Cast(Softmax(f, wide, o.sinks, square), DtypeOf(o.query));
  const ir::Expr columns = f.Transpose(StackHeads(f, o.values, heads), {0, 2, 1});
  const ir::Expr rows = f.Reshape(results.weights, {batch * heads, square[2], square[3]});
  results.output = f.Reshape(f.Call("nn.batch_matmul", {rows, columns}),
                             {batch, heads, square[2], ShapeOf(o.values)[3]});
  HONE_RETURN_IF_ERROR(f.status());
  if (ShapeOf(results.logits) == square) return results;
  return absl::InvalidArgumentError(
      fmt::format("a mask or bias that broadcasts to the scores {} was expected, found {}",
                  results.scores->type->ToString(), o.bias->type->ToString()));
}

absl::StatusOr<double> AttentionScale(NodeReader& node, int64_t head_size) {
  HONE_ASSIGN_OR_RETURN(const double scale, node.Float("scale", 0));
  if (scale != 0) return scale;
  return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(head_size, 1)));
}

absl::StatusOr<ir::Expr> SplitHeads(const ir::Expr& x, int64_t heads, std::string_view what) {
  if (RankOf(x) != 3 || heads < 1 || ShapeOf(x)[2] % heads != 0) {
    return absl::InvalidArgumentError(
        fmt::format("{} was expected to be (batch, positions, {} heads x elements), found {}", what,
                    heads, x->type->ToString()));
  }
  const Shape& shape = ShapeOf(x);
  Formula f;
  const ir::Expr split = f.Reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return f.FinishOne(f.Transpose(split, {0, 2, 1, 3}));
}

ir::Expr MergeHeads(Formula& f, const ir::Expr& x) {
  if (!x) return x;
  const Shape& shape = ShapeOf(x);
  return f.Reshape(f.Transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

ir::Expr BehindPast(Formula& f, const ir::Expr& past, const ir::Expr& x) {
  if (!past || past->type->tensor.ElementCount() == 0) return x;
  return f.Concat({past, x}, 2);
}

absl::Status ChargePositions(NodeReader& node, int64_t count) {
  constexpr int64_t kMost = int64_t{1} << 40;
  return node.Generate(std::min(count, kMost) * static_cast<int64_t>(sizeof(int64_t)));
}

ir::Expr RowNumbers(int64_t count) {
  const std::vector<int64_t> numbers = Numbers(count);
  return ir::ConstantFromBytes({{count, 1}, DataType::kInt64}, numbers.data());
}

ir::Expr ColumnNumbers(int64_t count) {
  const std::vector<int64_t> numbers = Numbers(count);
  return ir::ConstantFromBytes({{1, count}, DataType::kInt64}, numbers.data());
}

}  // namespace hone::frontend
