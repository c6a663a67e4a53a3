// The output's loops, which the strategies "direct" and "tiles" of convolutions cut alike:
//   for n, oc, od, oh (the grid) { for ow { for row, col, ocv, lane } }
// blocks of vectors of output channels by rows by columns.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_OUTPUT_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_OUTPUT_H_

#include <string>
#include <vector>

#include "compiler/schedule/templates/conv_view.h"
#include "compiler/schedule/templates/register_tile.h"
#include "compiler/schedule/templates/sequence.h"

namespace hone::schedule {

// Orders of the grid that differ: output channels outside of the depth and the rows, or inside.
std::vector<std::string> GridOrders(const Conv& conv);
// The loops that threads share, outermost first, in one of these orders. `rows`: the one that
// stands where "oh" does.
std::vector<std::string> ConvGrid(const Conv& conv, const std::string& order,
                                  const std::string& rows = "oh");

// A spatial axis, counted from the last, into "phase" inside of what keeps its name, if it has any.
void SplitPhases(Sequence* s, const Conv& conv, int from_last);
void SplitConvOutput(Sequence* s, const Conv& conv, const RegisterTile& block);
// `outer`: the grid, and what stands between it and "ow".
void OrderConvOutput(Sequence* s, const Conv& conv, const std::vector<std::string>& outer);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_OUTPUT_H_
