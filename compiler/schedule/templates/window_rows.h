// Windows over rows of row-major data: lanes are neighbours along the width.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_WINDOW_ROWS_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_WINDOW_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/template.h"
#include "compiler/schedule/templates/kernel_view.h"
#include "compiler/schedule/templates/register_tile.h"
#include "compiler/schedule/templates/window_border.h"

namespace hone::schedule {

struct WindowRows {
  int64_t lanes = 1;
  RegisterTile tile;                       // `vectors` along the width, of `rows` rows; one column
  std::vector<std::string> unrolled_taps;  // loops over taps, by their names behind the anchor's
  Border rows;                             // tiles of the height that are apart
  Border columns;                          // of the width
};

// A depthwise convolution or a pool of two axes, all of whose layouts are row-major: a tile of rows
// by vectors in registers, what is padded is read under masks, in tiles of their own.
absl::StatusOr<loop::Nest> ScheduleWindowRows(const Task& task, const AnchorView& view,
                                              const WindowRows& rows);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_WINDOW_ROWS_H_
