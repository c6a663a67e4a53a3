// LinearAttention: a state of each head that every position changes and is read by, unrolled.
#include <fmt/format.h>

#include <cmath>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr int64_t kMostSteps = 1024;
constexpr int64_t kNodesOfAStep = 24;

class LinearAttention {
 public:
  explicit LinearAttention(NodeReader& node) : node_(node) {}

  Results Run() {
    HONE_RETURN_IF_ERROR(ReadAttributes());
    HONE_RETURN_IF_ERROR(ReadShapes());
    HONE_RETURN_IF_ERROR(node_.Unroll(steps_ * kNodesOfAStep));
    const ir::Expr query = Operand(0);
    const ir::Expr key = Operand(1);
    const ir::Expr value = Operand(2);
    const ir::Expr decay = gates_ ? f_.Call("exp", {Operand(4)}) : nullptr;
    const ir::Expr beta = corrects_ ? Operand(5) : nullptr;
    ir::Expr state = node_.Has(3) ? f_.Wide(node_.args()[3])
                                  : ScalarConstant(0, DataType::kFloat32,
                                                   {batch_, heads_, key_size_, value_size_});
    std::vector<ir::Expr> read;
    for (int64_t t = 0; t < steps_; ++t) {
      // Elements of a head of the state lie by key (axis 2) and by value (axis 3).
      const ir::Expr k = At(key, t, {batch_, heads_, key_size_, 1});
      ir::Expr v = At(value, t, {batch_, heads_, 1, value_size_});
      if (gates_) state = f_.Mul(state, At(decay, t, {batch_, heads_, decay_size_, 1}));
      if (corrects_) {
        const ir::Expr held = SumOverKeys(f_.Mul(state, k), {batch_, heads_, 1, value_size_}, 2);
        v = f_.Mul(At(beta, t, {batch_, beta_size_, 1, 1}), f_.Sub(v, held));
      }
      state = f_.Add(state, f_.Mul(k, v));
      const ir::Expr q = At(query, t, {batch_, heads_, group_, key_size_, 1});
      const ir::Expr shared = f_.Reshape(state, {batch_, heads_, 1, key_size_, value_size_});
      read.push_back(SumOverKeys(f_.Mul(q, shared), {batch_, 1, heads_ * group_ * value_size_}, 3));
    }
    ir::Expr output = f_.Concat(std::move(read), 1);
    if (output) output = f_.Mul(output, f_.Number(scale_, output));
    const DataType of_query = DtypeOf(node_.args()[0]);
    const DataType of_state = node_.Has(3) ? DtypeOf(node_.args()[3]) : of_query;
    return f_.Finish({f_.Cast(output, of_query), f_.Cast(state, of_state)});
  }

 private:
  absl::Status ReadAttributes() {
    HONE_ASSIGN_OR_RETURN(const std::string rule, node_.String("update_rule", "gated_delta"));
    gates_ = rule == "gated" || rule == "gated_delta";
    corrects_ = rule == "delta" || rule == "gated_delta";
    if (!gates_ && !corrects_ && rule != "linear") {
      return absl::InvalidArgumentError(fmt::format(
          "update_rule: linear, gated, delta or gated_delta was expected, found {}", rule));
    }
    if (gates_ != node_.Has(4) || corrects_ != node_.Has(5)) {
      return absl::InvalidArgumentError(fmt::format(
          "decay was expected of the gated update rules and beta of those with delta, alone; "
          "update_rule is {}",
          rule));
    }
    HONE_RETURN_IF_ERROR(node_.Int("chunk_size", 64).status());  // a hint
    HONE_ASSIGN_OR_RETURN(heads_, node_.Int("kv_num_heads", 0));
    HONE_ASSIGN_OR_RETURN(const int64_t query_heads, node_.Int("q_num_heads", 0));
    if (heads_ < 1 || query_heads < 1 || query_heads % heads_ != 0) {
      return absl::InvalidArgumentError(
          fmt::format("q_num_heads of a multiple of kv_num_heads was expected, found {} and {}",
                      query_heads, heads_));
    }
    group_ = query_heads / heads_;
    HONE_ASSIGN_OR_RETURN(scale_, node_.Float("scale", 0));
    return absl::OkStatus();
  }

