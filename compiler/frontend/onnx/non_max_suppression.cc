#include "compiler/frontend/onnx/non_max_suppression.h"

#include <algorithm>
#include <cmath>

namespace hone::frontend {
namespace {

// In float32 with a rounding at each step, as kernels and other runtimes have it: boxes on a grid
// meet the threshold to the last bit.
struct Box {
  float low[2];
  float high[2];

  float Area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

Box ReadBox(const double* numbers, bool center_point) {
  Box box;
  for (int axis = 0; axis < 2; ++axis) {
    const auto first = static_cast<float>(numbers[axis]);
    const auto second = static_cast<float>(numbers[2 + axis]);
    // Corners come in either order. A negative width or height makes a box that overlaps nothing,
    // as in onnxruntime.
    box.low[axis] = center_point ? first - second / 2 : std::min(first, second);
    box.high[axis] = center_point ? first + second / 2 : std::max(first, second);
  }
  return box;
}

float IntersectionOverUnion(const Box& a, const Box& b) {
  float intersection = 1;
  for (int axis = 0; axis < 2; ++axis) {
    intersection *=
        std::max(0.0F, std::min(a.high[axis], b.high[axis]) - std::max(a.low[axis], b.low[axis]));
  }
  const float both = a.Area() + b.Area() - intersection;
  return both > 0 ? intersection / both : 0;
}

// The order that TopK has, too: a NaN counts as larger than every number. Comparing scores alone
// would be no order that a sort may be given.
bool IsLarger(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

// The boxes of one class that are kept.
std::vector<int64_t> KeptOf(const SuppressionInput& input, int64_t batch, const double* scores) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < input.count; ++i) {
    if (!input.score_threshold || scores[i] > *input.score_threshold) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return IsLarger(scores[a], scores[b]); });
  const auto box = [&](int64_t i) {
    return ReadBox(input.boxes.data() + (batch * input.count + i) * 4, input.center_point_box);
  };
  std::vector<int64_t> kept;
  for (const int64_t candidate : order) {
    if (static_cast<int64_t>(kept.size()) >= input.most_per_class) break;
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](int64_t other) {
      return IntersectionOverUnion(box(candidate), box(other)) > input.iou_threshold;
    });
    if (!covered) kept.push_back(candidate);
  }
  return kept;
}

}  // namespace

std::vector<int64_t> NonMaxSuppression(const SuppressionInput& input) {
  std::vector<int64_t> result;
  for (int64_t batch = 0; batch < input.batches; ++batch) {
    for (int64_t c = 0; c < input.classes; ++c) {
      const double* const scores = input.scores.data() + (batch * input.classes + c) * input.count;
      for (const int64_t box : KeptOf(input, batch, scores)) {
        result.insert(result.end(), {batch, c, box});
      }
    }
  }
  return result;
}

}  // namespace hone::frontend
