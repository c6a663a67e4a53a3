// GroupQueryAttention of the domain com.microsoft: causal attention of a decoder, with its caches
// of keys and values and its rotary embedding.
#include <fmt/format.h>

#include <limits>

#include "compiler/frontend/onnx/attention.h"
#include "compiler/frontend/onnx/cache.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/rotary.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// The operands in the order of the node's inputs.
enum GroupQueryInput : size_t {
  kInputQuery,
  kInputKeys,
  kInputValues,
  kInputPastKeys,
  kInputPastValues,
  kInputLastPositions,
  kInputTotalLength,
  kInputCosines,
  kInputSines,
  kInputPositions,
  kInputBias,
  kInputSinks,
  kFirstUnsupported
};

absl::Status RefuseWhatIsMissing(NodeReader& node) {
  for (size_t i = kFirstUnsupported; i < node.size(); ++i) {
    if (!node.Has(i)) continue;
    return absl::UnimplementedError(
        fmt::format("Hone does not have operand {} (scales of caches and norms of heads)", i));
  }
  for (const char* name : {"kv_cache_bit_width", "qk_output", "sliding_window_cache"}) {
    HONE_ASSIGN_OR_RETURN(const int64_t value, node.Int(name, 0));
    if (value == 0) continue;
    return absl::UnimplementedError(fmt::format("Hone has {} of 0 only, found {}", name, value));
  }
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    HONE_ASSIGN_OR_RETURN(const std::string value, node.String(name, "NONE"));
    if (value == "NONE") continue;
    return absl::UnimplementedError(fmt::format("Hone has {} of NONE only, found {}", name, value));
  }
  HONE_ASSIGN_OR_RETURN(const int64_t causal, node.Int("causal", 1));
  HONE_RETURN_IF_ERROR(node.Float("qk_norm_epsilon", 0).status());  // of operands refused above
  if (causal == 1) return absl::OkStatus();
  return absl::UnimplementedError(fmt::format("Hone has causal of 1 only, found {}", causal));
}

class GroupQueryAttention {
 public:
  explicit GroupQueryAttention(NodeReader& node) : node_(node) {}

  Results Run() {
    HONE_RETURN_IF_ERROR(RefuseWhatIsMissing(node_));
    HONE_RETURN_IF_ERROR(ReadHeads());
    HONE_RETURN_IF_ERROR(ReadLengths());
    HONE_RETURN_IF_ERROR(TurnHeads());
    HONE_ASSIGN_OR_RETURN(const ir::Expr present_keys, Present(kInputPastKeys, keys_));
    HONE_ASSIGN_OR_RETURN(const ir::Expr present_values, Present(kInputPastValues, values_));
    AttentionOperands o;
    o.query = query_;
    o.keys = f_.Slice(present_keys, 2, 0, total_);
    o.values = f_.Slice(present_values, 2, 0, total_);
    HONE_RETURN_IF_ERROR(f_.status());
    HONE_ASSIGN_OR_RETURN(o.scale, AttentionScale(node_, ShapeOf(query_)[3]));
    HONE_ASSIGN_OR_RETURN(o.softcap, node_.Float("softcap", 0));
    HONE_ASSIGN_OR_RETURN(o.bias, Bias());
    HONE_ASSIGN_OR_RETURN(o.sinks, Sinks());
    HONE_ASSIGN_OR_RETURN(const AttentionResults results, Attend(o));
    return f_.Finish({MergeHeads(f_, results.output), present_keys, present_values});
  }

