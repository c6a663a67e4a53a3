#include "tests/compiler/frontend/model_runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "compiler/frontend/onnx/import.h"
#include "compiler/loop/scalar.h"
#include "compiler/ops/evaluate.h"

namespace hone::frontend {
namespace {

TensorData ToTensor(const ir::Expr& e) {
  const ir::TensorType& type = e->type->tensor;
  return {type.dtype, type.shape,
          std::string(reinterpret_cast<const char*>(e->data.bytes()), e->data.size_bytes())};
}

template <typename T>
T Read(const TensorData& tensor, size_t i) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
  return value;
}

double ElementOf(const TensorData& tensor, size_t i) {
  switch (tensor.dtype) {
    case DataType::kFloat32:
      return Read<float>(tensor, i);
    case DataType::kFloat16:
      return loop::DecodeFloat16(Read<uint16_t>(tensor, i));
    case DataType::kBFloat16:
      return loop::DecodeBFloat16(Read<uint16_t>(tensor, i));
    default:
      return Read<double>(tensor, i);
  }
}

bool Close(double found, double expected, double rtol, double atol) {
  if (std::isnan(expected)) return std::isnan(found);
  return found == expected || std::abs(found - expected) <= atol + rtol * std::abs(expected);
}

}  // namespace

absl::StatusOr<std::vector<TensorData>> RunModel(const ir::Module& module,
                                                 const std::vector<TensorData>& inputs) {
  std::vector<ir::Expr> args;
  for (const TensorData& input : inputs) {
    args.push_back(ir::ConstantFromBytes({input.shape, input.dtype}, input.bytes.data()));
  }
  const absl::StatusOr<ir::Expr> result = ops::EvaluateFunction(module.functions.at("main"), args);
  if (!result.ok()) return result.status();
  std::vector<TensorData> outputs;
  if ((*result)->kind == ir::ExprKind::kConstant) return std::vector{ToTensor(*result)};
  for (const ir::Expr& field : (*result)->args) outputs.push_back(ToTensor(field));
  return outputs;
}

TensorData FirstOutput(const OnnxMaker& maker, const std::vector<TensorData>& inputs,
                       const ImportOptions& options) {
  const auto module = ImportOnnxBytes(maker.Bytes(), options);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto outputs = RunModel(*module, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? (*outputs)[0] : TensorData();
}

absl::Status ImportStatus(const OnnxMaker& maker, const ImportOptions& options) {
  return ImportOnnxBytes(maker.Bytes(), options).status();
}

std::string Refusal(const OnnxMaker& maker, const ImportOptions& options) {
  const absl::Status status = ImportStatus(maker, options);
  EXPECT_FALSE(status.ok());
  return Message(status);
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

std::vector<std::string> StemsIn(const std::string& folder) {
  std::vector<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    stems.push_back(entry.path().stem().string());
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

std::string Difference(const TensorData& found, const TensorData& expected, double rtol,
                       double atol) {
  if (found.dtype != expected.dtype || found.shape != expected.shape) {
    return fmt::format("{} ({}) instead of {} ({})", Name(found.dtype), fmt::join(found.shape, ","),
                       Name(expected.dtype), fmt::join(expected.shape, ","));
  }
  if (!IsFloat(expected.dtype)) return found.bytes == expected.bytes ? "" : "integers differ";
  const size_t count = expected.bytes.size() / SizeBytes(expected.dtype);
  for (size_t i = 0; i < count; ++i) {
    const double f = ElementOf(found, i);
    const double e = ElementOf(expected, i);
    if (!Close(f, e, rtol, atol)) return fmt::format("element {} is {} instead of {}", i, f, e);
  }
  return "";
}

}  // namespace hone::frontend
