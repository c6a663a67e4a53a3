// The sums of a matrix product in a register tile: what dense, attention and recurrent share.
#ifndef HONE_COMPILER_SCHEDULE_PRODUCT_SUMS_H_
#define HONE_COMPILER_SCHEDULE_PRODUCT_SUMS_H_

#include <cstdint>

#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/product/loops.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// The stage of a product's sums. Its last axis is that of the units, along which the lanes lie. The
// axes before it are rows, and gates before these; they are axes of the tile if it has more than
// one index of them.
struct ProductSums {
  ProductLoops stage;
  int rank = 2;
  int64_t lanes = 1;
  int64_t dot = 1;     // terms of a step
  int64_t unroll = 1;  // steps at once
  // Units beyond the last do not exist where they are read: the last vector is masked, not whole.
  bool masks_units = false;
};

// Whether neighbouring units, along the last axis of `sums`, are neighbours in memory for every
// load that depends on the unit, and there is such a load. Stages that were inlined into the sums
// count with what they load.
bool ReadsUnitsInOrder(const loop::Nest& nest, const Stage& sums);
// Whether neighbouring terms are neighbours in memory for every load that depends on the term.
bool ReadsTermsInOrder(const loop::Nest& nest, const Stage& sums);

// Computes the sums that one iteration of `at` needs, in whole vectors of units. The loops are,
// from the outermost: Reduction(0) and Unrolled, over the steps; those of the other axes;
// UnitVectors, Lane and Dot. The initialisation has loops of its own.
void SumInRegisters(Sequence* s, const ProductSums& sums, const Loop& at);
// The same for a stage that copies such sums from registers to a tile in memory.
void CopyFromRegisters(Sequence* s, const ProductSums& copy, const Loop& at);
// Unrolls those loops of either stage that are left, once their extents are constant.
void UnrollSums(Sequence* s, const ProductSums& sums);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRODUCT_SUMS_H_
