#include "compiler/frontend/tensorflow/placeholder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/name_list.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

std::string TextOf(const ShapeAttr& shape) {
  std::vector<std::string> extents;
  for (const int64_t dim : shape.dims) {
    extents.push_back(dim < 0 ? "?" : fmt::format("{}", dim));
  }
  return fmt::format("{}", fmt::join(extents, ","));
}

bool Fits(const Shape& found, const ShapeAttr& expected) {
  if (!expected.has_rank) return true;
  bool fits = found.size() == expected.dims.size();
  for (size_t i = 0; fits && i < found.size(); ++i) {
    fits = expected.dims[i] < 0 || expected.dims[i] == found[i];
  }
  return fits;
}

absl::StatusOr<ir::Expr> Bound(DataType dtype, const ShapeAttr& shape, const TensorData& value) {
  if (value.dtype == dtype && Fits(value.shape, shape)) {
    return MakeConstant(value.shape, value.dtype, value.bytes);
  }
  return absl::InvalidArgumentError(
      fmt::format("a value of {} and shape ({}) was expected, found {} ({})", Name(dtype),
                  TextOf(shape), Name(value.dtype), fmt::join(value.shape, ",")));
}

// The placeholder's own shape, completed by a flag or by the value at hand.
absl::StatusOr<Shape> KnownShape(const Node& node, const ShapeAttr& own,
                                 const ImportOptions& options) {
  if (const auto given = options.shapes.find(node.name); given != options.shapes.end()) {
    if (Fits(given->second, own)) return given->second;
    return absl::InvalidArgumentError(
        fmt::format("--shape {}={}: the model's input has the shape {}", ShellWord(node.name),
                    fmt::join(given->second, ","), TextOf(own)));
  }
  const auto value = options.values.find(node.name);
  if (value != options.values.end() && Fits(value->second.shape, own)) return value->second.shape;
  bool known = own.has_rank;
  for (const int64_t dim : own.dims) known = known && dim >= 0;
  if (known) return own.dims;
  return absl::InvalidArgumentError(
      fmt::format("its extents are not all known: give numbers for them with "
                  "--shape {0}={1}",
                  ShellWord(node.name), own.has_rank ? TextOf(own) : "..."));
}

}  // namespace

absl::StatusOr<ir::Expr> PlaceholderOf(const Node& node, const ImportOptions& options) {
  const auto dtype_attr = node.attrs.find("dtype");
  const TypeAttr* const type =
      dtype_attr == node.attrs.end() ? nullptr : std::get_if<TypeAttr>(&dtype_attr->second);
  if (type == nullptr) return absl::InvalidArgumentError("attribute dtype is missing");
  HONE_ASSIGN_OR_RETURN(const DataType dtype, FromTypeNumber(type->number));
  ShapeAttr own;
  if (const auto it = node.attrs.find("shape"); it != node.attrs.end()) {
    const auto* const shape = std::get_if<ShapeAttr>(&it->second);
    if (shape == nullptr) {
      return absl::InvalidArgumentError("attribute shape was expected to be a shape");
    }
    own = *shape;
  }
  if (const auto it = options.constants.find(node.name); it != options.constants.end()) {
    return Bound(dtype, own, it->second);
  }
  HONE_ASSIGN_OR_RETURN(Shape shape, KnownShape(node, own, options));
  HONE_RETURN_IF_ERROR(TensorBytes(shape, dtype).status());
  return ir::TensorVar(node.name, std::move(shape), dtype);
}

}  // namespace hone::frontend::tf
