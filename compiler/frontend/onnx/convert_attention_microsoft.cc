// Attention, QAttention and MultiHeadAttention of the domain com.microsoft, which onnxruntime's
// optimiser and quantiser write.
#include <fmt/format.h>

#include <limits>

#include "compiler/frontend/onnx/attention.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/integer_product.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr double kMaskFilterValue = -10000;  // of a key that the mask hides, added to its scores

// What all three operators make of their queries, keys and values.
struct Heads {
  ir::Expr query;
  ir::Expr keys;  // those of the past too
  ir::Expr values;
  int64_t past = 0;  // positions
};

// Keys that a mask shows, as bool that broadcasts to (batch, heads, queries, keys). Its forms: how
// many keys of each sequence there are, before which also where they begin; a number above 0 for
// each key that is seen, by all queries or by each.
absl::StatusOr<ir::Expr> SeenKeys(Formula& f, const ir::Expr& mask, const Shape& scores) {
  const Shape& shape = ShapeOf(mask);
  const int64_t batch = scores[0];
  const ir::Expr columns = f.Cast(ColumnNumbers(scores[3]), DtypeOf(mask));
  const auto bound = [&](int64_t begin) {
    return f.Reshape(f.Slice(mask, 0, begin, begin + batch), {batch, 1, 1, 1});
  };
  if (shape == Shape{batch}) return f.FinishOne(f.Less(columns, bound(0)));
  if (shape == Shape{2 * batch}) {
    const ir::Expr begun = f.Call("greater_equal", {columns, bound(batch)});
    return f.FinishOne(f.Call("logical_and", {f.Less(columns, bound(0)), begun}));
  }
  const ir::Expr seen = f.Call("greater", {mask, f.Number(0, mask)});
  if (shape == Shape{batch, scores[3]})
    return f.FinishOne(f.Reshape(seen, {batch, 1, 1, scores[3]}));
  if (shape == Shape{batch, scores[2], scores[3]}) {
    return f.FinishOne(f.Reshape(seen, {batch, 1, scores[2], scores[3]}));
  }
  return absl::UnimplementedError(
      fmt::format("a mask of ({0}), ({1}), ({0}, {3}) or ({0}, {2}, {3}) elements was expected, "
                  "found {4}",
                  batch, 2 * batch, scores[2], scores[3], mask->type->ToString()));
}

// What is added to the scores, or null.
absl::StatusOr<ir::Expr> Bias(NodeReader& node, const Heads& heads, const ir::Expr& mask,
                              const ir::Expr& attention_bias) {
  HONE_ASSIGN_OR_RETURN(const double filter, node.Float("mask_filter_value", kMaskFilterValue));
  HONE_ASSIGN_OR_RETURN(const int64_t unidirectional, node.Int("unidirectional", 0));
  const Shape& q = ShapeOf(heads.query);
  const Shape scores = {q[0], q[1], q[2], ShapeOf(heads.keys)[2]};
  const DataType dtype = DtypeOf(heads.query);
  Formula f;
  ir::Expr bias;
  HONE_RETURN_IF_ERROR(ChargePositions(node, mask || unidirectional != 0 ? scores[3] : 0));
  HONE_RETURN_IF_ERROR(ChargePositions(node, unidirectional != 0 ? scores[2] : 0));
  if (mask) {
    HONE_ASSIGN_OR_RETURN(const ir::Expr seen, SeenKeys(f, mask, scores));
    bias = f.Where(seen, ScalarConstant(0, dtype), ScalarConstant(filter, dtype));
  }
  if (unidirectional != 0) {
    const ir::Expr past = ScalarConstant(static_cast<double>(heads.past), DataType::kInt64);
    const ir::Expr position = f.Add(RowNumbers(scores[2]), past);
    const ir::Expr before = f.Call("less_equal", {ColumnNumbers(scores[3]), position});
    const double lowest =
        dtype == DataType::kFloat16 ? -65504 : std::numeric_limits<float>::lowest();
    bias = f.Where(before, bias ? bias : ScalarConstant(0, dtype), ScalarConstant(lowest, dtype));
  }
  if (!attention_bias) return f.FinishOne(bias);
  return f.FinishOne(bias ? f.Add(bias, attention_bias) : attention_bias);
}