 private:
  // Queries, keys and values: three operands, or one that has their heads one behind the other.
  absl::Status ReadHeads() {
    HONE_ASSIGN_OR_RETURN(const int64_t heads, node_.Int("num_heads", 0));
    HONE_ASSIGN_OR_RETURN(const int64_t shared, node_.Int("kv_num_heads", 0));
    HONE_ASSIGN_OR_RETURN(const ir::Expr query, node_.Arg(kInputQuery, "query"));
    constexpr int64_t kMostHeads = 1 << 20;
    if (heads < 1 || shared < 1 || heads > kMostHeads || heads % shared != 0) {
      return absl::InvalidArgumentError(
          fmt::format("num_heads that is a multiple of kv_num_heads was expected, found {} and {}",
                      heads, shared));
    }
    if (node_.Has(kInputKeys) && node_.Has(kInputValues)) {
      HONE_ASSIGN_OR_RETURN(query_, SplitHeads(query, heads, "query"));
      HONE_ASSIGN_OR_RETURN(keys_, SplitHeads(node_.args()[kInputKeys], shared, "key"));
      HONE_ASSIGN_OR_RETURN(values_, SplitHeads(node_.args()[kInputValues], shared, "value"));
      return absl::OkStatus();
    }
    const int64_t all = heads + 2 * shared;
    HONE_ASSIGN_OR_RETURN(const ir::Expr packed, SplitHeads(query, all, "query"));
    query_ = f_.Slice(packed, 1, 0, heads);
    keys_ = f_.Slice(packed, 1, heads, heads + shared);
    values_ = f_.Slice(packed, 1, heads + shared, all);
    return f_.status();
  }

  // How many positions there are, and for each sequence how many of them came before this step.
  absl::Status ReadLengths() {
    batch_ = ShapeOf(query_)[0];
    rows_ = ShapeOf(query_)[2];
    HONE_ASSIGN_OR_RETURN(const ir::Expr last, node_.Arg(kInputLastPositions, "seqlens_k"));
    HONE_ASSIGN_OR_RETURN(const Shape total,
                          node_.ConstantInts(kInputTotalLength, "total_sequence_length"));
    if (total.size() != 1 || total[0] < rows_ || last->type->tensor.ElementCount() != batch_) {
      return absl::InvalidArgumentError(
          fmt::format("total_sequence_length of {} or more and seqlens_k of {} elements were "
                      "expected, found {} numbers and {}",
                      rows_, batch_, total.size(), last->type->ToString()));
    }
    total_ = total[0];
    const ir::Expr rows = ScalarConstant(static_cast<double>(rows_ - 1), DataType::kInt64);
    const ir::Expr positions = f_.Reshape(f_.Cast(last, DataType::kInt64), {batch_});
    before_ =
        total_ == rows_ ? ScalarConstant(0, DataType::kInt64, {batch_}) : f_.Sub(positions, rows);
    return f_.status();
  }

  // (batch, 1, queries, 1): the position of each query.
  ir::Expr QueryPositions() {
    return f_.Add(f_.Reshape(before_, {batch_, 1, 1, 1}), RowNumbers(rows_));
  }

  absl::Status TurnHeads() {
    HONE_ASSIGN_OR_RETURN(const int64_t turns, node_.Int("do_rotary", 0));
    HONE_ASSIGN_OR_RETURN(const int64_t interleaved, node_.Int("rotary_interleaved", 0));
    if (turns == 0) return absl::OkStatus();
    HONE_RETURN_IF_ERROR(ChargePositions(node_, rows_));
    HONE_ASSIGN_OR_RETURN(const ir::Expr cos_cache, node_.Arg(kInputCosines, "cos_cache"));
    HONE_ASSIGN_OR_RETURN(const ir::Expr sin_cache, node_.Arg(kInputSines, "sin_cache"));
    if (RankOf(cos_cache) != 2) {
      return absl::InvalidArgumentError("a cos_cache (positions, elements) was expected, found " +
                                        cos_cache->type->ToString());
    }
    const ir::Expr at = node_.Has(kInputPositions) ? node_.args()[kInputPositions]
                                                   : f_.Reshape(QueryPositions(), {batch_, rows_});
    const ir::Expr cosines = f_.Call("take", {cos_cache, at}, {{"axis", int64_t{0}}});
    const ir::Expr sines = f_.Call("take", {sin_cache, at}, {{"axis", int64_t{0}}});
    HONE_RETURN_IF_ERROR(f_.status());
    const int64_t turned = 2 * ShapeOf(cos_cache)[1];
    HONE_ASSIGN_OR_RETURN(query_, Rotate(query_, cosines, sines, turned, interleaved != 0));
    HONE_ASSIGN_OR_RETURN(keys_, Rotate(keys_, cosines, sines, turned, interleaved != 0));
    return absl::OkStatus();
  }

