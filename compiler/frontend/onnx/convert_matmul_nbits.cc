// MatMulNBits of the domain com.microsoft: a product with weights of 2, 4 or 8 bits, a scale and a
// zero point for every block of them.
#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// (rows, bytes) as (rows, bytes * 8 / bits) numbers of `bits` bits, the lowest bits of a byte
// first.
ir::Expr Unpack(Formula& f, const ir::Expr& packed, int64_t bits) {
  if (bits == 8 || !packed) return packed;
  const int64_t per_byte = 8 / bits;
  std::vector<uint8_t> shifts(per_byte);
  for (int64_t i = 0; i < per_byte; ++i) shifts[i] = static_cast<uint8_t>(i * bits);
  const ir::Expr shift = ir::ConstantFromBytes({{1, 1, per_byte}, DataType::kUInt8}, shifts.data());
  const ir::Expr mask = ScalarConstant(static_cast<double>((1 << bits) - 1), DataType::kUInt8);
  const int64_t rows = ShapeOf(packed)[0];
  const int64_t bytes = ShapeOf(packed)[1];
  const ir::Expr shifted = f.Call("right_shift", {f.Reshape(packed, {rows, bytes, 1}), shift});
  return f.Reshape(f.Call("bitwise_and", {shifted, mask}), {rows, bytes * per_byte});
}

class PackedWeights {
 public:
  explicit PackedWeights(NodeReader& node) : node_(node) {}

  absl::Status Read() {
    HONE_ASSIGN_OR_RETURN(rows_, node_.Int("N", 0));
    HONE_ASSIGN_OR_RETURN(terms_, node_.Int("K", 0));
    HONE_ASSIGN_OR_RETURN(bits_, node_.Int("bits", 4));
    HONE_ASSIGN_OR_RETURN(block_, node_.Int("block_size", 0));
    HONE_RETURN_IF_ERROR(node_.Int("accuracy_level", 0).status());  // how much may be lost
    HONE_ASSIGN_OR_RETURN(const int64_t prepacked, node_.Int("weight_prepacked", 0));
    if (prepacked != 0) {
      return absl::UnimplementedError(
          "weights in the operator's own order were expected, found "
          "weight_prepacked, which is an order of one device");
    }
    constexpr int64_t kMost = int64_t{1} << 31;
    const bool fits = (bits_ == 2 || bits_ == 4 || bits_ == 8) && rows_ > 0 && terms_ > 0 &&
                      rows_ < kMost && terms_ < kMost && block_ > 0 && block_ < kMost &&
                      block_ * bits_ % 8 == 0;
    if (!fits) {
      return absl::InvalidArgumentError(
          fmt::format("N and K of 1 or more and whole bytes of 2, 4 or 8 bits were expected, found "
                      "N {}, K {}, bits {}, block_size {}",
                      rows_, terms_, bits_, block_));
    }
    blocks_ = (terms_ + block_ - 1) / block_;
    return absl::OkStatus();
  }

  int64_t rows() const { return rows_; }
  int64_t terms() const { return terms_; }

  // (N, K) real numbers.
  absl::StatusOr<ir::Expr> Real() {
    HONE_ASSIGN_OR_RETURN(const ir::Expr packed, Matrix(1, "B", blocks_ * (block_ * bits_ / 8)));
    HONE_ASSIGN_OR_RETURN(const ir::Expr scales, Matrix(2, "scales", blocks_));
    Formula f;
    const ir::Expr all = Unpack(f, packed, bits_);
    // The terms of a block stand together, unless g_idx says for each term which block's it is.
    const bool in_order = !node_.Has(4);
    const ir::Expr data =
        in_order ? f.Reshape(all, {rows_, blocks_, block_}) : f.Slice(all, 1, 0, terms_);
    ir::Expr block_of;
    if (!in_order) {
      HONE_ASSIGN_OR_RETURN(block_of, BlockOfTerm());
    }
    const auto each_term = [&](const ir::Expr& e) {
      return in_order ? f.Reshape(e, {rows_, blocks_, 1})
                      : f.Call("take", {e, block_of}, {{"axis", int64_t{1}}});
    };
    HONE_RETURN_IF_ERROR(f.status());
    HONE_ASSIGN_OR_RETURN(const ir::Expr real, Dequantized(f, data, scales, each_term));
    return in_order ? f.FinishOne(f.Slice(f.Reshape(real, {rows_, blocks_ * block_}), 1, 0, terms_))
                    : real;
  }