absl::StatusOr<AttentionResults> AttendTo(NodeReader& node, const Heads& heads,
                                          const ir::Expr& mask, const ir::Expr& attention_bias) {
  AttentionOperands o;
  o.query = heads.query;
  o.keys = heads.keys;
  o.values = heads.values;
  if (RankOf(o.keys) != 4 || RankOf(o.query) != 4) {
    return absl::InvalidArgumentError(
        fmt::format("(batch, heads, positions, elements) was expected, found {} and {}",
                    o.query->type->ToString(), o.keys->type->ToString()));
  }
  HONE_ASSIGN_OR_RETURN(o.scale, AttentionScale(node, ShapeOf(o.query)[3]));
  HONE_ASSIGN_OR_RETURN(o.bias, Bias(node, heads, mask, attention_bias));
  return Attend(o);
}

absl::Status RefuseAttr(NodeReader& node, const char* name) {
  HONE_ASSIGN_OR_RETURN(const int64_t value, node.Int(name, 0));
  if (value == 0) return absl::OkStatus();
  return absl::UnimplementedError(fmt::format("Hone has {} of 0 only, found {}", name, value));
}

absl::Status RefuseInput(const NodeReader& node, size_t i, const char* name) {
  if (!node.Has(i)) return absl::OkStatus();
  return absl::UnimplementedError(fmt::format("Hone does not have the operand {}", name));
}

// Entry `i` of the pair of keys and values that stand as one tensor (2, batch, heads, ...).
ir::Expr Half(Formula& f, const ir::Expr& pair, int64_t i) {
  Shape shape = ShapeOf(pair);
  shape.erase(shape.begin());
  return f.Reshape(f.Slice(pair, 0, i, i + 1), shape);
}

// Both as one such tensor; null where their extents differ.
ir::Expr Pair(Formula& f, const ir::Expr& keys, const ir::Expr& values) {
  if (!keys || !values || ShapeOf(keys) != ShapeOf(values)) return nullptr;
  Shape shape = ShapeOf(keys);
  shape.insert(shape.begin(), 1);
  return f.Concat({f.Reshape(keys, shape), f.Reshape(values, shape)}, 0);
}

// Attention behind the product of the input and its weights: queries, keys and values, each
// of its own size, stand one behind the other along the last axis.
Results SelfAttention(NodeReader& node, const ir::Expr& projected, const ir::Expr& mask,
                      const ir::Expr& past, const ir::Expr& attention_bias) {
  HONE_ASSIGN_OR_RETURN(const int64_t num_heads, node.Int("num_heads", 0));
  for (const char* name : {"do_rotary", "past_present_share_buffer", "rotary_embedding_dim"}) {
    HONE_RETURN_IF_ERROR(RefuseAttr(node, name));
  }
  const int64_t all = RankOf(projected) == 3 ? ShapeOf(projected)[2] : 0;
  HONE_ASSIGN_OR_RETURN(const Shape sizes,
                        node.Ints("qkv_hidden_sizes", {all / 3, all / 3, all / 3}));
  if (sizes.size() != 3 || std::min({sizes[0], sizes[1], sizes[2]}) < 1 ||
      sizes[0] > all - sizes[1] || sizes[0] + sizes[1] != all - sizes[2]) {
    return absl::InvalidArgumentError(fmt::format(
        "queries, keys and values were expected to be the {} columns of the weights", all));
  }
  Formula f;
  Heads heads;
  ir::Expr* const parts[] = {&heads.query, &heads.keys, &heads.values};
  int64_t begin = 0;
  for (size_t i = 0; i < 3; ++i) {
    const ir::Expr part = f.Slice(projected, 2, begin, begin + sizes[i]);
    begin += sizes[i];
    HONE_RETURN_IF_ERROR(f.status());
    HONE_ASSIGN_OR_RETURN(*parts[i], SplitHeads(part, num_heads, "a projection of the input"));
  }
  if (past) {
    if (RankOf(past) != 5 || ShapeOf(past)[0] != 2) {
      return absl::InvalidArgumentError(
          fmt::format("a past of (2, batch, heads, positions, elements) was expected, found {}",
                      past->type->ToString()));
    }
    heads.past = ShapeOf(past)[3];
    heads.keys = BehindPast(f, Half(f, past, 0), heads.keys);
    heads.values = BehindPast(f, Half(f, past, 1), heads.values);
    HONE_RETURN_IF_ERROR(f.status());
  }
  HONE_ASSIGN_OR_RETURN(const AttentionResults results,
                        AttendTo(node, heads, mask, attention_bias));
  return f.Finish({MergeHeads(f, results.output), Pair(f, heads.keys, heads.values)});
}

