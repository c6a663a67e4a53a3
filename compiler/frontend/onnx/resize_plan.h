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
  bool by_extents = false;  // the scale is output / input, and those are what counts
  double exact_output = 1;  // scale * input, not rounded
  double roi_begin = 0;     // of tf_crop_and_resize
  double roi_end = 1;
};

// Row o of `indices` and `weights`: the taps of position o, all rows of one length. Indices lie in
// the data. `outside` marks positions that take the extrapolation value.
struct ResizePlan {
  int64_t taps = 1;
  std::vector<int64_t> indices;
  std::vector<double> weights;
  std::vector<bool> outside;
};

// kInvalidArgument for words that the rule does not know.
absl::StatusOr<ResizePlan> PlanResize(const ResizeRule& rule, const ResizeAxis& axis);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_RESIZE_PLAN_H_
