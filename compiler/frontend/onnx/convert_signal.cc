// HannWindow, HammingWindow, BlackmanWindow: constants of a length known at compile time.
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/onnx/tensor.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n)
using Coefficients = std::array<double, 3>;

Results Window(NodeReader& node, const Coefficients& a) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr size, node.Arg(0, "size"));
  HONE_ASSIGN_OR_RETURN(const auto sizes, ConstantNumbers(size, "size"));
  HONE_ASSIGN_OR_RETURN(const int64_t periodic, node.Int("periodic", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("output_datatype", 1));
  HONE_ASSIGN_OR_RETURN(const DataType dtype, FromOnnxType(static_cast<int>(given)));
  constexpr double kLongest = 1e9;
  if (sizes.size() != 1 || !(sizes[0] >= 0) || sizes[0] > kLongest) {
    return absl::InvalidArgumentError("a size of one number from 0 on was expected");
  }
  const auto count = static_cast<int64_t>(sizes[0]);
  HONE_RETURN_IF_ERROR(node.Generate(2 * count * static_cast<int64_t>(sizeof(double))));
  std::string bytes(count * sizeof(double), '\0');
  const double step = 2 * std::numbers::pi / static_cast<double>(periodic != 0 ? count : count - 1);
  for (int64_t i = 0; i < count; ++i) {
    const double angle = count == 1 ? 0 : step * static_cast<double>(i);
    const double value = a[0] - a[1] * std::cos(angle) + a[2] * std::cos(2 * angle);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return One(CastConstant(MakeConstant({count}, DataType::kFloat64, std::move(bytes)), dtype));
}

}  // namespace

void AddSignalConverters(ConverterTable& table) {
  const std::pair<const char*, Coefficients> windows[] = {
      {"HannWindow", {0.5, 0.5, 0}},
      {"HammingWindow", {25.0 / 46, 21.0 / 46, 0}},
      {"BlackmanWindow", {0.42, 0.5, 0.08}}};
  for (const auto& [op, coefficients] : windows) {
    table[op] = [a = coefficients](NodeReader& node) { return Window(node, a); };
  }
}

}  // namespace hone::frontend
