// Weights multiplied by a factor per channel: what FoldScaleAxis makes of multiplications.
#ifndef HONE_COMPILER_PASSES_SCALED_WEIGHTS_H_
#define HONE_COMPILER_PASSES_SCALED_WEIGHTS_H_

#include <cstdint>

#include "compiler/ir/expr.h"

namespace hone::passes {

// nn.conv1d/2d/3d with channels first, or nn.dense, of constant float32 weights whose first axis
// are the output channels and whose second those of the input (of a group).
struct Weighted {
  int64_t input_axis = 0;  // where the channels are in the data
  int64_t output_axis = 0;
  int64_t input_channels = 0;
  int64_t output_channels = 0;
  int64_t groups = 1;
};
// Whether the typed `e` is so.
bool IsWeighted(const ir::Expr& e, Weighted* weighted);

// The weights are computed when they are first read, not before: a model's are as much memory as
// all else in it, and fresh memory costs more than the multiplications.

// weight[o, i, ...] * scale[o] (or * scale[0]); `scale` is float32.
ir::Expr ScaleOutputs(const ir::Expr& weight, const ir::Expr& scale);
// weight[o, i, ...] * scale[channel that i is in the group of o] (or * scale[0]).
ir::Expr ScaleInputs(const ir::Expr& weight, const ir::Expr& scale, int64_t groups);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SCALED_WEIGHTS_H_
