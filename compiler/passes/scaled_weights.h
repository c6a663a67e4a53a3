// Multiplies weights by a factor per channel, for FoldScaleAxis.
#ifndef HONE_COMPILER_PASSES_SCALED_WEIGHTS_H_
#define HONE_COMPILER_PASSES_SCALED_WEIGHTS_H_

#include <cstdint>

#include "compiler/ir/expr.h"

namespace hone::passes {

// Describes an nn.conv1d/2d/3d with channels first, or an nn.dense, with constant float32 weights.
// The first axis of the weights is the output channels, the second the input channels (of a group).
struct Weighted {
  int64_t input_axis = 0;  // the channel axis of the data
  int64_t output_axis = 0;
  int64_t input_channels = 0;
  int64_t output_channels = 0;
  int64_t groups = 1;
};
// Whether the typed `e` is such a call; if so fills in `weighted`.
bool IsWeighted(const ir::Expr& e, Weighted* weighted);

// The scaled weights are computed only when they are first read: weights are most of a model's
// memory, and fresh memory costs more than the multiplications.

// Gives weight[o, i, ...] * scale[o] (or * scale[0]); `scale` is float32.
ir::Expr ScaleOutputs(const ir::Expr& weight, const ir::Expr& scale);
// Gives weight[o, i, ...] * scale[c] (or * scale[0]), where c is the input channel that index i
// means in the group of output o.
ir::Expr ScaleInputs(const ir::Expr& weight, const ir::Expr& scale, int64_t groups);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SCALED_WEIGHTS_H_
