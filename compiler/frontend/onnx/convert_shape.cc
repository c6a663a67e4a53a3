// Reshape, Flatten, Transpose, Squeeze, Unsqueeze, Concat, Cast, Shape, Size.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/four_bit.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/onnx/tensor.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::StatusOr<ir::Expr> ReshapeTo(const ir::Expr& data, Shape shape) {
  if (shape == ShapeOf(data)) return data;
  // The call would read a 0 as "as it was"; of no elements there is but one tensor of a shape.
  const bool zero = std::find(shape.begin(), shape.end(), 0) != shape.end();
  const bool open = std::find(shape.begin(), shape.end(), -1) != shape.end();
  if (zero && !open && data->type->tensor.ElementCount() == 0) {
    return MakeConstant(std::move(shape), DtypeOf(data), "");
  }
  return Emit("reshape", {data}, {{"newshape", std::move(shape)}});
}

// The call gets the shape worked out: a 0 that means 0 (allowzero) must not read as "as it was".
Results Reshape(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const auto given, node.IntsAttrOrArg("shape", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t allow_zero, node.Int("allowzero", 0));
  if (!given) return absl::InvalidArgumentError("the shape is missing");
  Shape shape = *given;
  for (size_t i = 0; i < shape.size() && allow_zero == 0; ++i) {
    if (shape[i] != 0) continue;
    if (i >= ShapeOf(data).size()) {
      return absl::InvalidArgumentError(
          fmt::format("shape entry {} is 0, which copies an extent that {} does not have", i,
                      data->type->ToString()));
    }
    shape[i] = ShapeOf(data)[i];
  }
  return One(ReshapeTo(data, std::move(shape)));
}

Results Flatten(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(int64_t axis, node.Int("axis", 1));
  const int64_t rank = RankOf(data);
  if (axis < -rank || axis > rank) {
    return absl::InvalidArgumentError(
        fmt::format("an axis of {} was expected, found {}", data->type->ToString(), axis));
  }
  if (axis < 0) axis += rank;
  if (axis == 1 && rank >= 1) return One(Emit("nn.batch_flatten", {data}));
  Shape shape = {1, 1};
  for (int64_t i = 0; i < rank; ++i) shape[i < axis ? 0 : 1] *= ShapeOf(data)[i];
  return One(ReshapeTo(data, std::move(shape)));
}

Results Transpose(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  Shape reversed;
  for (int64_t i = RankOf(data); i > 0; --i) reversed.push_back(i - 1);
  HONE_ASSIGN_OR_RETURN(Shape perm, node.Ints("perm", reversed));
  return One(Emit("transpose", {data}, {{"axes", std::move(perm)}}));
}

Results Squeeze(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const auto axes, node.IntsAttrOrArg("axes", 1));
  ir::Attrs attrs;
  if (axes) attrs["axis"] = *axes;
  return One(Emit("squeeze", {data}, std::move(attrs)));
}

Results Unsqueeze(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const auto axes, node.IntsAttrOrArg("axes", 1));
  if (!axes) return absl::InvalidArgumentError("the axes are missing");
  const int64_t rank = RankOf(data) + static_cast<int64_t>(axes->size());
  Shape shape(rank, 0);
  for (const int64_t axis : *axes) {
    if (axis < -rank || axis >= rank || shape[axis < 0 ? axis + rank : axis] == 1) {
      return absl::InvalidArgumentError(
          fmt::format("different axes of a tensor of rank {} were expected, found {}", rank, axis));
    }
    shape[axis < 0 ? axis + rank : axis] = 1;
  }
  size_t next = 0;
  for (int64_t& extent : shape) {
    if (extent == 0) extent = ShapeOf(data)[next++];
  }
  if (axes->size() == 1) {
    return One(Emit("expand_dims", {data}, {{"axis", (*axes)[0]}}));
  }
  // reshape reads a 0 as "as it was"; an empty tensor gets its axes one by one.
  if (ops::Product(shape) != 0) return One(ReshapeTo(data, std::move(shape)));
  Shape sorted = *axes;
  for (int64_t& axis : sorted) axis = axis < 0 ? axis + rank : axis;
  std::sort(sorted.begin(), sorted.end());
  ir::Expr result = data;
  for (const int64_t axis : sorted) {
    HONE_ASSIGN_OR_RETURN(result, Emit("expand_dims", {result}, {{"axis", axis}}));
  }
  return std::vector<ir::Expr>{result};
}

