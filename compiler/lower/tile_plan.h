// Which tile registers a launch does what in, decided before its code is emitted.
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

// Tiles of a kind may lie in the same registers.
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
  // The operand of ldtilecfg: rows and bytes of a row of each register.
  using Shapes = std::array<uint8_t, 64>;
  // The registers of one allocation: that of each tile of sums, by the offset of its first element;
  // those that tiles of factors take turns in.
  struct Region {
    std::map<int64_t, int> sums;
    std::map<TileKind, std::vector<int>> factors;
    size_t shapes = 0;
  };
  absl::flat_hash_map<const loop::StmtNode*, Region> regions;                  // by kAlloc
  absl::flat_hash_map<const loop::StmtNode*, loop::TileOperation> operations;  // by the loop
  std::vector<Shapes> shapes;  // one, where eight registers do for all regions
};

// Allocations of scope tile that are not in it, and loops that are not, are to be ordinary ones.
TilePlan PlanTiles(const loop::Stmt& launch, const machine::MatrixUnit& matrix);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_TILE_PLAN_H_
