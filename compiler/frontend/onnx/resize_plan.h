// The arithmetic of ONNX's Resize along one axis, worked out at import: where each position of the
// result comes from, and with which weights.
#ifndef HONE_COMPILER_FRONTEND_ONNX_RESIZE_PLAN_H_
#define HONE_COMPILER_FRONTEND_ONNX_RESIZE_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::frontend {

struct ResizeRule {
  std::string mode = "nearest";  // nearest, linear, cubic
  std::string coordinates = "half_pixel";
  std::string nearest = "round_prefer_floor";  // or round_prefer_ceil, floor, ceil
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};

struct ResizeAxis {
  int64_t input = 1;
  int64_t output = 1;
  double scale = 1;
  bool by_extents = false;  // positions are computed with output / input, not the rounded `scale`
  double exact_output = 1;  // scale * input, not rounded
  double roi_begin = 0;     // for tf_crop_and_resize alone, as roi_end
  double roi_end = 1;
};

// Position o of the result is the sum of the data at row o of `indices` times row o of `weights`.
// Rows have `taps` elements, and indices lie in the data. `outside` marks positions that take the
// extrapolation value.
struct ResizePlan {
  int64_t taps = 1;
  std::vector<int64_t> indices;
  std::vector<double> weights;
  std::vector<bool> outside;
};

// kInvalidArgument for unknown words in `rule`, and for a scale that is not positive or too small.
absl::StatusOr<ResizePlan> PlanResize(const ResizeRule& rule, const ResizeAxis& axis);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_RESIZE_PLAN_H_