Results AttentionOfMicrosoft(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr input, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr weights, node.Arg(1, "weights"));
  HONE_RETURN_IF_ERROR(RefuseInput(node, 6, "past_sequence_length"));
  if (RankOf(input) != 3 || RankOf(weights) != 2 || ShapeOf(input)[2] != ShapeOf(weights)[0]) {
    return absl::InvalidArgumentError(
        fmt::format("an input (batch, positions, elements) and weights (elements, columns) were "
                    "expected, found "
                    "{} and {}",
                    input->type->ToString(), weights->type->ToString()));
  }
  Formula f;
  const Shape& shape = ShapeOf(input);
  const ir::Expr rows = f.Reshape(input, {shape[0] * shape[1], shape[2]});
  ir::Expr product = f.Call("nn.dense", {rows, f.Transpose(weights, {1, 0})});
  if (node.Has(2)) {
    product = f.Call("nn.bias_add", {product, node.args()[2]}, {{"axis", int64_t{1}}});
  }
  const ir::Expr projected = f.Reshape(product, {shape[0], shape[1], ShapeOf(weights)[1]});
  HONE_RETURN_IF_ERROR(f.status());
  return SelfAttention(node, projected, node.ArgOrNull(3), node.ArgOrNull(4), node.ArgOrNull(5));
}

