#include "compiler/ops/csr.h"

#include <algorithm>
#include <cassert>
#include <string>

namespace hone::ops {
namespace {

ir::Expr Int32s(const std::vector<int32_t>& values) {
  return ir::ConstantFromBytes({{static_cast<int64_t>(values.size())}, DataType::kInt32},
                               values.data());
}

// +0 and -0.
bool IsZero(const uint8_t* element, int bytes, bool is_float) {
  for (int i = 0; i < bytes - 1; ++i) {
    if (element[i] != 0) return false;
  }
  const uint8_t last = element[bytes - 1];
  return (is_float ? last & 0x7F : last) == 0;
}

}  // namespace

Csr MakeCsr(int64_t rows, int64_t columns, DataType dtype, const std::vector<int64_t>& positions,
            std::string_view values) {
  const auto count = static_cast<int64_t>(positions.size());
  assert(values.size() == positions.size() * static_cast<size_t>(SizeBytes(dtype)));
  assert(count <= INT32_MAX && columns <= INT32_MAX);
  std::vector<int32_t> indices;
  std::vector<int32_t> indptr(static_cast<size_t>(rows) + 1, 0);
  indices.reserve(positions.size());
  for (const int64_t position : positions) {
    indices.push_back(static_cast<int32_t>(position % columns));
    ++indptr[static_cast<size_t>(position / columns) + 1];
  }
  for (size_t row = 0; row + 1 < indptr.size(); ++row) indptr[row + 1] += indptr[row];
  return {ir::ConstantFromBytes({{count}, dtype}, values.data()), Int32s(indices), Int32s(indptr)};
}

std::optional<Csr> CsrOf(const ir::ExprNode& matrix, int64_t most) {
  const ir::TensorType& type = matrix.type->tensor;
  assert(matrix.kind == ir::ExprKind::kConstant && type.shape.size() == 2);
  most = std::min<int64_t>(most, INT32_MAX);
  if (most < 0 || type.shape[1] > INT32_MAX) return std::nullopt;
  const int bytes = SizeBytes(type.dtype);
  std::vector<int64_t> positions;
  std::string values;
  const uint8_t* element = matrix.data.bytes();
  for (int64_t i = 0; i < type.ElementCount(); ++i, element += bytes) {
    if (IsZero(element, bytes, IsFloat(type.dtype))) continue;
    if (static_cast<int64_t>(positions.size()) >= most) return std::nullopt;
    positions.push_back(i);
    values.append(reinterpret_cast<const char*>(element), static_cast<size_t>(bytes));
  }
  return MakeCsr(type.shape[0], type.shape[1], type.dtype, positions, values);
}

}  // namespace hone::ops
