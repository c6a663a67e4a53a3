// The sums of a matrix product in a register tile: what dense and attention share.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_PRODUCT_SUMS_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_PRODUCT_SUMS_H_

#include <cstdint>
#include <string>

#include "compiler/schedule/templates/sequence.h"

namespace hone::schedule {

// Of the last two axes of a stage that is a product's sums: rows, and units that are the lanes.
struct ProductSums {
  std::string stage;
  int rank = 2;
  int64_t lanes = 1;
  int64_t dot = 1;     // terms of a step
  int64_t unroll = 1;  // steps
};

// Whether neighbours in the last axis of `sums` are neighbours in what one of its factors, whatever
// was inlined before it, is read from.
bool ReadsUnitsInOrder(const loop::Nest& nest, const std::string& sums);

// Computes the sums for one iteration of `at`, whole vectors of units, steps outermost. Loops:
// "<stage>.r0" and ".unroll" (steps), the rows' own, ".nv", ".lane", ".dot"; those that set the
// sums to zero end in "_init".
void SumInRegisters(Sequence* s, const ProductSums& sums, const std::string& at);
// Unrolls what is left of these loops once extents are constant.
void UnrollSums(Sequence* s, const ProductSums& sums);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_PRODUCT_SUMS_H_
