// The inputs and constants that kernels are checked and timed on.
#ifndef HONE_MEASURE_SERVER_SEEDED_INPUT_H_
#define HONE_MEASURE_SERVER_SEEDED_INPUT_H_

#include <cstdint>

#include "runtime/module_abi.h"

namespace hone::measure {

enum class InputSet : uint32_t {
  // Small integers: sums of products of them are exact in float32, in any order, up to 2^22 terms.
  kExact = 0,
  kFloat = 1,
};

// Fills a buffer. Element i (row-major, of the logical tensor) of operand k (inputs and constants
// counted together, in the order of the buffer table) is drawn by
//
//   stream = mix(mix(seed) + 4 * k + set)
//   draw = mix(stream + (i + 1) * 0x9E3779B97F4A7C15)
//
// with mix the finaliser of SplitMix64, so it does not depend on the layout. [low, high] is the
// buffer's domain.
//   floats, kExact   pick(n) of the n <= 5 integers of the domain closest to 0; without a domain
//                    -2 .. 2; in a domain without integers as kFloat
//   floats, kFloat   low + (high - low) * u, u = (draw >> 11) * 2^-53; without a domain in [-1, 1)
//   integers         pick(n) of the domain's integers; without a domain -2 .. 2 in kExact and
//                    -16 .. 16 in kFloat, from 0 for unsigned ones
//   bool             pick(2)
//   ascending        the first is low, the last is high, and those between are sorted draws
//                    pick(n) of the domain's integers; low = high = 0 is a domain
// where pick(n) = floor(draw * n / 2^64) counts from the lowest. Pad lanes are zero.
void FillSeeded(const hone_buffer& buffer, uint32_t operand, uint64_t seed, InputSet set,
                void* data);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_SEEDED_INPUT_H_