 private:
  // Zero points are packed as the data is, or real numbers, or the middle of the range.
  absl::StatusOr<ir::Expr> Dequantized(
      Formula& f, const ir::Expr& data, const ir::Expr& scales,
      const std::function<ir::Expr(const ir::Expr&)>& each_term) const {
    const ir::Expr scale = each_term(scales);
    if (node_.Has(3) && DtypeOf(node_.args()[3]) != DataType::kUInt8) {
      HONE_ASSIGN_OR_RETURN(const ir::Expr zero_points, Matrix(3, "zero_points", blocks_));
      const ir::Expr distance = f.Sub(f.Cast(data, DtypeOf(scales)), each_term(zero_points));
      return f.FinishOne(f.Mul(distance, scale));
    }
    const double middle = static_cast<double>(int64_t{1} << (bits_ - 1));
    ir::Expr zero_point = ScalarConstant(middle, DataType::kUInt8);
    if (node_.Has(3)) {
      HONE_ASSIGN_OR_RETURN(const ir::Expr bytes,
                            Matrix(3, "zero_points", (blocks_ * bits_ + 7) / 8));
      zero_point = each_term(f.Slice(Unpack(f, bytes, bits_), 1, 0, blocks_));
    }
    return f.FinishOne(f.Call("qnn.dequantize", {data, scale, zero_point}, {{"axis", int64_t{1}}}));
  }

  // Operand `i`, of whatever shape, as (N, columns).
  absl::StatusOr<ir::Expr> Matrix(size_t i, const char* what, int64_t columns) const {
    HONE_ASSIGN_OR_RETURN(const ir::Expr e, node_.Arg(i, what));
    if (e->type->tensor.ElementCount() == rows_ * columns) return ReshapedTo(e, {rows_, columns});
    return absl::InvalidArgumentError(fmt::format("{} of {} x {} elements was expected, found {}",
                                                  what, rows_, columns, e->type->ToString()));
  }

  absl::StatusOr<ir::Expr> BlockOfTerm() const {
    const ir::Expr& given = node_.args()[4];
    if (RankOf(given) == 1 && ShapeOf(given)[0] >= terms_) return SliceOf(given, 0, 0, terms_);
    return absl::InvalidArgumentError(fmt::format("g_idx of {} elements was expected, found {}",
                                                  terms_, given->type->ToString()));
  }

  NodeReader& node_;
  int64_t rows_ = 0;
  int64_t terms_ = 0;
  int64_t bits_ = 0;
  int64_t block_ = 0;
  int64_t blocks_ = 0;
};

Results MatMulNBits(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr a, node.Arg(0, "A"));
  PackedWeights weights(node);
  HONE_RETURN_IF_ERROR(weights.Read());
  if (RankOf(a) < 1 || ShapeOf(a).back() != weights.terms()) {
    return absl::InvalidArgumentError(fmt::format(
        "A with rows of {} elements was expected, found {}", weights.terms(), a->type->ToString()));
  }
  HONE_ASSIGN_OR_RETURN(const ir::Expr real, weights.Real());
  Formula f;
  Shape shape = ShapeOf(a);
  const int64_t count =
      std::accumulate(shape.begin(), shape.end() - 1, int64_t{1}, std::multiplies<>());
  ir::Expr product = f.Call("nn.dense", {f.Reshape(a, {count, weights.terms()}), real});
  if (node.Has(5)) {
    product = f.Call("nn.bias_add", {product, node.args()[5]}, {{"axis", int64_t{1}}});
  }
  shape.back() = weights.rows();
  return f.Finish({f.Reshape(product, shape)});
}

}  // namespace

void AddMatMulNBitsConverters(ConverterTable& table) {
  table["com.microsoft.MatMulNBits"] = MatMulNBits;
}

}  // namespace hone::frontend
