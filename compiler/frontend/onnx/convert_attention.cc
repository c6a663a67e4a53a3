// Attention of ONNX's own domain (opsets 23 to 25).
#include <fmt/format.h>

#include <limits>

#include "compiler/frontend/onnx/attention.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/tensor.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// The operands in the order of the node's inputs.
enum Input : size_t { kQuery, kKeys, kValues, kMask, kPastKeys, kPastValues, kValidKeys };

// Which keys a query sees, and what is added to its scores.
class Mask {
 public:
  Mask(NodeReader& node, int64_t queries, int64_t keys)
      : node_(node), rows_(queries), keys_(keys) {}

  // The sum of all masks: 0 or what a mask of floats says, -infinity where a key is not seen; null
  // where every query sees all keys.
  absl::StatusOr<ir::Expr> Bias(DataType dtype, int64_t past) {
    HONE_RETURN_IF_ERROR(ReadMask());
    HONE_RETURN_IF_ERROR(ReadWindow(past));
    if (!allowed_) return f_.FinishOne(floats_);
    const ir::Expr unseen = ScalarConstant(kMinusInfinity, dtype);
    const ir::Expr seen = floats_ ? floats_ : ScalarConstant(0, dtype);
    return f_.FinishOne(f_.Where(allowed_, seen, unseen));
  }

 private:
  // A mask of fewer keys than there are says nothing of those behind, which no query sees.
  absl::Status ReadMask() {
    if (!node_.Has(kMask)) return absl::OkStatus();
    ir::Expr mask = node_.args()[kMask];
    const bool is_bool = DtypeOf(mask) == DataType::kBool;
    const int64_t given = RankOf(mask) == 0 ? keys_ : ShapeOf(mask).back();
    if (given < keys_ && (given != 1 || node_.opset() >= 24)) {
      Shape widths(2 * RankOf(mask), 0);
      widths.back() = keys_ - given;
      if (is_bool) mask = f_.Cast(mask, DataType::kInt32);
      mask = f_.Call("nn.pad", {mask},
                     {{"pad_width", widths}, {"pad_value", is_bool ? 0.0 : kMinusInfinity}});
      if (is_bool) mask = f_.Cast(mask, DataType::kBool);
    }
    (is_bool ? allowed_ : floats_) = mask;
    return f_.status();
  }

  void Allow(const ir::Expr& allowed) {
    allowed_ = allowed_ ? f_.Call("logical_and", {allowed_, allowed}) : allowed;
  }

  absl::Status ReadWindow(int64_t past) {
    HONE_ASSIGN_OR_RETURN(const int64_t is_causal, node_.Int("is_causal", 0));
    HONE_ASSIGN_OR_RETURN(const int64_t left, node_.Int("left_window_size", -1));
    HONE_ASSIGN_OR_RETURN(const int64_t right, node_.Int("right_window_size", -1));
    if (left < -1 || right < -1) {
      return absl::InvalidArgumentError(fmt::format(
          "window sizes of -1 or more were expected, found {} to the left and {} to the right",
          left, right));
    }
    if (is_causal == 0 && left < 0 && right < 0 && !node_.Has(kValidKeys)) return absl::OkStatus();
    HONE_RETURN_IF_ERROR(ChargePositions(node_, rows_));
    HONE_RETURN_IF_ERROR(ChargePositions(node_, keys_));
    const ir::Expr columns = ColumnNumbers(keys_);
    ir::Expr position =
        f_.Add(RowNumbers(rows_), ScalarConstant(static_cast<double>(past), DataType::kInt64));
    if (node_.Has(kValidKeys)) {
      const ir::Expr count =
          f_.Reshape(node_.args()[kValidKeys], {ShapeOf(node_.args()[kValidKeys])[0], 1, 1, 1});
      Allow(f_.Less(columns, count));
      const ir::Expr rows = ScalarConstant(static_cast<double>(rows_), DataType::kInt64);
      position = f_.Add(RowNumbers(rows_), f_.Sub(count, rows));
    }
    if (is_causal != 0) Allow(f_.Call("less_equal", {columns, position}));
    const ir::Expr distance = f_.Sub(position, columns);
    const auto within = [&](const ir::Expr& d, int64_t size) {
      const ir::Expr most = ScalarConstant(static_cast<double>(size), DataType::kInt64);
      if (size >= 0) Allow(f_.Call("less_equal", {d, most}));
    };
    within(distance, left);
    within(f_.Call("negative", {distance}), right);
    return f_.status();
  }

  NodeReader& node_;
  const int64_t rows_;
  const int64_t keys_;
  Formula f_;
  ir::Expr allowed_;  // null: all
  ir::Expr floats_;   // or null
};

