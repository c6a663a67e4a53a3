#include "compiler/frontend/onnx/index_check.h"

#include <fmt/format.h>

#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend {

absl::Status CheckIndexTuples(const ir::Expr& indices, std::span<const int64_t> extents) {
  constexpr int64_t kMostChecked = 1 << 22;
  const bool is_known = indices->kind == ir::ExprKind::kConstant && !IsFloat(DtypeOf(indices));
  if (!is_known || extents.empty() || indices->type->tensor.ElementCount() > kMostChecked) {
    return absl::OkStatus();
  }
  HONE_ASSIGN_OR_RETURN(const auto values, ConstantIntegers(indices, "the indices"));
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t extent = extents[i % extents.size()];
    if (values[i] >= -extent && values[i] < extent) continue;
    return absl::InvalidArgumentError(
        fmt::format("an index of {} to {} was expected, for the axis has {} elements, found {}",
                    -extent, extent - 1, extent, values[i]));
  }
  return absl::OkStatus();
}

absl::Status CheckIndices(const ir::Expr& indices, int64_t extent) {
  return CheckIndexTuples(indices, {&extent, 1});
}

}  // namespace hone::frontend
