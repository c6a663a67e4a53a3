// The names of the loops that schedules of convolutions make.
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

  // Loops over output channels: over vectors of them, the vectors of a tile, and the blocks that
  // tiles have.
  Loop Vectors() const { return Named("v"); }
  Loop ChannelVectors() const { return Named("ocv"); }
  Loop ChannelBlocks() const { return Named("oc"); }
  // Where lanes go along the width: the loops over single output channels and over the columns of a
  // tile.
  Loop Channel() const { return Named("c"); }
  Loop Pixels() const { return Named("x"); }
  // Loops over rows: over those of a tile, tiles, and blocks of tiles; and the same over columns.
  Loop Row() const { return Named("row"); }
  Loop RowTiles() const { return Named("oh"); }
  Loop RowBlocks() const { return Named("ohb"); }
  Loop Column() const { return Named("col"); }
  Loop ColumnTiles() const { return Named("ow"); }
  // Loops over tiles of a block that take turns: over rows of them, and over those of a row.
  Loop TurnRows() const { return Named("th"); }
  Loop TurnColumns() const { return Named("tw"); }
  // Loops over tiles that tile registers hold: over those of a line of pixels, and over the pixels
  // of a tile.
  Loop PixelTiles() const { return Named("mt"); }
  Loop TilePixel() const { return Named("m"); }
  // Loops over input channels: over chunks of blocks, blocks, and the channels of a block; over
  // steps that are unrolled, and the channels of a dot product.
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

  // Loops over tiles of the transform along the height and the width, and over the blocks that
  // these are cut into.
  Loop TilesDown() const { return Named("tile_h"); }
  Loop TilesAcross() const { return Named("tile_w"); }
  Loop BlocksDown() const { return Named("oh"); }
  Loop BlocksAcross() const { return Named("ow"); }
  // Loops over blocks of slices of the depth, and over the slices of a block.
  Loop SliceBlocks() const { return Named("od"); }
  Loop Slice() const { return Named("slice"); }
  // The loop over shares of the blocks of output channels.
  Loop Parts() const { return Named("part"); }
  // Loops over the rows of products of a tile, and over the products of a row.
  Loop ProductRows() const { return Named("ph"); }
  Loop ProductColumns() const { return Named("pw"); }
  // Loops over the phases of a stride among the channels, and over vectors of the channels that are
  // transformed.
  Loop Phases() const { return Named("phase"); }
  Loop DataVectors() const { return Named("cb"); }
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_LOOPS_H_