// Whether a query sees any key, with 1 in the place of the keys' extent; null where it is known
// that all do.
absl::StatusOr<ir::Expr> SeesAny(const ir::Expr& bias) {
  if (!bias) return bias;
  Formula f;
  const ir::Expr most =
      f.Call("max", {bias}, {{"axis", Shape{RankOf(bias) - 1}}, {"keepdims", true}});
  const ir::Expr sees = f.Call("greater", {most, f.Number(kMinusInfinity, bias)});
  HONE_RETURN_IF_ERROR(f.status());
  const absl::StatusOr<ir::Expr> known = ConstantOf(sees);
  if (!known.ok()) return sees;
  const auto* const bytes = reinterpret_cast<const char*>((*known)->data.bytes());
  for (size_t i = 0; i < (*known)->data.size_bytes(); ++i) {
    if (bytes[i] == 0) return *known;
  }
  return ir::Expr();
}

absl::StatusOr<ir::Expr> HeadsOf(NodeReader& node, Input input, const char* attr,
                                 const char* what) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(input, what));
  HONE_ASSIGN_OR_RETURN(const int64_t heads, node.Int(attr, 0));
  if (RankOf(x) == 4) return x;
  return SplitHeads(x, heads, what);
}

absl::StatusOr<DataType> SoftmaxType(NodeReader& node, DataType dtype) {
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("softmax_precision", 0));
  return given == 0 ? dtype : FromOnnxType(static_cast<int>(given));
}

absl::Status CheckCaches(const NodeReader& node) {
  if (node.Has(kPastKeys) != node.Has(kPastValues)) {
    return absl::InvalidArgumentError("past_key and past_value were expected to be given together");
  }
  if (node.Has(kPastKeys) && node.Has(kValidKeys)) {
    return absl::InvalidArgumentError("nonpad_kv_seqlen was expected to stand without past_key");
  }
  if (node.Has(kValidKeys) && RankOf(node.args()[kValidKeys]) != 1) {
    return absl::InvalidArgumentError("nonpad_kv_seqlen was expected to be a vector, found " +
                                      node.args()[kValidKeys]->type->ToString());
  }
  return absl::OkStatus();
}

// Zeros in the place of what a query that sees no key would have.
ir::Expr Guarded(Formula& f, const ir::Expr& sees_any, const ir::Expr& x) {
  return sees_any ? f.Where(sees_any, x, f.Number(0, x)) : x;
}

Results Attention(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr query, HeadsOf(node, kQuery, "q_num_heads", "Q"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr new_keys, HeadsOf(node, kKeys, "kv_num_heads", "K"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr new_values, HeadsOf(node, kValues, "kv_num_heads", "V"));
  HONE_RETURN_IF_ERROR(CheckCaches(node));
  HONE_ASSIGN_OR_RETURN(const int64_t mode, node.Int("qk_matmul_output_mode", 0));
  if (mode < 0 || mode > 3) {
    return absl::InvalidArgumentError(
        fmt::format("qk_matmul_output_mode was expected to be 0 to 3, found {}", mode));
  }
  Formula f;
  AttentionOperands o;
  o.query = query;
  const bool has_past = node.Has(kPastKeys);
  o.keys = BehindPast(f, has_past ? node.args()[kPastKeys] : nullptr, new_keys);
  o.values = BehindPast(f, has_past ? node.args()[kPastValues] : nullptr, new_values);
  HONE_RETURN_IF_ERROR(f.status());
  HONE_ASSIGN_OR_RETURN(o.scale, AttentionScale(node, ShapeOf(query)[3]));
  HONE_ASSIGN_OR_RETURN(o.softcap, node.Float("softcap", 0));
  HONE_ASSIGN_OR_RETURN(o.softmax_dtype, SoftmaxType(node, DtypeOf(query)));
  const int64_t keys = ShapeOf(o.keys)[2];
  HONE_ASSIGN_OR_RETURN(
      o.bias,
      Mask(node, ShapeOf(query)[2], keys).Bias(DtypeOf(query), keys - ShapeOf(new_keys)[2]));
  HONE_ASSIGN_OR_RETURN(const AttentionResults results, Attend(o));
  HONE_ASSIGN_OR_RETURN(const ir::Expr sees_any, SeesAny(o.bias));
  const ir::Expr guarded = Guarded(f, sees_any, results.output);
  const ir::Expr y = RankOf(node.args()[kQuery]) == 4 ? guarded : MergeHeads(f, guarded);
  const ir::Expr shown[] = {results.scores, results.capped, results.logits,
                            Guarded(f, sees_any, results.weights)};
  return f.Finish({y, o.keys, o.values, shown[mode]});
}

}  // namespace

void AddAttentionConverters(ConverterTable& table) { table["Attention"] = Attention; }

}  // namespace hone::frontend
