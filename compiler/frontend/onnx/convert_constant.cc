// Constant, ConstantOfShape.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

Results Constant(NodeReader& node) {
  if (node.HasAttr("value")) {
    HONE_ASSIGN_OR_RETURN(ir::Expr value, node.Tensor("value"));
    return std::vector<ir::Expr>{value};
  }
  if (node.HasAttr("value_int")) {
    HONE_ASSIGN_OR_RETURN(const int64_t value, node.Int("value_int", 0));
    return std::vector<ir::Expr>{ir::ConstantFromBytes({{}, DataType::kInt64}, &value)};
  }
  if (node.HasAttr("value_ints")) {
    HONE_ASSIGN_OR_RETURN(const auto values, node.Ints("value_ints"));
    return std::vector<ir::Expr>{IntsConstant(values)};
  }
  if (node.HasAttr("value_float")) {
    HONE_ASSIGN_OR_RETURN(const double value, node.Float("value_float", 0));
    return std::vector<ir::Expr>{ScalarConstant(value, DataType::kFloat32)};
  }
  if (const OnnxAttr* raw = node.Raw("value_floats")) {
    if (const auto* values = std::get_if<std::vector<float>>(raw)) {
      return std::vector<ir::Expr>{ir::ConstantFromBytes(
          {{static_cast<int64_t>(values->size())}, DataType::kFloat32}, values->data())};
    }
  }
  return absl::UnimplementedError(
      "Hone reads value, value_int(s) and value_float(s) of a constant");
}

Results ConstantOfShape(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Shape shape, node.ConstantInts(0, "the shape"));
  ir::Expr value = ScalarConstant(0, DataType::kFloat32, {1});
  if (node.HasAttr("value")) {
    HONE_ASSIGN_OR_RETURN(value, node.Tensor("value"));
  }
  if (value->data.size_bytes() != static_cast<size_t>(SizeBytes(DtypeOf(value)))) {
    return absl::InvalidArgumentError(
        fmt::format("one value was expected, found {}", value->type->ToString()));
  }
  HONE_ASSIGN_OR_RETURN(const int64_t size, TensorBytes(shape, DtypeOf(value)));
  HONE_RETURN_IF_ERROR(node.Generate(size));
  std::string bytes(size, '\0');
  // What is filled so far, doubled.
  int64_t filled = std::min<int64_t>(size, SizeBytes(DtypeOf(value)));
  std::memcpy(bytes.data(), value->data.bytes(), filled);
  while (filled < size) {
    const int64_t more = std::min(filled, size - filled);
    std::memcpy(bytes.data() + filled, bytes.data(), more);
    filled += more;
  }
  return std::vector<ir::Expr>{MakeConstant(shape, DtypeOf(value), std::move(bytes))};
}

}  // namespace

void AddConstantConverters(ConverterTable& table) {
  table["Constant"] = Constant;
  table["ConstantOfShape"] = ConstantOfShape;
}

}  // namespace hone::frontend
