// The output's loops, which the strategies of matrix products cut alike.
#ifndef HONE_COMPILER_SCHEDULE_PRODUCT_OUTPUT_H_
#define HONE_COMPILER_SCHEDULE_PRODUCT_OUTPUT_H_

#include <string>

#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/product/view.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// [for i0,] for nb, mb (the grid; "m_n": mb, nb) { for m, nv, lane }: blocks of units by rows, the
// tile's `columns`. Returns the inner loop of the grid, within which a block is computed.
Loop TileDenseOutput(Sequence* s, const Dense& dense, const RegisterTile& block,
                     const std::string& order);
// The same where units beyond the last must not be computed: an iteration has exactly those that
// there are, `for m, n`, which MaskDenseUnits makes vectors, the last of them masked, once all that
// it needs is computed there.
Loop TileDenseOutputExactly(Sequence* s, const Dense& dense, const RegisterTile& block,
                            const std::string& order);
void MaskDenseUnits(Sequence* s, const Dense& dense);
// Smaller blocks at the ends get bodies of their own, of constant sizes.
void PeelDenseOutput(Sequence* s, const Dense& dense, const RegisterTile& block);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRODUCT_OUTPUT_H_
