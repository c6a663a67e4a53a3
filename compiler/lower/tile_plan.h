// Assigns tile registers to the tiles of a launch, before its code is emitted.
#ifndef HONE_COMPILER_LOWER_TILE_PLAN_H_
#define HONE_COMPILER_LOWER_TILE_PLAN_H_

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/stmt.h"
#include "compiler/loop/tile_operation.h"
#include "compiler/machine/units.h"

namespace hone::lower {

// The use and shape of a tile. Tiles of the same kind may share registers.
struct TileKind {
  enum class Use { kSum, kLeft, kRight };
  Use use = Use::kSum;
  int64_t rows = 0;
  int64_t row_bytes = 0;
  auto operator<=>(const TileKind&) const = default;

  static TileKind OfSums(const loop::TileOperation& op);
  static TileKind OfLeft(const loop::TileOperation& op);
  static TileKind OfRight(const loop::TileOperation& op);
};

struct TilePlan {
  // The operand of ldtilecfg, which says for each register how many rows it has, and bytes in a
  // row.
  using Shapes = std::array<uint8_t, 64>;
  // The registers for one allocation. `sums` has the register of each tile of sums, by the offset
  // of its first element. `factors` has the registers that tiles of factors share by turns.
  struct Region {
    std::map<int64_t, int> sums;
    std::map<TileKind, std::vector<int>> factors;
    size_t shapes = 0;  // index into TilePlan::shapes
  };
  absl::flat_hash_map<const loop::StmtNode*, Region> regions;  // by their kAlloc statement
  // By their outermost loop.
  absl::flat_hash_map<const loop::StmtNode*, loop::TileOperation> operations;
  std::vector<Shapes> shapes;  // only one if eight registers are enough for all regions
};

// Allocations of scope `tile` and loops that are not in the plan must be emitted as ordinary ones.
TilePlan PlanTiles(const loop::Stmt& launch, const machine::MatrixUnit& matrix);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_TILE_PLAN_H_
