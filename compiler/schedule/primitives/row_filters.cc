#include "compiler/schedule/primitives/row_filters.h"

#include <utility>
#include <vector>

#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/primitives/matrix_products.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/stage_writer.h"
#include "compiler/schedule/primitives/toom_cook.h"
#include "compiler/schedule/primitives/weighted_sum.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;

namespace {

struct Depthwise : WeightedSum {
  explicit Depthwise(WeightedSum sum) : WeightedSum(std::move(sum)) {}

  Expr element;  // that the first tap of the window at these axes multiplies

  int64_t Extent(size_t axis) const { return result->shape[axis]; }
  int64_t Taps(size_t axis) const { return weight->shape[axis]; }
  // What the windows read at (y, x), in the place of height and width.
  Expr At(const std::vector<Expr>& at) const {
    loop::VarMap to;
    for (size_t d = 0; d < axes.size(); ++d) to[axes[d].get()] = at[d];
    return loop::Substitute(element, to);
  }
};

// `f(n, c, h + kh, w + kw) * weight[c, .., kh, kw]`, where f is any value.
bool TakeFactors(Depthwise* conv) {
  const Expr &channel = conv->sums[0], &tap_h = conv->sums[1], &tap_w = conv->sums[2];
  const Expr factor = loop::Substitute(conv->factor, {{channel.get(), Expr(0)}});
  if (!conv->weight_at[2].SameAs(tap_h) || !conv->weight_at[3].SameAs(tap_w) ||
      Loads(factor, conv->result)) {
    return false;
  }
  conv->element = loop::Substitute(factor, {{tap_h.get(), Expr(0)}, {tap_w.get(), Expr(0)}});
  const Expr again =
      conv->At({conv->axes[0], conv->axes[1], conv->axes[2] + tap_h, conv->axes[3] + tap_w});
  return loop::StructuralEqual(loop::Simplify(again, {}), loop::Simplify(factor, {}));
}

absl::StatusOr<Depthwise> MatchDepthwise(const loop::Nest& nest, const std::string& name) {
  HONE_ASSIGN_OR_RETURN(WeightedSum sum, MatchWeightedSum(nest, name));
  Depthwise conv(std::move(sum));
  if (conv.axes.size() != 4 || conv.Taps(1) != 1 || conv.result->dtype != DataType::kFloat32 ||
      !TakeFactors(&conv)) {
    return absl::FailedPreconditionError(
        fmt::format("the stage of '{}' must be a depthwise convolution of two axes, stride and "
                    "dilation one, of float32",
                    name));
  }
  return conv;
}

}  // namespace

absl::StatusOr<RowFilterStages> FilterRows(loop::Nest* nest, const Stage& stage, int64_t tile) {
  HONE_ASSIGN_OR_RETURN(const Depthwise conv, MatchDepthwise(*nest, stage.buffer()));
  const int64_t taps = conv.Taps(3), products = tile + taps - 1;
  if (tile < 2 || taps < 2 || products > kMostToomCookProducts) {
    return absl::FailedPreconditionError(fmt::format(
        "rows of 2 taps or more can be filtered by tiles of 2 results or more with up to "
        "{} products, not {} taps by {}",
        kMostToomCookProducts, taps, tile));
  }
  const ToomCook matrices = MakeToomCook(tile, taps);
  const auto times = [](const Matrix& matrix, const Expr& row, const std::vector<Expr>& vector) {
    return Chosen(MatrixProducts(matrix, vector, /*pairs=*/true), row);
  };
  const int64_t tiles = CeilDiv(conv.Extent(3), tile);
  const int64_t rows = conv.Extent(2) + conv.Taps(2) - 1;
  const int64_t width = conv.Extent(3) + taps - 1;  // of all windows
  StageWriter writer(nest, conv.result);
  const Buffer filter = writer.Compute(
      "filter", {conv.Extent(1), conv.Taps(2), products}, [&](const std::vector<Expr>& i) {
        return times(matrices.filter, i[2],
                     Line(taps, [&](int64_t k) { return Load(conv.weight, {i[0], 0, i[1], k}); }));
      });
  const Buffer data = writer.Compute(
      "data", {conv.Extent(0), conv.Extent(1), rows, tiles, products},
      [&](const std::vector<Expr>& i) {
        return times(matrices.data, i[4], Line(products, [&](int64_t k) {
                       const Expr x = i[3] * Expr(tile) + Expr(k);
                       const Expr element = conv.At({i[0], i[1], i[2], x});
                       if (tiles * tile == conv.Extent(3)) return element;
                       // The last tile reaches beyond what there is.
                       return Select(loop::Lt(x, width), element, loop::Const(0, element->dtype));
                     }));
      });
  const Buffer product = writer.Sum(
      "product", {conv.Extent(0), conv.Extent(1), conv.Extent(2), tiles, products}, {conv.Taps(2)},
      [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
        return Load(data, {i[0], i[1], i[2] + r[0], i[3], i[4]}) * Load(filter, {i[1], r[0], i[4]});
      });
  writer.Fill(conv.result, [&](const std::vector<Expr>& i) {
    return times(matrices.result, FloorMod(i[3], tile), Line(products, [&](int64_t k) {
                   return Load(product, {i[0], i[1], i[2], FloorDiv(i[3], tile), k});
                 }));
  });
  std::move(writer).Replace(conv.launch);
  return RowFilterStages{Stage(filter->name), Stage(data->name), Stage(product->name)};
}

}  // namespace hone::schedule