  // The cache with this step's positions, at least as long as all of them.
  absl::StatusOr<ir::Expr> Present(GroupQueryInput past, const ir::Expr& fresh) {
    Shape shape = ShapeOf(fresh);
    const int64_t cached =
        node_.Has(past) && RankOf(node_.args()[past]) == 4 ? ShapeOf(node_.args()[past])[2] : 0;
    if (cached == 0 && total_ == rows_) return fresh;
    shape[2] = std::max(cached, total_) - cached;
    std::vector<ir::Expr> parts;
    if (cached > 0) parts.push_back(node_.args()[past]);
    if (shape[2] > 0) {
      const auto bytes = static_cast<int64_t>(SizeBytes(DtypeOf(fresh)));
      HONE_RETURN_IF_ERROR(node_.Generate(shape[0] * shape[1] * shape[2] * shape[3] * bytes));
      parts.push_back(ScalarConstant(0, DtypeOf(fresh), shape));
    }
    const ir::Expr cache = f_.Concat(std::move(parts), 2);
    HONE_RETURN_IF_ERROR(f_.status());
    return WrittenTo(cache, fresh, before_, 2, /*circular=*/false);
  }

  // What is added to the scores: a query sees the keys up to its own position, or the last of them.
  absl::StatusOr<ir::Expr> Bias() {
    HONE_ASSIGN_OR_RETURN(const int64_t window, node_.Int("local_window_size", -1));
    HONE_RETURN_IF_ERROR(ChargePositions(node_, total_));
    const ir::Expr columns = ColumnNumbers(total_);
    const ir::Expr position = QueryPositions();
    ir::Expr seen = f_.Call("less_equal", {columns, position});
    if (window > 0) {
      const ir::Expr size = ScalarConstant(static_cast<double>(window), DataType::kInt64);
      seen = f_.Call("logical_and", {seen, f_.Less(f_.Sub(position, columns), size)});
    }
    const DataType dtype = DtypeOf(query_);
    const double lowest =
        dtype == DataType::kFloat16 ? -65504 : std::numeric_limits<float>::lowest();
    const ir::Expr bias =
        node_.Has(kInputBias) ? node_.args()[kInputBias] : ScalarConstant(0, dtype);
    return f_.FinishOne(f_.Where(seen, bias, ScalarConstant(lowest, dtype)));
  }

  // Those of smooth softmax are zeros. Null for none.
  absl::StatusOr<ir::Expr> Sinks() {
    HONE_ASSIGN_OR_RETURN(const int64_t smooth, node_.Int("smooth_softmax", -1));
    const int64_t heads = ShapeOf(query_)[1];
    if (!node_.Has(kInputSinks)) {
      return smooth == 1 ? ScalarConstant(0, DtypeOf(query_), {heads}) : ir::Expr();
    }
    const ir::Expr& sinks = node_.args()[kInputSinks];
    if (ShapeOf(sinks) == Shape{heads} && IsFloat(DtypeOf(sinks))) return sinks;
    return absl::InvalidArgumentError(fmt::format("a head_sink of {} floats was expected, found {}",
                                                  heads, sinks->type->ToString()));
  }

  NodeReader& node_;
  Formula f_;
  ir::Expr query_;
  ir::Expr keys_;
  ir::Expr values_;
  ir::Expr before_;  // int64 (batch)
  int64_t batch_ = 0;
  int64_t rows_ = 0;
  int64_t total_ = 0;
};

}  // namespace

void AddGroupQueryAttentionConverters(ConverterTable& table) {
  table["com.microsoft.GroupQueryAttention"] = [](NodeReader& node) {
    return GroupQueryAttention(node).Run();
  };
}

}  // namespace hone::frontend
