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

// Floats must have |error| <= c * 2^-24 * magnitude with c = max(error_bound, 1), and the same NaN
// and infinities. In a HONE_BUFFER_TRANSFORMED output, a magnitude counts as at least max(1/16, 16
// / c) of the output's largest. Half-precision outputs may also be off by the rounding of their
// last bit. Integers and bools must be equal, and pad lanes zero.
OutputVerdict CheckOutput(const hone_buffer& output, const void* data,
                          const ReferenceOutput& reference, double error_bound);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_OUTPUT_CHECK_H_
