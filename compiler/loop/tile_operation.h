// Recognises loops marked `tile`, each one operation on tile registers (docs/loop-nests.md).
#ifndef HONE_COMPILER_LOOP_TILE_OPERATION_H_
#define HONE_COMPILER_LOOP_TILE_OPERATION_H_

#include <cstdint>
#include <optional>

#include "compiler/loop/bounds.h"
#include "compiler/loop/stmt.h"

namespace hone::loop {

// The rows of a tile in memory; the elements of a row are neighbours.
struct TileOperand {
  Expr load;           // the load of an element; for kStore, the element that is stored to
  int64_t stride = 0;  // from row to row, in elements
};

struct TileOperation {
  enum class Kind { kZero, kMultiply, kStore };
  Kind kind = Kind::kZero;
  Buffer sums;
  std::vector<Expr> indices;  // where the innermost statement accesses `sums`
  Linear first;               // position of the first sum, by the variables around the loop
  int64_t sums_stride = 0;    // from row to row
  int64_t rows = 1;
  int64_t lanes = 1;              // of a row
  int64_t steps = 1;              // kMultiply: steps of the sum, each of `dot` terms
  int64_t dot = 1;                // kMultiply
  TileOperand left;               // kMultiply: a row of it for each row of the tile
  TileOperand right;              // kMultiply: a row of it for each step, or for each lane
  bool right_has_lanes = false;   // kMultiply: a row of `right` is the terms of a lane
  TileOperand target;             // kStore: a row of it for each row of the tile, or for each lane
  bool target_has_lanes = false;  // kStore: a row of `target` is the sums of a lane
  std::vector<Expr> variables;    // that the operation's loops bind, outermost first
};

// The operation that the loop, of kind kTile, is; `bounds` are known at the loop. nullopt if the
// loop has another form. Whether a target has an instruction for the operation is not asked here.
std::optional<TileOperation> MatchTile(const Stmt& loop, const Bounds& bounds);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_TILE_OPERATION_H_