Results Concat(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Int("axis", node.opset() < 4 ? 1 : 0));
  if (node.size() == 0) return absl::InvalidArgumentError("its operands are missing");
  std::vector<ir::Expr> parts;
  ir::Type type;
  type.is_tuple = true;
  for (size_t i = 0; i < node.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(ir::Expr part, node.Arg(i, "input"));
    type.fields.push_back(*part->type);
    parts.push_back(std::move(part));
  }
  if (parts.size() == 1) return parts;
  return One(Emit("concatenate", {ir::WithType(ir::Tuple(std::move(parts)), std::move(type))},
                  {{"axis", axis}}));
}

// The type that Cast names: a number, or before opset 6 a word.
absl::StatusOr<DataType> TypeCastTo(NodeReader& node) {
  const OnnxAttr* const raw = node.Raw("to");
  if (raw != nullptr && std::holds_alternative<std::string>(*raw)) {
    return FromOnnxTypeName(std::get<std::string>(*raw));
  }
  HONE_ASSIGN_OR_RETURN(const int64_t to, node.Int("to", 0));
  return FromOnnxType(static_cast<int>(to));
}

Results Cast(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_RETURN_IF_ERROR(node.Int("saturate", 1).status());  // of 8-bit floats alone
  HONE_RETURN_IF_ERROR(node.String("round_mode", "up").status());
  const OnnxAttr* const to = node.Raw("to");
  const auto* const number = to == nullptr ? nullptr : std::get_if<int64_t>(to);
  if (const auto bytes = number == nullptr ? std::nullopt : FourBitIn(static_cast<int>(*number))) {
    node.GiveTrait(0, Trait::kFourBit);
    return One(ToFourBit(data, *bytes));
  }
  HONE_ASSIGN_OR_RETURN(const DataType dtype, TypeCastTo(node));
  if (dtype == DtypeOf(data)) return std::vector<ir::Expr>{data};
  return One(Emit("cast", {data}, {{"dtype", dtype}}));
}

// The bytes as they are. Kernels have no such operator: constants change their type at import, and
// integers are cast to those of their width, which are the same bytes.
Results BitCast(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t to, node.Int("to", 0));
  HONE_ASSIGN_OR_RETURN(const DataType dtype, FromOnnxType(static_cast<int>(to)));
  const DataType from = DtypeOf(data);
  if (SizeBytes(from) != SizeBytes(dtype)) {
    return absl::InvalidArgumentError(
        fmt::format("a type as wide as {} was expected, found {}", Name(from), Name(dtype)));
  }
  const bool is_same =
      from == dtype || (dtype != DataType::kBool && !IsFloat(from) && !IsFloat(dtype));
  if (is_same) return One(CastedTo(data, dtype));
  HONE_ASSIGN_OR_RETURN(const ir::Expr constant,
                        node.Constant(0, fmt::format("a tensor of {} whose bytes become {}",
                                                     Name(from), Name(dtype))));
  std::string bytes(reinterpret_cast<const char*>(constant->data.bytes()),
                    constant->data.size_bytes());
  if (dtype == DataType::kBool) {  // any byte but 0 is true; they are held as 1
    for (char& byte : bytes) byte = byte != 0 ? 1 : 0;
  }
  return std::vector<ir::Expr>{MakeConstant(ShapeOf(data), dtype, std::move(bytes))};
}

Results ShapeOfTensor(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  const int64_t rank = RankOf(data);
  HONE_ASSIGN_OR_RETURN(int64_t start, node.Int("start", 0));
  HONE_ASSIGN_OR_RETURN(int64_t end, node.Int("end", rank));
  start = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  end = std::clamp<int64_t>(end < 0 ? end + rank : end, start, rank);
  const Shape& shape = ShapeOf(data);
  return std::vector<ir::Expr>{IntsConstant({shape.begin() + start, shape.begin() + end})};
}

Results Size(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  const int64_t count = data->type->tensor.ElementCount();
  return std::vector<ir::Expr>{ir::ConstantFromBytes({{}, DataType::kInt64}, &count)};
}

}  // namespace

void AddShapeConverters(ConverterTable& table) {
  table["Reshape"] = Reshape;
  table["Flatten"] = Flatten;
  table["Transpose"] = Transpose;
  table["Squeeze"] = Squeeze;
  table["Unsqueeze"] = Unsqueeze;
  table["Concat"] = Concat;
  table["BitCast"] = BitCast;
  table["Cast"] = Cast;
  table["Shape"] = ShapeOfTensor;
  table["Size"] = Size;
}

}  // namespace hone::frontend
