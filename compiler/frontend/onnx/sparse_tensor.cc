#include "compiler/frontend/onnx/sparse_tensor.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "compiler/frontend/onnx/tensor.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::Status Damaged(const std::string& name, const std::string& why) {
  return absl::InvalidArgumentError(fmt::format("sparse initializer \"{}\": {}", name, why));
}

// One position from the numbers of each axis; -1 outside the shape.
int64_t PositionOf(const int64_t* index, const std::vector<int64_t>& shape) {
  int64_t position = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (index[axis] < 0 || index[axis] >= shape[axis]) return -1;
    position = position * shape[axis] + index[axis];
  }
  return position;
}

absl::StatusOr<std::vector<int64_t>> Positions(const std::string& name, const TensorData& indices,
                                               const ir::TensorType& type, int64_t count) {
  const auto rank = static_cast<int64_t>(type.shape.size());
  const bool linear = indices.shape == std::vector<int64_t>{count};
  const bool by_axis = indices.shape == std::vector<int64_t>{count, rank};
  if (indices.dtype != DataType::kInt64 || (!linear && !by_axis)) {
    return Damaged(
        name, fmt::format("int64 indices of {0} or {0} x {1} were expected, found {2}", count, rank,
                          ir::TensorType{indices.shape, indices.dtype}.ToString()));
  }
  std::vector<int64_t> numbers(indices.bytes.size() / sizeof(int64_t));
  std::memcpy(numbers.data(), indices.bytes.data(), indices.bytes.size());
  std::vector<int64_t> positions(static_cast<size_t>(count));
  int64_t last = -1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = linear ? numbers[i] : PositionOf(&numbers[i * rank], type.shape);
    if (position <= last || position >= type.ElementCount()) {
      return Damaged(name, fmt::format("indices that ascend within {} were expected, found others "
                                       "at {}",
                                       type.ToString(), i));
    }
    positions[i] = last = position;
  }
  return positions;
}

}  // namespace

absl::StatusOr<SparseInitializer> ReadSparseTensor(const onnx::SparseTensorProto& proto,
                                                   const std::string& folder) {
  const std::string& name = proto.values().name();
  onnx::TensorProto parts[] = {proto.values(), proto.indices()};
  HONE_ASSIGN_OR_RETURN(TensorData values, FromProto(&parts[0], folder));
  HONE_ASSIGN_OR_RETURN(const TensorData indices, FromProto(&parts[1], folder));
  if (values.shape.size() != 1 || values.shape[0] > INT32_MAX || proto.dims().empty()) {
    return Damaged(name, "a list of values and a shape were expected");
  }
  SparseInitializer sparse;
  sparse.type = {{proto.dims().begin(), proto.dims().end()}, values.dtype};
  const absl::StatusOr<int64_t> size = TensorBytes(sparse.type.shape, values.dtype);
  if (!size.ok()) return Damaged(name, std::string(size.status().message()));
  HONE_ASSIGN_OR_RETURN(sparse.positions, Positions(name, indices, sparse.type, values.shape[0]));
  sparse.values = std::move(values.bytes);
  return sparse;
}

ir::Expr DenseConstant(const SparseInitializer& sparse) {
  std::string bytes(static_cast<size_t>(sparse.type.SizeBytes()), '\0');
  const auto size = static_cast<size_t>(SizeBytes(sparse.type.dtype));
  for (size_t i = 0; i < sparse.positions.size(); ++i) {
    std::memcpy(bytes.data() + static_cast<size_t>(sparse.positions[i]) * size,
                sparse.values.data() + i * size, size);
  }
  return MakeConstant(sparse.type.shape, sparse.type.dtype, std::move(bytes));
}

ops::Csr CsrConstants(const SparseInitializer& sparse) {
  return ops::MakeCsr(sparse.type.shape[0], sparse.type.shape[1], sparse.type.dtype,
                      sparse.positions, sparse.values);
}

ops::Csr TransposedCsrConstants(const SparseInitializer& sparse) {
  const int64_t rows = sparse.type.shape[0];
  const int64_t columns = sparse.type.shape[1];
  const auto turned = [&](size_t i) {
    return sparse.positions[i] % columns * rows + sparse.positions[i] / columns;
  };
  std::vector<size_t> order(sparse.positions.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return turned(a) < turned(b); });
  std::vector<int64_t> positions;
  std::string values;
  const auto size = static_cast<size_t>(SizeBytes(sparse.type.dtype));
  for (const size_t i : order) {
    positions.push_back(turned(i));
    values.append(sparse.values, i * size, size);
  }
  return ops::MakeCsr(columns, rows, sparse.type.dtype, positions, values);
}

int64_t CsrBytes(const SparseInitializer& sparse) {
  const int64_t longer = std::max(sparse.type.shape[0], sparse.type.shape[1]);
  return static_cast<int64_t>(sparse.positions.size()) * 12 + longer * 4;
}

}  // namespace hone::frontend
