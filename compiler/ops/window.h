// Sliding windows over spatial axes, as convolutions and pools have them.
#ifndef HONE_COMPILER_OPS_WINDOW_H_
#define HONE_COMPILER_OPS_WINDOW_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"
#include "compiler/ops/typing.h"

namespace hone::ops {

// All members have one entry per spatial axis.
struct Window {
  Shape taps;
  Shape strides;
  Shape dilation;
  Shape before;  // padding
  Shape after;
  bool ceil_mode = false;

  bool HasPadding() const;
  // The number of positions of the window along spatial axis `i` of an input of that extent; 0 or
  // less if it does not fit. With ceil_mode a last, partial position counts, unless it starts
  // beyond the padding before the input and the input itself.
  int64_t Positions(size_t i, int64_t extent) const;
};

// Reads strides, padding (1, n or 2n entries: all begins, then all ends), dilation and ceil_mode.
absl::StatusOr<Window> ReadWindow(const std::string& op, const ir::Attrs& attrs, const Shape& taps);

// The same for a pool over `spatial` axes: the taps are its attribute pool_size.
absl::StatusOr<Window> ReadPoolWindow(const std::string& op, size_t spatial,
                                      const ir::Attrs& attrs);

// Appends the spatial extents of the result to `shape`, which holds (N, C).
absl::Status AppendWindowOutput(const std::string& op, const Window& window,
                                const ir::TensorType& data, Shape* shape);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_WINDOW_H_
