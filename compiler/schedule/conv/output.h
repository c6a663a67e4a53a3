// Tiles the loops of the output, in the same way for several strategies of convolutions:
//   for n, ChannelBlocks, d, RowTiles (the grid) {
//     for ColumnTiles { for Row, Column, ChannelVectors, Lane } }
// A block has vectors of output channels by rows by columns.
#ifndef HONE_COMPILER_SCHEDULE_CONV_OUTPUT_H_
#define HONE_COMPILER_SCHEDULE_CONV_OUTPUT_H_

#include <string>
#include <vector>

#include "compiler/schedule/conv/loops.h"
#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/kernel/window_border.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// The orders of the grid that make a difference: output channels outside of the depth and the rows
// ("oc_oh"), or inside ("oh_oc").
std::vector<std::string> GridOrders(const Conv& conv);
// The loops that threads share, outermost first, in one of these orders; `rows` is the one along
// the height.
std::vector<Loop> ConvGrid(const Conv& conv, const std::string& order, const Loop& rows);

// Splits the output's loop along a spatial axis, counted from the last, if the axis has several
// phases. The inner loop is Phase, and the outer one keeps its name.
void SplitPhases(Sequence* s, const Conv& conv, int from_last);
// Splits all loops of the output, for blocks of this size.
void SplitConvOutput(Sequence* s, const Conv& conv, const RegisterTile& block);
// Brings the split loops into order. `outer` are the grid and the loops between it and ColumnTiles,
// outermost first.
void OrderConvOutput(Sequence* s, const Conv& conv, const std::vector<Loop>& outer);

// RowBorder counts the rows of tiles whose windows leave the data along the height, which the
// convolution must have. ColumnBorder counts the tiles of a row whose windows leave it along the
// width.
Border RowBorder(const Conv& conv, const RegisterTile& tile);
Border ColumnBorder(const Conv& conv, const RegisterTile& tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_OUTPUT_H_
