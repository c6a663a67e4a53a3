// The sums of a matrix product in a register tile: what dense, attention and recurrent share.
#ifndef HONE_COMPILER_SCHEDULE_PRODUCT_SUMS_H_
#define HONE_COMPILER_SCHEDULE_PRODUCT_SUMS_H_

#include <cstdint>

#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/product/loops.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// A stage that is a product's sums. The last of its axes is the units, which are the lanes; those
// before it (rows, gates before them) are of the tile as far as it has more than one of them.
struct ProductSums {
  ProductLoops stage;
  int rank = 2;
  int64_t lanes = 1;
  int64_t dot = 1;     // terms of a step
  int64_t unroll = 1;  // steps
  // Units beyond the last do not exist where they are read: the last vector is masked, not whole.
  bool masks_units = false;
};

// Whether neighbours in the last axis of `sums` are neighbours in what one of its factors, whatever
// was inlined before it, is read from.
bool ReadsUnitsInOrder(const loop::Nest& nest, const Stage& sums);
// Whether neighbours among the terms are neighbours in what both factors are read from.
bool ReadsTermsInOrder(const loop::Nest& nest, const Stage& sums);

// Computes the sums for one iteration of `at`, whole vectors of units, steps outermost. Loops:
// Reduction(0) and Unrolled (steps), the other axes' own, UnitVectors, Lane, Dot; and those of the
// initialisation.
void SumInRegisters(Sequence* s, const ProductSums& sums, const Loop& at);
// The same for a stage that copies such sums: the tile once more, in memory.
void CopyFromRegisters(Sequence* s, const ProductSums& copy, const Loop& at);
// Unrolls what is left of the loops of either once extents are constant.
void UnrollSums(Sequence* s, const ProductSums& sums);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRODUCT_SUMS_H_
