// Tiles the loops of the output, in the same way for all strategies of matrix products.
#ifndef HONE_COMPILER_SCHEDULE_PRODUCT_OUTPUT_H_
#define HONE_COMPILER_SCHEDULE_PRODUCT_OUTPUT_H_

#include <string>

#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/product/view.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// Cuts the output into blocks of units by rows: [for i0,] for nb, mb { for m, nv, lane }. The loops
// outside of the braces are the grid (with the order "m_n": mb, nb). A block has block.columns rows
// and block.vectors vectors of units. Returns the innermost loop of the grid, in which a block is
// computed.
Loop TileDenseOutput(Sequence* s, const Dense& dense, const RegisterTile& block,
                     const std::string& order);
// The same where units behind the last must not be computed. A block has exactly the units that
// there are, in the loops `for m, n`. MaskDenseUnits makes vectors of them, the last one masked; it
// is called when all that a block needs is computed in it.
Loop TileDenseOutputExactly(Sequence* s, const Dense& dense, const RegisterTile& block,
                            const std::string& order);
void MaskDenseUnits(Sequence* s, const Dense& dense);
// Smaller blocks at the ends get bodies of their own, of constant sizes.
void PeelDenseOutput(Sequence* s, const Dense& dense, const RegisterTile& block);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRODUCT_OUTPUT_H_
