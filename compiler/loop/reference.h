// Reference semantics: a naive nest in float64, with a bound of what rounding can do to it.
#ifndef HONE_COMPILER_LOOP_REFERENCE_H_
#define HONE_COMPILER_LOOP_REFERENCE_H_

#include "compiler/loop/stmt.h"

namespace hone::loop {

// `naive` with all float arithmetic in float64. Inputs and constants stay as they are, in their
// order and of their types. Each output NAME becomes two row-major float64 outputs, NAME and
// NAME.magnitude, next to each other in the order of the outputs.
//
// The magnitude M bounds rounding: a float32 evaluation in any order of summation has |error| <=
// c * 2^-24 * M for a modest c (architecture, "Checking"). With f' the derivative at the value:
//   load of an input, constant    |x|             a + b, a - b   M(a) + M(b)
//   a * b                         M(a) * M(b)     a / b          (M(a) + |a| M(b) / |b|) / |b|
//   max, min                      the larger of those within 2^-10 M of being the result
//   select                        that of the chosen one
//   neg, abs                      M(a)            other f(a)     |f(a)| + M(a) * |f'(a)|
// so the magnitude of a dot product is sum |a||b|. For sqrt near 0, the derivative is cut where
// the rounding itself becomes the larger. Sign, truncation to integers and comparisons jump, which
// M does not cover. Rounding to a 16-bit float inside the nest adds its share of the value; the
// rounding of outputs at their store adds nothing, nor do operators that are exact on such floats.
// If rounding could bring the operand of floor, ceil or round over a jump, 2^20 is added, which is
// more than a step. Integer arithmetic stays as it was; integer and bool outputs have magnitude 0,
// except for such steps in the floats from which they are computed (quantised kernels).
//
// `error_bound` is the least c that results will be judged by, at least 17. The rounding of 16-bit
// floats inside the nest is divided by it, so that c times the magnitude covers that rounding.
Nest ReferenceNest(const Nest& naive, double error_bound = 17);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_REFERENCE_H_
