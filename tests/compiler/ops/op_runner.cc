#include "tests/compiler/ops/op_runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compiler/ops/call_type.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/typing.h"
#include "support/random.h"

namespace hone::ops {
namespace {

// Calls f with a value of the C++ type of `dtype`.
template <typename F>
void WithType(DataType dtype, F f) {
  switch (dtype) {
    case DataType::kFloat32:
      return f(float{});
    case DataType::kFloat64:
      return f(double{});
    case DataType::kInt8:
      return f(int8_t{});
    case DataType::kInt32:
      return f(int32_t{});
    case DataType::kInt64:
      return f(int64_t{});
    case DataType::kUInt16:
      return f(uint16_t{});
    case DataType::kUInt32:
      return f(uint32_t{});
    case DataType::kUInt64:
      return f(uint64_t{});
    case DataType::kUInt8:
    case DataType::kBool:
      return f(uint8_t{});
    default:
      FAIL() << "tests do not hold tensors of " << Name(dtype);
  }
}

}  // namespace

int64_t TestTensor::Offset(const Index& index) const {
  int64_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    EXPECT_TRUE(index[i] >= 0 && index[i] < shape[i]) << "the reference reads beyond a tensor";
    offset = offset * shape[i] + index[i];
  }
  return offset;
}

TestTensor RandomTensor(std::vector<int64_t> shape, uint64_t seed, DataType dtype, double low,
                        double high) {
  Random random(seed);
  TestTensor tensor = {shape, std::vector<double>(Product(shape)), dtype};
  for (double& value : tensor.values) {
    value = low + (high - low) * random.Uniform();
    value = IsFloat(dtype) ? static_cast<float>(value) : std::floor(value);
  }
  return tensor;
}

TestTensor Generate(std::vector<int64_t> shape, const std::function<double(const Index&)>& value) {
  TestTensor tensor = {shape, std::vector<double>(Product(shape))};
  Index index(shape.size(), 0);
  for (double& element : tensor.values) {
    element = value(index);
    for (size_t i = shape.size(); i > 0 && ++index[i - 1] == shape[i - 1]; --i) index[i - 1] = 0;
  }
  return tensor;
}

ir::Expr ToConstant(const TestTensor& tensor) {
  std::string bytes;
  WithType(tensor.dtype, [&](auto zero) {
    for (const double value : tensor.values) {
      const auto element = static_cast<decltype(zero)>(value);
      bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
    }
  });
  return ir::ConstantFromBytes({tensor.shape, tensor.dtype}, bytes.data());
}

TestTensor FromConstant(const ir::Expr& constant) {
  TestTensor tensor = {constant->type->tensor.shape, {}, constant->type->tensor.dtype};
  WithType(tensor.dtype, [&](auto zero) {
    for (size_t i = 0; i < constant->data.size_bytes(); i += sizeof zero) {
      std::memcpy(&zero, constant->data.bytes() + i, sizeof zero);
      tensor.values.push_back(static_cast<double>(zero));
    }
  });
  return tensor;
}

absl::StatusOr<TestTensor> RunOp(const std::string& op, const std::vector<TestTensor>& args,
                                 const ir::Attrs& attrs) {
  std::vector<ir::Expr> operands;
  for (const TestTensor& arg : args) operands.push_back(ToConstant(arg));
  if (op == "concatenate") operands = {TypedTuple(operands)};
  absl::StatusOr<ir::Expr> call = TypedCall(op, operands, attrs);
  if (!call.ok()) return call.status();
  absl::StatusOr<ir::Expr> result = Evaluate(*call);
  if (!result.ok()) return result.status();
  return FromConstant(*result);
}

void ExpectNear(const absl::StatusOr<TestTensor>& found, const TestTensor& expected,
                double tolerance) {
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->shape, expected.shape);
  for (size_t i = 0; i < expected.values.size(); ++i) {
    if (found->values[i] == expected.values[i]) continue;  // infinities too
    if (std::isnan(found->values[i]) && std::isnan(expected.values[i])) continue;
    ASSERT_NEAR(found->values[i], expected.values[i],
                tolerance * (1 + std::abs(expected.values[i])))
        << "at element " << i;
  }
}

std::string InferenceError(const std::string& op, const std::vector<ir::TensorType>& args,
                           const ir::Attrs& attrs) {
  std::vector<ir::Type> types;
  for (const ir::TensorType& arg : args) types.push_back(TensorOf(arg.shape, arg.dtype));
  const absl::StatusOr<ir::Type> type = InferCallType(op, types, attrs);
  return type.ok() ? "" : std::string(type.status().message());
}

}  // namespace hone::ops