Results QAttention(NodeReader& node) {
  QuantizedOperand input;
  QuantizedOperand weights;
  HONE_ASSIGN_OR_RETURN(input.data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(weights.data, node.Arg(1, "weight"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr bias, node.Arg(2, "bias"));
  HONE_ASSIGN_OR_RETURN(input.scale, node.Arg(3, "input_scale"));
  HONE_ASSIGN_OR_RETURN(weights.scale, node.Arg(4, "weight_scale"));
  input.zero_point = node.ArgOrNull(6);
  weights.zero_point = node.ArgOrNull(7);
  HONE_ASSIGN_OR_RETURN(const ir::Expr projected, IntegerProduct(node, input, weights, bias));
  return SelfAttention(node, projected, node.ArgOrNull(5), node.ArgOrNull(8), nullptr);
}

// Part `i` of tensors (batch, positions, heads, parts, elements), as (batch, positions, heads *
// elements).
ir::Expr Unpacked(Formula& f, const ir::Expr& packed, int64_t i) {
  const Shape& s = ShapeOf(packed);
  return f.Reshape(f.Slice(packed, 3, i, i + 1), {s[0], s[1], s[2] * s[4]});
}

// Queries, keys and values with the heads in the last axis, except keys and values of four axes,
// which have theirs split.
struct Sources {
  ir::Expr query;
  ir::Expr keys;
  ir::Expr values;
};

absl::StatusOr<Sources> ReadSources(const NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr query, node.Arg(0, "query"));
  const ir::Expr keys = node.ArgOrNull(1);
  const ir::Expr values = node.ArgOrNull(2);
  if (keys && values) return Sources{query, keys, values};
  const ir::Expr& packed = keys ? keys : query;
  const int64_t parts = keys ? 2 : 3;
  if (RankOf(packed) != 5 || ShapeOf(packed)[3] != parts || values) {
    return absl::InvalidArgumentError(
        fmt::format("keys and values, or both packed with {} as (batch, positions, heads, {}, "
                    "elements), were expected, found {}",
                    keys ? "each other" : "the query", parts, packed->type->ToString()));
  }
  Formula f;
  Sources sources = {query, Unpacked(f, packed, parts - 2), Unpacked(f, packed, parts - 1)};
  if (!keys) sources.query = Unpacked(f, packed, 0);
  HONE_RETURN_IF_ERROR(f.status());
  return sources;
}

// The heads of `x`, with the next of the bias's elements added before. Those of four axes come with
// theirs from another attention.
absl::StatusOr<ir::Expr> BiasedHeads(const ir::Expr& x, int64_t heads, const ir::Expr& bias,
                                     int64_t* begin, const char* what) {
  if (RankOf(x) != 3) return x;
  Formula f;
  ir::Expr sum = x;
  if (bias) {
    const int64_t end = *begin + ShapeOf(x)[2];
    if (RankOf(bias) != 1 || end > ShapeOf(bias)[0]) {
      return absl::InvalidArgumentError(fmt::format(
          "a bias of the query's, the key's and the value's elements was expected, found "
          "{}",
          bias->type->ToString()));
    }
    sum = f.Add(x, f.Slice(bias, 0, *begin, end));
    *begin = end;
  }
  HONE_RETURN_IF_ERROR(f.status());
  return SplitHeads(sum, heads, what);
}

Results MultiHeadAttention(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const int64_t num_heads, node.Int("num_heads", 0));
  HONE_ASSIGN_OR_RETURN(const Sources sources, ReadSources(node));
  HONE_RETURN_IF_ERROR(RefuseInput(node, 8, "past_sequence_length"));
  HONE_RETURN_IF_ERROR(RefuseInput(node, 9, "cache_indirection"));
  const ir::Expr bias = node.ArgOrNull(3);
  const ir::Expr past_keys = node.ArgOrNull(6);
  const ir::Expr past_values = node.ArgOrNull(7);
  if (RankOf(sources.query) != 3) {
    return absl::InvalidArgumentError("a query (batch, positions, elements) was expected, found " +
                                      sources.query->type->ToString());
  }
  int64_t begin = 0;
  Heads heads;
  HONE_ASSIGN_OR_RETURN(heads.query, BiasedHeads(sources.query, num_heads, bias, &begin, "query"));
  HONE_ASSIGN_OR_RETURN(heads.keys, BiasedHeads(sources.keys, num_heads, bias, &begin, "key"));
  HONE_ASSIGN_OR_RETURN(heads.values,
                        BiasedHeads(sources.values, num_heads, bias, &begin, "value"));
  Formula f;
  if (past_keys && RankOf(past_keys) == 4) heads.past = ShapeOf(past_keys)[2];
  heads.keys = BehindPast(f, past_keys, heads.keys);
  heads.values = BehindPast(f, past_values, heads.values);
  HONE_RETURN_IF_ERROR(f.status());
  HONE_ASSIGN_OR_RETURN(const AttentionResults results,
                        AttendTo(node, heads, node.ArgOrNull(4), node.ArgOrNull(5)));
  return f.Finish({MergeHeads(f, results.output), heads.keys, heads.values, results.scores});
}

}  // namespace

void AddMicrosoftAttentionConverters(ConverterTable& table) {
  table["com.microsoft.Attention"] = AttentionOfMicrosoft;
  table["com.microsoft.MultiHeadAttention"] = MultiHeadAttention;
  table["com.microsoft.QAttention"] = QAttention;
}

}  // namespace hone::frontend
