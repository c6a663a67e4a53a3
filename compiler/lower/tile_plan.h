// Assigns tile registers (AMX) to the tiles of a launch, before its code is emitted.
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
  // The operand of ldtilecfg, which sets the number of rows and of bytes in a row of each register.
  using Shapes = std::array<uint8_t, 64>;
  // The registers for one allocation of sums. `sums` maps the offset of a tile's first element in
  // that buffer, in elements, to the register that holds the tile. `factors` has, for each kind of
  // tile, the registers into which tiles of factors are loaded in turn.
  struct Region {
    std::map<int64_t, int> sums;
    std::map<TileKind, std::vector<int>> factors;
    size_t shapes = 0;  // index into TilePlan::shapes
  };
  absl::flat_hash_map<const loop::StmtNode*, Region> regions;  // keyed by kAlloc statement
  // Keyed by the outermost loop of the operation.
  absl::flat_hash_map<const loop::StmtNode*, loop::TileOperation> operations;
  // Has only one element if a single setting of the eight registers suits all regions.
  std::vector<Shapes> shapes;
};

// `launch` is the body of a launch. An allocation of scope `tile` or a tile loop that is not in the
// plan must be emitted like any other allocation or loop.
TilePlan PlanTiles(const loop::Stmt& launch, const machine::MatrixUnit& matrix);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_TILE_PLAN_H_
