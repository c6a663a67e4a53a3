// RotaryEmbedding, of ONNX's own domain and of com.microsoft.
#include <fmt/format.h>

#include "compiler/frontend/onnx/attention.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/rotary.h"
#include "support/status.h"

namespace hone::frontend {

absl::StatusOr<ir::Expr> Rotate(const ir::Expr& x, const ir::Expr& cosines, const ir::Expr& sines,
                                int64_t turned, bool interleaved) {
  const Shape& shape = ShapeOf(x);
  const int64_t size = RankOf(x) == 4 ? shape[3] : 0;
  const int64_t part = turned == 0 ? size : turned;
  const int64_t half = part / 2;
  const bool fits = RankOf(x) == 4 && part >= 2 && part % 2 == 0 && part <= size &&
                    RankOf(cosines) == 3 && ShapeOf(cosines) == ShapeOf(sines) &&
                    (ShapeOf(cosines)[0] == 1 || ShapeOf(cosines)[0] == shape[0]) &&
                    ShapeOf(cosines)[1] == shape[2] && ShapeOf(cosines)[2] == half;
  if (!fits) {
    return absl::InvalidArgumentError(
        fmt::format("cosines and sines of each position for half of the {} elements that turn of "
                    "{} were expected, found {} and {}",
                    part, x->type->ToString(), cosines->type->ToString(), sines->type->ToString()));
  }
  Formula f;
  const auto each_head = [&](const ir::Expr& e) {
    return f.Reshape(e, {ShapeOf(e)[0], 1, ShapeOf(e)[1], half});
  };
  const ir::Expr c = each_head(cosines);
  const ir::Expr s = each_head(sines);
  const Shape pairs = interleaved ? Shape{shape[0], shape[1], shape[2], half, 2}
                                  : Shape{shape[0], shape[1], shape[2], 2, half};
  const int64_t axis = interleaved ? 4 : 3;
  const ir::Expr all = f.Reshape(f.Slice(x, 3, 0, part), pairs);
  const auto member = [&](int64_t i) {
    return f.Reshape(f.Slice(all, axis, i, i + 1), {shape[0], shape[1], shape[2], half});
  };
  const ir::Expr a = member(0);
  const ir::Expr b = member(1);
  Shape one = pairs;
  one[axis] = 1;
  const ir::Expr real = f.Reshape(f.Sub(f.Mul(c, a), f.Mul(s, b)), one);
  const ir::Expr imaginary = f.Reshape(f.Add(f.Mul(s, a), f.Mul(c, b)), one);
  ir::Expr y = f.Reshape(f.Concat({real, imaginary}, axis), {shape[0], shape[1], shape[2], part});
  if (part != size) y = f.Concat({y, f.Slice(x, 3, part, size)}, 3);
  return f.FinishOne(y);
}

namespace {

// (batch, positions, heads * elements) as four axes; those of a tensor that has them as they are.
absl::StatusOr<ir::Expr> WithHeads(const ir::Expr& x, int64_t heads) {
  if (RankOf(x) == 4) return x;
  return SplitHeads(x, heads, "the input");
}

Results Rotated(const ir::Expr& x, int64_t heads, const ir::Expr& cosines, const ir::Expr& sines,
                int64_t turned, bool interleaved) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr split, WithHeads(x, heads));
  HONE_ASSIGN_OR_RETURN(const ir::Expr y, Rotate(split, cosines, sines, turned, interleaved));
  Formula f;
  return f.Finish({RankOf(x) == 4 ? y : MergeHeads(f, y)});
}

ir::Expr Rows(Formula& f, const ir::Expr& cache, const ir::Expr& positions) {
  return f.Call("take", {cache, positions}, {{"axis", int64_t{0}}});
}

absl::Status CheckCache(const ir::Expr& cache, const ir::Expr& positions) {
  if (RankOf(cache) == 2 && RankOf(positions) == 2) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("caches (positions, elements) and position_ids (batch, positions) were expected, "
                  "found {} and {}",
                  cache->type->ToString(), positions->type->ToString()));
}

Results RotaryEmbedding(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(ir::Expr cosines, node.Arg(1, "cos_cache"));
  HONE_ASSIGN_OR_RETURN(ir::Expr sines, node.Arg(2, "sin_cache"));
  HONE_ASSIGN_OR_RETURN(const int64_t heads, node.Int("num_heads", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t turned, node.Int("rotary_embedding_dim", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t interleaved, node.Int("interleaved", 0));
  if (node.Has(3)) {
    HONE_RETURN_IF_ERROR(CheckCache(cosines, node.args()[3]));
    Formula f;
    cosines = Rows(f, cosines, node.args()[3]);
    sines = Rows(f, sines, node.args()[3]);
    HONE_RETURN_IF_ERROR(f.status());
  }
  return Rotated(x, heads, cosines, sines, turned, interleaved != 0);
}

// One number in the place of position_ids is where the first position is.
ir::Expr Positions(Formula& f, const ir::Expr& given, int64_t count) {
  if (given->type->tensor.ElementCount() != 1 || RankOf(given) == 2) return given;
  return f.Add(f.Reshape(given, {1, 1}), f.Cast(ColumnNumbers(count), DtypeOf(given)));
}

Results MicrosoftRotaryEmbedding(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr given, node.Arg(1, "position_ids"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr cos_cache, node.Arg(2, "cos_cache"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr sin_cache, node.Arg(3, "sin_cache"));
  HONE_ASSIGN_OR_RETURN(int64_t heads, node.Int("num_heads", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t turned, node.Int("rotary_embedding_dim", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t interleaved, node.Int("interleaved", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t packed, node.Int("is_packed_batching", 0));
  HONE_ASSIGN_OR_RETURN(const double scale, node.Float("scale", 1));
  if (packed != 0 || scale != 1) {
    return absl::UnimplementedError(fmt::format(
        "Hone has is_packed_batching of 0 and scale of 1, found {} and {}", packed, scale));
  }
  if (RankOf(x) != 3 && RankOf(x) != 4) {
    return absl::InvalidArgumentError("an input of 3 or 4 axes was expected, found " +
                                      x->type->ToString());
  }
  // Without num_heads a head has twice the elements of a row of the caches.
  if (heads == 0 && RankOf(cos_cache) == 2 && RankOf(x) == 3) {
    heads = ShapeOf(x)[2] / std::max<int64_t>(2 * ShapeOf(cos_cache)[1], 1);
  }
  HONE_RETURN_IF_ERROR(ChargePositions(node, ShapeOf(x)[RankOf(x) - 2]));
  Formula f;
  const ir::Expr positions = Positions(f, given, ShapeOf(x)[RankOf(x) - 2]);
  HONE_RETURN_IF_ERROR(f.status());
  HONE_RETURN_IF_ERROR(CheckCache(cos_cache, positions));
  const ir::Expr cosines = Rows(f, cos_cache, positions);
  const ir::Expr sines = Rows(f, sin_cache, positions);
  HONE_RETURN_IF_ERROR(f.status());
  return Rotated(x, heads, cosines, sines, turned, interleaved != 0);
}

}  // namespace

void AddRotaryConverters(ConverterTable& table) {
  table["RotaryEmbedding"] = RotaryEmbedding;
  table["com.microsoft.RotaryEmbedding"] = MicrosoftRotaryEmbedding;
}

}  // namespace hone::frontend
