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

// Floats: |error| <= c * 2^-24 * magnitude, c = max(error_bound, 1), where a magnitude of
// a HONE_BUFFER_TRANSFORMED output counts as max(1/16, 16 / c) of the output's largest at least and
// half-precision outputs may also round their last bit; NaN and infinities must be the same.
// Integers and bools: equal.
// Pad lanes: zero.
OutputVerdict CheckOutput(const hone_buffer& output, const void* data,
                          const ReferenceOutput& reference, double error_bound);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_OUTPUT_CHECK_H_
