#include "compiler/passes/pieces.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/ir/node_map.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/reshape.h"
#include "compiler/ops/typing.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using Shape = std::vector<int64_t>;

// Where every concatenation joins the last one with itself, there are twice the pieces a step. What
// could be of use has at most one for each operand.
constexpr size_t kMostPieces = 1 << 16;

// A tensor in memory.
struct Laid {
  Layout layout;
  std::vector<Piece> pieces;
};

int64_t Product(Shape::const_iterator begin, Shape::const_iterator end) {
  int64_t product = 1;
  for (; begin != end; ++begin) product *= *begin;
  return product;
}

// Whether elements lie in the order of their indices, without pads: blocks of channels of a single
// pixel do.
bool LiesInOrder(const Layout& layout, const Shape& shape) {
  if (layout.IsRowMajor()) return true;
  const Shape physical = layout.PhysicalShape(shape);
  if (Product(physical.begin(), physical.end()) != Product(shape.begin(), shape.end())) {
    return false;
  }
  int last = -1;
  for (size_t i = 0; i < physical.size(); ++i) {
    if (physical[i] == 1) continue;
    if (layout.dims()[i].axis < last) return false;
    last = layout.dims()[i].axis;
  }
  return true;
}

// Row-major stands for all layouts in which a tensor lies in order.
Layout Plain(const Layout& layout, const Shape& shape) {
  return LiesInOrder(layout, shape) ? Layout::RowMajor(layout.rank()) : layout;
}

uint64_t SizeBytesOf(const ir::TensorType& type, const Layout& layout) {
  return static_cast<uint64_t>(layout.SizeBytes(type.shape, type.dtype));
}

// The place of an axis among the physical dimensions; nullopt where a tensor of the shape is not
// cut along the axis into runs of memory.
std::optional<size_t> OutermostAt(const Layout& layout, const Shape& shape, int64_t axis) {
  const Shape physical = layout.PhysicalShape(shape);
  for (size_t i = 0; i < physical.size(); ++i) {
    if (layout.dims()[i].axis == axis && layout.dims()[i].factor == 0) return i;
    if (physical[i] != 1) return std::nullopt;
  }
  return std::nullopt;
}

// The first element of a slice that is one run of its data, both in this layout; nullopt where it
// is not.
std::optional<int64_t> FirstOfSlice(const ir::ExprNode& slice, const Layout& layout) {
  const Shape& data = ShapeOf(*slice.args[0]);
  const Shape& result = ShapeOf(slice);
  const Shape begin = ops::IntsAttr(slice.attrs, "begin");
  const Shape strides = ops::IntsAttr(slice.attrs, "strides");
  const Shape axes = ops::IntsAttr(slice.attrs, "axes");
  const Shape physical = layout.PhysicalShape(data);
  int64_t first = 0;
  for (size_t i = 0; i < begin.size(); ++i) {
    const int64_t axis = slice.attrs.contains("axes") ? axes[i] : static_cast<int64_t>(i);
    const int64_t at = ops::AxisFromFront(axis, data.size());
    const int64_t extent = data[at];
    if (!strides.empty() && strides[i] != 1) return std::nullopt;
    if (result[at] == extent) continue;
    // Axes before one that is cut have one position each.
    const std::optional<size_t> place = OutermostAt(layout, result, at);
    if (!place) return std::nullopt;
    const int64_t from =
        std::clamp<int64_t>(begin[i] < 0 ? begin[i] + extent : begin[i], 0, extent);
    const int64_t end = from + result[at];
    const int64_t block = layout.BlockOf(static_cast<int>(at));
    // Lanes behind an end within a block would be no zeros.
    if (from % block != 0 || (end % block != 0 && end != extent)) return std::nullopt;
    first += from / block *
             Product(physical.begin() + static_cast<ptrdiff_t>(*place) + 1, physical.end());
  }
  return first;
}

// Joined along an axis with nothing before it, in whole blocks.
bool JoinsInOrder(const ir::ExprNode& concatenate, const Layout& layout) {
  const int64_t axis =
      ops::AxisFromFront(ops::IntAttr(concatenate.attrs, "axis", 0), ShapeOf(concatenate).size());
  if (!OutermostAt(layout, ShapeOf(concatenate), axis)) return false;
  const int64_t block = layout.BlockOf(static_cast<int>(axis));
  const std::vector<ir::Expr>& parts = concatenate.args[0]->args;
  return std::all_of(parts.begin(), parts.end() - 1,
                     [&](const ir::Expr& part) { return ShapeOf(*part)[axis] % block == 0; });
}

