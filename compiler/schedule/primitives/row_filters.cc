#include "compiler/schedule/primitives/row_filters.h"

#include <utility>
#include <vector>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/primitives/matrix_products.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/stage_writer.h"
#include "compiler/schedule/primitives/toom_cook.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

namespace {

struct Depthwise {
  Buffer result, weight;
  size_t launch = 0;  // of the stage
  std::vector<Expr> axes;
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

bool IsBinary(const Expr& e, loop::BinaryOp op) {
  return e->kind == loop::ExprKind::kBinary && e->binary_op == op;
}

// `result[n, c, h, w] += f(n, c, h + kh, w + kw) * weight[c, .., kh, kw]`, where f is any value, in
// loops over the one input channel and these taps.
bool IsUpdate(const Stmt& store, const Expr& channel, const std::vector<Expr>& taps,
              Depthwise* conv) {
  const Expr& value = store->value;
  if (!IsBinary(value, loop::BinaryOp::kAdd) || !loop::Accumulates(*store)) return false;
  const Expr& product = value->operands[1];
  if (!IsBinary(product, loop::BinaryOp::kMul)) return false;
  const Expr factor = loop::Substitute(product->operands[0], {{channel.get(), Expr(0)}});
  const Expr& weight = product->operands[1];
  if (weight->kind != loop::ExprKind::kLoad || weight->operands.size() != 4 ||
      !weight->operands[0].SameAs(conv->axes[1]) || !weight->operands[2].SameAs(taps[0]) ||
      !weight->operands[3].SameAs(taps[1]) || Loads(factor, conv->result)) {
    return false;
  }
  conv->weight = weight->buffer;
  conv->element = loop::Substitute(factor, {{taps[0].get(), Expr(0)}, {taps[1].get(), Expr(0)}});
  const Expr again =
      conv->At({conv->axes[0], conv->axes[1], conv->axes[2] + taps[0], conv->axes[3] + taps[1]});
  return loop::StructuralEqual(loop::Simplify(again, {}), loop::Simplify(factor, {}));
}

absl::StatusOr<Depthwise> MatchDepthwise(const loop::Nest& nest, const std::string& name) {
  Depthwise conv;
  HONE_ASSIGN_OR_RETURN(conv.result, FindBuffer(nest, name));
  HONE_ASSIGN_OR_RETURN(conv.launch, WriterOf(nest, conv.result));
  HONE_ASSIGN_OR_RETURN(const Stage stage, MatchStage(nest, conv.launch, conv.result));
  absl::Status no = absl::FailedPreconditionError(fmt::format(
      "the stage of '{}' must be a depthwise convolution of two axes, stride and dilation one, of "
      "float32",
      name));
  if (stage.loops.size() != 4 || conv.result->dtype != DataType::kFloat32 ||
      stage.body->kind != StmtKind::kSeq || stage.body->body.size() != 2 ||
      stage.body->body[0]->kind != StmtKind::kStore) {
    return no;
  }
  const Expr& first = stage.body->body[0]->value;
  if (first->kind != loop::ExprKind::kFloat || first->float_value != 0) return no;
  for (const Stmt& loop : stage.loops) conv.axes.push_back(loop->var);
  std::vector<Stmt> sums;
  Stmt s = stage.body->body[1];
  for (; s->kind == StmtKind::kFor; s = s->body[0]) sums.push_back(s);
  if (sums.size() != 3 || s->kind != StmtKind::kStore) return no;
  if (!IsUpdate(s, sums[0]->var, {sums[1]->var, sums[2]->var}, &conv)) return no;
  if (conv.weight->dtype != conv.result->dtype || conv.weight->shape[1] != 1) return no;
  for (size_t d = 1; d < 4; ++d) {
    int64_t min = 0, extent = 0;
    if (!loop::IsConstInt(sums[d - 1]->min, &min) || min != 0 ||
        !loop::IsConstInt(sums[d - 1]->extent, &extent) || extent != conv.Taps(d)) {
      return no;
    }
  }
  return conv;
}

template <typename Element>
std::vector<Expr> Line(int64_t count, const Element& element) {
  std::vector<Expr> line;
  for (int64_t k = 0; k < count; ++k) line.push_back(element(Expr(k)));
  return line;
}

}  // namespace

absl::StatusOr<RowFilterStages> FilterRows(loop::Nest* nest, const std::string& buffer,
                                           int64_t tile) {
  HONE_ASSIGN_OR_RETURN(const Depthwise conv, MatchDepthwise(*nest, buffer));
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
        return times(matrices.filter, i[2], Line(taps, [&](const Expr& k) {
                       return Load(conv.weight, {i[0], 0, i[1], k});
                     }));
      });
  const Buffer data = writer.Compute(
      "data", {conv.Extent(0), conv.Extent(1), rows, tiles, products},
      [&](const std::vector<Expr>& i) {
        return times(matrices.data, i[4], Line(products, [&](const Expr& k) {
                       const Expr x = i[3] * Expr(tile) + k;
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
    return times(matrices.result, FloorMod(i[3], tile), Line(products, [&](const Expr& k) {
                   return Load(product, {i[0], i[1], i[2], FloorDiv(i[3], tile), k});
                 }));
  });
  std::move(writer).Replace(conv.launch);
  return RowFilterStages{filter->name, data->name, product->name};
}

}  // namespace hone::schedule
