#include "compiler/frontend/onnx/resize_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/status.h"

namespace hone::frontend {
namespace {

// An extent of the result, or a distance in it, as one of the data. From extents it is rounded to T
// once, and exact where the quotient is: a scale is rounded itself, and in T a product of extents
// of some thousands would be, too.
template <typename T>
T InSource(const ResizeAxis& axis, T x) {
  if (!axis.by_extents) return x / static_cast<T>(axis.scale);
  return static_cast<T>(static_cast<double>(x) * static_cast<double>(axis.input) /
                        static_cast<double>(axis.output));
}

// Where position `at` of the result comes from, in arithmetic of T.
template <typename T>
absl::StatusOr<double> SourceOf(const ResizeRule& rule, const ResizeAxis& axis, int64_t at) {
  constexpr T kHalf = 0.5;
  const auto x = static_cast<T>(at);
  const auto last = static_cast<T>(axis.input - 1);
  const auto exact_output = static_cast<T>(axis.exact_output);
  const auto roi_begin = static_cast<T>(axis.roi_begin);
  const auto roi_end = static_cast<T>(axis.roi_end);
  const T half_pixel = InSource(axis, x + kHalf) - kHalf;
  if (rule.coordinates == "half_pixel") return half_pixel;
  if (rule.coordinates == "asymmetric") return InSource(axis, x);
  if (rule.coordinates == "align_corners") {
    return exact_output == 1 ? 0.0 : x * last / (exact_output - 1);
  }
  if (rule.coordinates == "pytorch_half_pixel") return axis.output > 1 ? half_pixel : 0.0;
  if (rule.coordinates == "half_pixel_symmetric") {
    // As far from the middle of the data as from the middle of the result: the formula of the
    // standard, put so that it rounds once.
    const T from_middle = x + kHalf - static_cast<T>(axis.output) / 2;
    return static_cast<T>(axis.input) / 2 - kHalf + InSource(axis, from_middle);
  }
  if (rule.coordinates == "tf_half_pixel_for_nn") return InSource(axis, x + kHalf);
  if (rule.coordinates == "tf_crop_and_resize") {
    const T span = (roi_end - roi_begin) * last;
    if (axis.output <= 1) return (roi_begin + roi_end) * last / 2;
    return roi_begin * last + x * span / (exact_output - 1);
  }
  return absl::InvalidArgumentError(
      fmt::format("unknown coordinate_transformation_mode {}", rule.coordinates));
}

absl::StatusOr<double> Nearest(const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return absl::InvalidArgumentError(fmt::format("unknown nearest_mode {}", mode));
}

double LinearKernel(double x) { return std::max(0.0, 1 - std::abs(x)); }

double CubicKernel(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((x - 5) * x + 8) * x * a - 4 * a;
  return 0;
}

// The taps of an interpolation: positions base + first .. base + first + count - 1, where base is
// the last position before the source. Antialiasing stretches the kernel over what a position of
// the result covers.
struct Taps {
  double stretch = 1;
  int64_t first = 0;
  int64_t count = 0;
};

Taps TapsOf(const ResizeRule& rule, double scale) {
  const bool cubic = rule.mode == "cubic";
  Taps taps;
  taps.stretch = rule.antialias ? std::min(scale, 1.0) : 1.0;
  taps.first = static_cast<int64_t>(std::floor((cubic ? -2 : -1) / taps.stretch)) + 1;
  taps.count = 2 - 2 * taps.first;
  return taps;
}

void AddRow(const ResizeRule& rule, const ResizeAxis& axis, const Taps& taps, double source,
            ResizePlan* plan) {
  const auto base = static_cast<int64_t>(std::ceil(source)) - 1;
  std::vector<double> weights(taps.count);
  double total = 0;
  for (int64_t t = 0; t < taps.count; ++t) {
    const int64_t at = base + taps.first + t;
    const double distance = (static_cast<double>(at) - source) * taps.stretch;
    const bool outside = at < 0 || at >= axis.input;
    weights[t] =
        rule.mode == "cubic" ? CubicKernel(distance, rule.cubic_a) : LinearKernel(distance);
    if (outside && rule.exclude_outside) weights[t] = 0;
    total += weights[t];
    plan->indices.push_back(std::clamp<int64_t>(at, 0, axis.input - 1));
  }
  const bool normalise = (rule.antialias || rule.exclude_outside) && total != 0;
  for (const double weight : weights) plan->weights.push_back(normalise ? weight / total : weight);
}

}  // namespace

absl::StatusOr<ResizePlan> PlanResize(const ResizeRule& rule, const ResizeAxis& axis) {
  if (rule.mode != "nearest" && rule.mode != "linear" && rule.mode != "cubic") {
    return absl::InvalidArgumentError(fmt::format("unknown mode {}", rule.mode));
  }
  constexpr int64_t kMostTaps = 1 << 20;
  const bool nearest = rule.mode == "nearest";
  const Taps taps = nearest ? Taps{1, 0, 1} : TapsOf(rule, axis.scale);
  if (!(axis.scale > 0) || taps.count > kMostTaps || taps.count < 1) {
    return absl::InvalidArgumentError(
        fmt::format("a positive scale was expected, found {}", axis.scale));
  }
  ResizePlan plan;
  plan.taps = taps.count;
  const auto last = static_cast<double>(axis.input - 1);
  for (int64_t at = 0; at < axis.output; ++at) {
    // Which element is nearest is decided in float32, as exporters and onnxruntime do: a scale of
    // 0.6 is the float32 next to it, and only there is 3 / 0.6 the 5 that its author meant.
    HONE_ASSIGN_OR_RETURN(double source, nearest ? SourceOf<float>(rule, axis, at)
                                                 : SourceOf<double>(rule, axis, at));
    plan.outside.push_back(rule.coordinates == "tf_crop_and_resize" &&
                           (source < 0 || source > last));
    source = std::clamp(source, -1e15, 1e15);
    if (!nearest) {
      AddRow(rule, axis, taps, source, &plan);
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const double position, Nearest(rule.nearest, source));
    plan.indices.push_back(static_cast<int64_t>(std::clamp(position, 0.0, last)));
    plan.weights.push_back(1);
  }
  return plan;
}

}  // namespace hone::frontend
