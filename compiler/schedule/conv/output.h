// The output's loops, which several strategies of convolutions cut alike:
//   for n, ChannelBlocks, d, RowTiles (the grid) {
//     for ColumnTiles { for Row, Column, ChannelVectors, Lane } }
// blocks of vectors of output channels by rows by columns.
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

// Orders of the grid that differ: output channels outside of the depth and the rows, or inside.
std::vector<std::string> GridOrders(const Conv& conv);
// The loops that threads share, outermost first, in one of these orders; `rows` are those of the
// height.
std::vector<Loop> ConvGrid(const Conv& conv, const std::string& order, const Loop& rows);

// A spatial axis, counted from the last, into Phase inside of what keeps its name, if it has any.
void SplitPhases(Sequence* s, const Conv& conv, int from_last);
void SplitConvOutput(Sequence* s, const Conv& conv, const RegisterTile& block);
// `outer`: the grid, and what stands between it and ColumnTiles.
void OrderConvOutput(Sequence* s, const Conv& conv, const std::vector<Loop>& outer);

// The rows of tiles whose windows leave the data, where there is a height; and of a row the tiles.
Border RowBorder(const Conv& conv, const RegisterTile& tile);
Border ColumnBorder(const Conv& conv, const RegisterTile& tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_OUTPUT_H_
