// The index arithmetic of transposed convolutions whose taps are looked at by phases.
#ifndef HONE_COMPILER_OPS_CONV_TRANSPOSE_H_
#define HONE_COMPILER_OPS_CONV_TRANSPOSE_H_

#include "compiler/ops/typing.h"
#include "compiler/ops/window.h"

namespace hone::ops {

// Position o of a result of stride s meets the taps (o + padding) mod s, and every s-th after it:
// of stride s there are s convolutions of stride one, each with its share of the taps. One entry a
// spatial axis, but where said otherwise.
struct TransposedTaps {
  // Whether there are such: not where strides and dilations mix. Where the stride does not divide
  // the taps, or there are fewer, some positions meet one that is made up, of value zero: data that
  // are not finite spread to these, which strict numerics do not allow.
  static bool Exist(const Window& window, bool is_strict);
  TransposedTaps(const Window& window, const Shape& data, const Shape& result);

  Shape count;  // taps that each position meets, those of value zero included
  Shape step;   // elements of the data between them
  // Zeros around the data and behind the taps; one entry an axis, N and C included.
  Shape before, after, no_taps;
};

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_CONV_TRANSPOSE_H_
