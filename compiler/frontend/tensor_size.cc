#include "compiler/frontend/tensor_size.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ir/limits.h"

namespace hone::frontend {

absl::StatusOr<int64_t> TensorBytes(const std::vector<int64_t>& shape, DataType dtype) {
  constexpr int64_t kMost = int64_t{1} << 47;
  if (shape.size() > ir::kMaxRank) {
    return absl::InvalidArgumentError(
        fmt::format("a shape of at most {} extents was expected, found {}: join some", ir::kMaxRank,
                    shape.size()));
  }
  int64_t bytes = SizeBytes(dtype);
  bool fits = true;
  for (const int64_t extent : shape) {
    if (extent < 0) {
      return absl::InvalidArgumentError(fmt::format(
          "extents of at least 0 were expected, found shape ({})", fmt::join(shape, ", ")));
    }
    // A later zero makes the product fit again, but nobody means such a shape.
    fits = fits && !__builtin_mul_overflow(bytes, extent, &bytes) && bytes <= kMost;
  }
  if (!fits) {
    return absl::InvalidArgumentError(
        fmt::format("shape ({}) is too large", fmt::join(shape, ", ")));
  }
  return bytes;
}

}  // namespace hone::frontend