  absl::Status ReadShapes() {
    for (const size_t i : {0, 1, 2, 4, 5}) {
      if (i > 2 && !node_.Has(i)) continue;
      HONE_ASSIGN_OR_RETURN(const ir::Expr e, node_.Arg(i, "operand"));
      const bool fits = RankOf(e) == 3 && IsFloat(DtypeOf(e)) &&
                        ShapeOf(e)[0] == ShapeOf(node_.args()[0])[0] &&
                        ShapeOf(e)[1] == ShapeOf(node_.args()[0])[1];
      if (!fits) return Unfit(i);
    }
    const Shape& query = ShapeOf(node_.args()[0]);
    batch_ = query[0];
    steps_ = query[1];
    key_size_ = query[2] / (heads_ * group_);
    value_size_ = ShapeOf(node_.args()[2])[2] / heads_;
    if (query[2] != heads_ * group_ * key_size_ || key_size_ == 0) return Unfit(0);
    if (ShapeOf(node_.args()[1])[2] != heads_ * key_size_) return Unfit(1);
    if (ShapeOf(node_.args()[2])[2] != heads_ * value_size_ || value_size_ == 0) return Unfit(2);
    if (node_.Has(3) && ShapeOf(node_.args()[3]) != Shape{batch_, heads_, key_size_, value_size_}) {
      return Unfit(3);
    }
    if (gates_) {
      const int64_t extent = ShapeOf(node_.args()[4])[2];
      if (extent != heads_ && extent != heads_ * key_size_) return Unfit(4);
      decay_size_ = extent == heads_ ? 1 : key_size_;
    }
    if (corrects_) {
      beta_size_ = ShapeOf(node_.args()[5])[2];
      if (beta_size_ != heads_ && beta_size_ != 1) return Unfit(5);
    }
    if (scale_ == 0) scale_ = 1 / std::sqrt(static_cast<double>(key_size_));
    if (steps_ >= 1 && steps_ <= kMostSteps) return absl::OkStatus();
    return absl::UnimplementedError(
        fmt::format("sequences of 1 to {} positions were expected, for they are unrolled; found {}",
                    kMostSteps, steps_));
  }

  absl::Status Unfit(size_t operand) const {
    static constexpr const char* kNames[] = {"query",      "key",   "value",
                                             "past_state", "decay", "beta"};
    return absl::InvalidArgumentError(
        fmt::format("{} does not fit {} heads and the other operands: found {}", kNames[operand],
                    heads_, node_.args()[operand]->type->ToString()));
  }

  ir::Expr Operand(size_t i) { return f_.Wide(node_.args()[i]); }

  // A position of (batch, positions, elements).
  ir::Expr At(const ir::Expr& e, int64_t t, const Shape& shape) {
    return f_.Reshape(f_.Slice(e, 1, t, t + 1), shape);
  }

  ir::Expr SumOverKeys(const ir::Expr& e, const Shape& shape, int64_t axis) {
    return f_.Reshape(f_.Call("sum", {e}, {{"axis", Shape{axis}}}), shape);
  }

  NodeReader& node_;
  Formula f_;
  bool gates_ = false;
  bool corrects_ = false;
  double scale_ = 0;
  int64_t heads_ = 0;  // of keys and values
  int64_t group_ = 0;  // heads of the query that share one of these
  int64_t batch_ = 0;
  int64_t steps_ = 0;
  int64_t key_size_ = 0;
  int64_t value_size_ = 0;
  int64_t decay_size_ = 0;
  int64_t beta_size_ = 0;
};

}  // namespace

void AddLinearAttentionConverters(ConverterTable& table) {
  table["LinearAttention"] = [](NodeReader& node) { return LinearAttention(node).Run(); };
}

}  // namespace hone::frontend
