#include "compiler/passes/byte_tensor.h"

#include <algorithm>
#include <cstring>

#include "compiler/ops/evaluate.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using Ints = std::vector<int64_t>;

bool IsByteConstant(const Expr& e) {
  if (!IsConstant(e)) return false;
  const DataType dtype = e->type->tensor.dtype;
  return dtype == DataType::kInt8 || dtype == DataType::kUInt8;
}

// Elements of a constant of bytes as numbers.
class ByteElements {
 public:
  explicit ByteElements(const Expr& e)
      : bytes_(static_cast<const uint8_t*>(static_cast<const void*>(e->data.bytes()))),
        is_signed_(e->type->tensor.dtype == DataType::kInt8) {}
  int64_t operator[](int64_t i) const {
    return is_signed_ ? static_cast<int8_t>(bytes_[i]) : bytes_[i];
  }

 private:
  const uint8_t* bytes_;
  bool is_signed_;
};

}  // namespace

Expr EvaluatedConstant(const Expr& e) {
  if (IsConstant(e)) return e;
  for (const Expr& node : ir::PostOrder(e)) {
    const bool known = node->kind == ir::ExprKind::kConstant || node->kind == ir::ExprKind::kCall;
    if (!known || node->callee || !node->type->IsTensor()) return e;
  }
  const absl::StatusOr<Expr> value = ops::Evaluate(e);
  return value.ok() ? *value : e;
}

std::optional<Ints> KnownInts(const Expr& e, int64_t most_elements) {
  if (!e || !e->type->IsTensor() || e->type->tensor.ElementCount() > most_elements) {
    return std::nullopt;
  }
  if (IsByteConstant(e)) {
    const ByteElements data(e);
    Ints numbers(static_cast<size_t>(e->type->tensor.ElementCount()));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = data[static_cast<int64_t>(i)];
    return numbers;
  }
  const Expr wide = MakeTyped("cast", {e}, {{"dtype", DataType::kInt64}});
  const Expr value = wide ? EvaluatedConstant(wide) : nullptr;
  if (!value || !IsConstant(value)) return std::nullopt;
  Ints numbers(value->data.size_bytes() / sizeof(int64_t));
  if (!numbers.empty()) std::memcpy(numbers.data(), value->data.bytes(), value->data.size_bytes());
  return numbers;
}

bool IsKnownZero(const Expr& e) {
  const std::optional<Ints> numbers = KnownInts(e);
  return numbers && std::all_of(numbers->begin(), numbers->end(), [](int64_t x) { return x == 0; });
}

Expr VectorOfInt32(const Ints& values) {
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return ir::ConstantFromBytes({{static_cast<int64_t>(values.size())}, DataType::kInt32},
                               narrow.data());
}

Expr OnesOfInt8(const Ints& shape) {
  const ir::TensorType type = {shape, DataType::kInt8};
  const std::vector<int8_t> ones(static_cast<size_t>(type.ElementCount()), 1);
  return ir::ConstantFromBytes(type, ones.data());
}

Expr FlipSigns(const Expr& bytes) {
  if (!IsByteConstant(bytes)) return nullptr;
  ir::TensorType type = bytes->type->tensor;
  type.dtype = type.dtype == DataType::kInt8 ? DataType::kUInt8 : DataType::kInt8;
  std::vector<uint8_t> flipped(bytes->data.size_bytes());
  std::memcpy(flipped.data(), bytes->data.bytes(), flipped.size());
  for (uint8_t& x : flipped) x ^= 0x80;
  return ir::ConstantFromBytes(type, flipped.data());
}

Expr TrailingSums(const Expr& bytes, size_t summed) {
  if (!IsByteConstant(bytes)) return nullptr;
  const Ints& shape = bytes->type->tensor.shape;
  const Ints kept(shape.begin(), shape.end() - static_cast<ptrdiff_t>(summed));
  const ir::TensorType type = {kept, DataType::kInt32};
  std::vector<int32_t> sums(static_cast<size_t>(type.ElementCount()));
  const int64_t terms = sums.empty() ? 0 : bytes->type->tensor.ElementCount() / type.ElementCount();
  const ByteElements data(bytes);
  for (size_t i = 0; i < sums.size(); ++i) {
    int64_t sum = 0;
    for (int64_t k = 0; k < terms; ++k) sum += data[static_cast<int64_t>(i) * terms + k];
    sums[i] = static_cast<int32_t>(sum);
  }
  return ir::ConstantFromBytes(type, sums.data());
}

Expr Centred(const Expr& bytes, const Ints& zero) {
  if (!IsByteConstant(bytes)) return nullptr;
  ir::TensorType type = bytes->type->tensor;
  const int64_t count = type.ElementCount();
  const auto channels = static_cast<int64_t>(zero.size());
  if (channels != 1 && (type.shape.empty() || channels != type.shape[0])) return nullptr;
  const ByteElements data(bytes);
  std::vector<int8_t> centred(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = data[i] - zero[static_cast<size_t>(i / (count / channels))];
    if (value < -128 || value > 127) return nullptr;
    centred[static_cast<size_t>(i)] = static_cast<int8_t>(value);
  }
  type.dtype = DataType::kInt8;
  return ir::ConstantFromBytes(type, centred.data());
}

}  // namespace hone::passes
