// Non-maximum suppression of boxes that are known at import.
#ifndef HONE_COMPILER_FRONTEND_ONNX_NON_MAX_SUPPRESSION_H_
#define HONE_COMPILER_FRONTEND_ONNX_NON_MAX_SUPPRESSION_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace hone::frontend {

struct SuppressionInput {
  int64_t batches = 0;
  int64_t classes = 0;
  int64_t count = 0;           // boxes of a batch entry
  std::vector<double> boxes;   // (batches, count, 4)
  std::vector<double> scores;  // (batches, classes, count)
  int64_t most_per_class = 0;
  double iou_threshold = 0;
  std::optional<double> score_threshold;
  bool center_point_box = false;  // x, y, width, height instead of two corners y, x, y, x
};

// (batch, class, box) of each box kept, the best of a class first.
std::vector<int64_t> NonMaxSuppression(const SuppressionInput& input);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_NON_MAX_SUPPRESSION_H_