// Follows what a function does to its operands.
class PieceFinder {
 public:
  PieceFinder(const ir::ExprNode& function, const ir::LayoutSignature& signature) {
    const std::vector<ir::Expr> params = ir::Params(function);
    for (size_t i = 0; i < params.size(); ++i) {
      const Layout& layout = signature.operands[i];
      laid_[params[i].get()] = {.layout = Plain(layout, ShapeOf(*params[i])),
                                .pieces = {{i, 0, SizeBytesOf(params[i]->type->tensor, layout)}}};
    }
  }

  std::optional<Laid> Of(const ir::Expr& body) {
    for (const ir::Expr& node : ir::PostOrder(body)) {
      if (laid_.contains(node.get()) || node->kind == ir::ExprKind::kTuple) continue;
      std::optional<Laid> found = OfCall(*node);
      if (!found) return std::nullopt;
      laid_[node.get()] = *std::move(found);
    }
    return laid_.at(body.get());
  }

 private:
  std::optional<Laid> OfCall(const ir::ExprNode& node) const {
    if (node.kind != ir::ExprKind::kCall || node.callee || node.args.empty()) return std::nullopt;
    if (node.name == "concatenate") return Join(node);
    const auto found = laid_.find(node.args[0].get());
    if (found == laid_.end()) return std::nullopt;
    const Laid& data = found->second;
    if (node.name == "copy" || node.name == "layout_transform") return data;
    if (node.name == "strided_slice") return Cut(node, data);
    if (!ops::OnlyReshapes(node.name) || !data.layout.IsRowMajor()) return std::nullopt;
    return Laid{Layout::RowMajor(static_cast<int>(ShapeOf(node).size())), data.pieces};
  }

  std::optional<Laid> Join(const ir::ExprNode& node) const {
    Laid all;
    for (const ir::Expr& part : node.args[0]->args) {
      const auto found = laid_.find(part.get());
      if (found == laid_.end()) return std::nullopt;
      const Laid& laid = found->second;
      if (part == node.args[0]->args[0]) all.layout = laid.layout;
      if (laid.layout != all.layout) return std::nullopt;
      if (laid.pieces.size() > kMostPieces - all.pieces.size()) return std::nullopt;
      all.pieces.insert(all.pieces.end(), laid.pieces.begin(), laid.pieces.end());
    }
    return JoinsInOrder(node, all.layout) ? std::optional(std::move(all)) : std::nullopt;
  }

  static std::optional<Laid> Cut(const ir::ExprNode& node, const Laid& data) {
    const std::optional<int64_t> first = FirstOfSlice(node, data.layout);
    if (!first) return std::nullopt;
    const ir::TensorType& type = node.type->tensor;
    uint64_t skip = static_cast<uint64_t>(*first) * static_cast<uint64_t>(SizeBytes(type.dtype));
    uint64_t left = SizeBytesOf(type, data.layout);
    Laid cut{.layout = data.layout, .pieces = {}};
    for (Piece piece : data.pieces) {
      const uint64_t skipped = std::min(skip, piece.size);
      skip -= skipped;
      piece.begin += skipped;
      piece.size = std::min(piece.size - skipped, left);
      left -= piece.size;
      if (piece.size > 0) cut.pieces.push_back(piece);
    }
    return cut;
  }

  ir::NodeMap<Laid> laid_;
};

}  // namespace

std::optional<std::vector<Piece>> PiecesOf(const ir::ExprNode& function,
                                           const ir::LayoutSignature& signature) {
  const ir::Expr body = ir::Body(function);
  if (body->type->is_tuple || body->type->tensor.ElementCount() == 0) return std::nullopt;
  std::optional<Laid> found = PieceFinder(function, signature).Of(body);
  if (!found || found->layout != Plain(signature.results[0], ShapeOf(*body))) return std::nullopt;
  return std::move(found->pieces);
}

}  // namespace hone::passes
