#include "compiler/passes/scatter_ranges.h"

#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/attrs.h"
#include "compiler/ops/typing.h"
#include "compiler/passes/byte_tensor.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using Ints = std::vector<int64_t>;

// Larger tables would take longer to read than they save.
constexpr int64_t kMostIndices = 1 << 22;

// Positions along the first axes of the data: first indices and extents.
struct Box {
  Ints first;
  Ints extent;
};

int64_t CountOf(const Ints& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// The indices from the front; nullopt where they are not known.
std::optional<Ints> KnownIndices(const Expr& node) {
  const Expr& indices = node->args[1];
  if (indices->type->tensor.ElementCount() == 0) return std::nullopt;
  return KnownInts(indices, kMostIndices);
}

// The index of an axis from the front; nullopt where it lies outside.
std::optional<int64_t> FromFront(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  return index >= 0 && index < extent ? std::optional(index) : std::nullopt;
}

// In scatter_nd each row of the indices is a position in the first axes, and they go through the
// box as its elements lie in memory.
std::optional<Box> BoxOfPositions(const Expr& node) {
  const Ints& data = node->args[0]->type->tensor.shape;
  const auto depth = static_cast<size_t>(node->args[1]->type->tensor.shape.back());
  const std::optional<Ints> indices = KnownIndices(node);
  if (!indices) return std::nullopt;
  const size_t count = indices->size() / depth;
  const auto at = [&](size_t row, size_t axis) {
    return FromFront((*indices)[row * depth + axis], data[axis]);
  };
  Box box;
  for (size_t axis = 0; axis < depth; ++axis) {
    const auto first = at(0, axis), last = at(count - 1, axis);
    if (!first || !last || *first > *last) return std::nullopt;
    box.first.push_back(*first);
    box.extent.push_back(*last - *first + 1);
  }
  if (CountOf(box.extent) != static_cast<int64_t>(count)) return std::nullopt;
  for (size_t row = 0; row < count; ++row) {
    auto rest = static_cast<int64_t>(row);
    for (size_t axis = depth; axis-- > 0; rest /= box.extent[axis]) {
      if (at(row, axis) != box.first[axis] + rest % box.extent[axis]) return std::nullopt;
    }
  }
  return box;
}

// In scatter_elements the index depends on nothing but where it stands along the axis, a step
// each.
std::optional<Box> BoxOfElements(const Expr& node) {
  const Ints& data = node->args[0]->type->tensor.shape;
  Box box{.first = Ints(data.size(), 0), .extent = node->args[1]->type->tensor.shape};
  const auto axis =
      static_cast<size_t>(ops::AxisFromFront(ops::IntAttr(node->attrs, "axis", 0), data.size()));
  const std::optional<Ints> indices = KnownIndices(node);
  if (!indices) return std::nullopt;
  const std::optional<int64_t> first = FromFront((*indices)[0], data[axis]);
  if (!first) return std::nullopt;
  box.first[axis] = *first;
  const int64_t behind =
      CountOf(Ints(box.extent.begin() + static_cast<ptrdiff_t>(axis) + 1, box.extent.end()));
  for (size_t i = 0; i < indices->size(); ++i) {
    const int64_t step = static_cast<int64_t>(i) / behind % box.extent[axis];
    if (FromFront((*indices)[i], data[axis]) != *first + step) return std::nullopt;
  }
  return box;
}

Expr Slice(const Expr& data, size_t axis, int64_t begin, int64_t end) {
  return MakeTyped(
      "strided_slice", {data},
      {{"begin", Ints{begin}}, {"end", Ints{end}}, {"axes", Ints{static_cast<int64_t>(axis)}}});
}

// The data with the updates in the box, which begins at `axis`: before it the data is the box's.
Expr Joined(const Expr& data, const Expr& updates, const Box& box, size_t axis) {
  const Ints& shape = data->type->tensor.shape;
  while (axis < box.first.size() && box.extent[axis] == shape[axis]) ++axis;
  if (axis == box.first.size()) return updates;
  const int64_t begin = box.first[axis], end = begin + box.extent[axis];
  Expr inner = Slice(data, axis, begin, end);
  if (inner) inner = Joined(inner, updates, box, axis + 1);
  std::vector<Expr> parts;
  if (begin > 0) parts.push_back(Slice(data, axis, 0, begin));
  parts.push_back(inner);
  if (end < shape[axis]) parts.push_back(Slice(data, axis, end, shape[axis]));
  ir::Type tuple{.is_tuple = true};
  for (const Expr& part : parts) {
    if (!part) return nullptr;
    tuple.fields.push_back(*part->type);
  }
  return MakeTyped("concatenate", {ir::WithType(ir::Tuple(std::move(parts)), std::move(tuple))},
                   {{"axis", static_cast<int64_t>(axis)}});
}

Expr ScatterOfBox(const Expr& node) {
  const bool by_positions = ir::IsCall(node, "scatter_nd");
  if (!by_positions && !ir::IsCall(node, "scatter_elements")) return nullptr;
  if (ops::StringAttr(node->attrs, "reduction", "none") != "none") return nullptr;
  const std::optional<Box> box = by_positions ? BoxOfPositions(node) : BoxOfElements(node);
  if (!box) return nullptr;
  const Ints& data = node->args[0]->type->tensor.shape;
  Ints shape = box->extent;
  shape.insert(shape.end(), data.begin() + static_cast<ptrdiff_t>(shape.size()), data.end());
  Expr updates = node->args[2];
  if (updates->type->tensor.shape != shape) {
    updates = MakeTyped("reshape", {updates}, {{"newshape", shape}});
  }
  return updates ? Joined(node->args[0], updates, *box, 0) : nullptr;
}

}  // namespace

Expr JoinScatters(const Expr& function) {
  return ir::Rewrite(function, [](const Expr& node) {
    const Expr joined = ScatterOfBox(node);
    return joined ? joined : node;
  });
}

}  // namespace hone::passes
