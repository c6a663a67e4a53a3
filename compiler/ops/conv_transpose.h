// The index arithmetic of transposed convolutions that are computed phase by phase.
#ifndef HONE_COMPILER_OPS_CONV_TRANSPOSE_H_
#define HONE_COMPILER_OPS_CONV_TRANSPOSE_H_

#include "compiler/ops/typing.h"
#include "compiler/ops/window.h"

namespace hone::ops {

// With stride s, position o of the result uses the tap (o + padding) mod s and every s-th tap after
// it. So there are s phases, each of which is a convolution of stride one with its share of the
// taps. Members have one entry per spatial axis unless they say otherwise.
struct TransposedTaps {
  // Whether the convolution can be computed phase by phase. No axis may have both a stride and a
  // dilation. If the stride does not divide the number of taps, the taps are padded with zeros. A
  // non-finite element times such a zero gives NaN, so strict numerics do not allow that.
  static bool Exist(const Window& window, bool is_strict);
  TransposedTaps(const Window& window, const Shape& data, const Shape& result);

  Shape count;  // taps that each position uses, padded ones included
  Shape step;   // elements of the data from one of these taps to the next
  // The zeros around the data, for each of its axes: N and C have none.
  Shape before, after;
  // The zeros behind the weight, for each of its axes, so that the stride divides its taps.
  Shape no_taps;
};

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_CONV_TRANSPOSE_H_
