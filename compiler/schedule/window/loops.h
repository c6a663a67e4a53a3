// The names of the loops that schedules of windows make.
#ifndef HONE_COMPILER_SCHEDULE_WINDOW_LOOPS_H_
#define HONE_COMPILER_SCHEDULE_WINDOW_LOOPS_H_

#include <utility>

#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// The loops of the result, and of the stages that are computed for its tiles.
class WindowLoops : public Stage {
 public:
  WindowLoops() = default;
  explicit WindowLoops(Stage stage) : Stage(std::move(stage)) {}
  WindowLoops Init() const { return WindowLoops(Stage::Init()); }

  // Loops over channels: over vectors of them, the vectors of a tile, and the blocks that tiles
  // have.
  Loop Vectors() const { return Named("v"); }
  Loop ChannelVectors() const { return Named("cv"); }
  Loop ChannelBlocks() const { return Named("c"); }
  // Loops over the rows of a tile, and over tiles along the height; and the same over columns,
  // which are vectors of pixels where lanes go along the width.
  Loop Row() const { return Named("row"); }
  Loop RowTiles() const { return Named("oh"); }
  Loop Column() const { return Named("col"); }
  Loop ColumnTiles() const { return Named("ow"); }
  Loop Pixels() const { return Named("tile"); }
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_WINDOW_LOOPS_H_
