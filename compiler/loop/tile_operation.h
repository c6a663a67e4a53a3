// Loops marked `tile`: one operation of tile registers, as docs/loop-nests.md has them.
#ifndef HONE_COMPILER_LOOP_TILE_OPERATION_H_
#define HONE_COMPILER_LOOP_TILE_OPERATION_H_

#include <cstdint>
#include <optional>

#include "compiler/loop/bounds.h"
#include "compiler/loop/stmt.h"

namespace hone::loop {

// Rows of a tile in memory, each of neighbouring elements.
struct TileOperand {
  Expr load;           // or of what is stored, the element
  int64_t stride = 0;  // from row to row, in elements
};

struct TileOperation {
  enum class Kind { kZero, kMultiply, kStore };
  Kind kind = Kind::kZero;
  Buffer sums;
  std::vector<Expr> indices;  // of the sums, in the innermost statement
  Linear first;               // where the first of them lies; of the variables around the loop
  int64_t sums_stride = 0;    // from row to row
  int64_t rows = 1;
  int64_t lanes = 1;             // of a row
  int64_t steps = 1;             // kMultiply: of `dot` terms each
  int64_t dot = 1;               // kMultiply
  TileOperand left;              // kMultiply: a row of it for each row of the tile
  TileOperand right;             // kMultiply: a row of it for each step, or for each lane
  bool right_has_lanes = false;  // kMultiply: a row of `right` is the terms of a lane
  TileOperand target;            // kStore
  std::vector<Expr> variables;   // that the operation's loops bind, outermost first
};

// What the loop, of kind kTile, does; `bounds` are those around it. nullopt where it has another
// form. Which of the forms a target has an instruction for is asked elsewhere.
std::optional<TileOperation> MatchTile(const Stmt& loop, const Bounds& bounds);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_TILE_OPERATION_H_
