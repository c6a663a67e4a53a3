// The loops that schedules of convolutions make, by name.
#ifndef HONE_COMPILER_SCHEDULE_CONV_LOOPS_H_
#define HONE_COMPILER_SCHEDULE_CONV_LOOPS_H_

#include <utility>

#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// The loops of the result, and of the sums of its tiles.
class ConvLoops : public Stage {
 public:
  ConvLoops() = default;
  explicit ConvLoops(Stage stage) : Stage(std::move(stage)) {}
  ConvLoops Init() const { return ConvLoops(Stage::Init()); }

  // Output channels: vectors of them, the vectors of a tile, and the blocks that tiles have.
  Loop Vectors() const { return Named("v"); }
  Loop ChannelVectors() const { return Named("ocv"); }
  Loop ChannelBlocks() const { return Named("oc"); }
  // One by one, where lanes go along the width; the columns of a tile then.
  Loop Channel() const { return Named("c"); }
  Loop Pixels() const { return Named("x"); }
  // Rows: those of a tile, tiles, and blocks of tiles. Columns alike.
  Loop Row() const { return Named("row"); }
  Loop RowTiles() const { return Named("oh"); }
  Loop RowBlocks() const { return Named("ohb"); }
  Loop Column() const { return Named("col"); }
  Loop ColumnTiles() const { return Named("ow"); }
  // Tiles of a block that take turns: rows of them, and those of a row.
  Loop TurnRows() const { return Named("th"); }
  Loop TurnColumns() const { return Named("tw"); }
  // Tiles that registers hold: those of a line of pixels, and the pixels of one.
  Loop PixelTiles() const { return Named("mt"); }
  Loop TilePixel() const { return Named("m"); }
  // Input channels: chunks of blocks, blocks, the channels of one; steps that are unrolled, and
  // those of a dot product.
  Loop Chunks() const { return Named("chunk"); }
  Loop InputBlocks() const { return Named("icb"); }
  Loop InputChannels() const { return Named("ic"); }
  Loop Unrolled() const { return Named("unroll"); }
  Loop Dot() const { return Named("dot"); }
};

// The loops of the stages of Winograd's algorithm.
class WinogradLoops : public ConvLoops {
 public:
  WinogradLoops() = default;
  explicit WinogradLoops(Stage stage) : ConvLoops(std::move(stage)) {}
  WinogradLoops Init() const { return WinogradLoops(Stage::Init()); }

  // Tiles of the transform along the height and the width, and the blocks that these are cut into.
  Loop TilesDown() const { return Named("tile_h"); }
  Loop TilesAcross() const { return Named("tile_w"); }
  Loop BlocksDown() const { return Named("oh"); }
  Loop BlocksAcross() const { return Named("ow"); }
  // Blocks of slices of the depth, and the slices of one.
  Loop SliceBlocks() const { return Named("od"); }
  Loop Slice() const { return Named("slice"); }
  // Shares of the blocks of output channels.
  Loop Parts() const { return Named("part"); }
  // Products of a tile by rows, and those of a row.
  Loop ProductRows() const { return Named("ph"); }
  Loop ProductColumns() const { return Named("pw"); }
  // Phases of a stride among the channels, and vectors of the channels that are transformed.
  Loop Phases() const { return Named("phase"); }
  Loop DataVectors() const { return Named("cb"); }
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_LOOPS_H_
