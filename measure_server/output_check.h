// Checks whether a candidate computed what its workload defines.
#ifndef HONE_MEASURE_SERVER_OUTPUT_CHECK_H_
#define HONE_MEASURE_SERVER_OUTPUT_CHECK_H_

#include <string>

#include "runtime/module_abi.h"

namespace hone::measure {

// What the reference computed for one output, row-major.
struct ReferenceOutput {
  const double* values = nullptr;
  const double* magnitudes = nullptr;
};

struct OutputVerdict {
  bool ok = true;
  double error_ratio = 0;  // largest |error| / allowed error; floats only
  std::string message;     // what is wrong, with the first wrong element
};

// Floats must have |error| <= c * 2^-24 * magnitude with c = max(error_bound, 1), and be NaN or
// infinite where the reference is. In a HONE_BUFFER_TRANSFORMED output, each magnitude counts as at
// least min(1, max(1/16, 16 / c)) of the output's largest. Half-precision outputs may also be off
// by the rounding of their last bit. Integers and bools may be off by 17 * 2^-24 * magnitude,
// rounded to an integer. Their magnitude is 0, so that they must be equal, unless rounding could
// move the floats that they are made of by a step (quantised kernels, compiler/loop/reference.h).
// Pad lanes must be zero.
OutputVerdict CheckOutput(const hone_buffer& output, const void* data,
                          const ReferenceOutput& reference, double error_bound);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_OUTPUT_CHECK_H_
