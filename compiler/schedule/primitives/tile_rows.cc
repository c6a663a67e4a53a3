#include "compiler/schedule/primitives/tile_rows.h"

#include "compiler/loop/tile_operation.h"
#include "compiler/machine/units.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

absl::Status TileRows(loop::Nest* nest, const Loop& loop) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  const loop::StmtNode& s = *site.stmt;
  if (s.loop_kind != loop::LoopKind::kSerial || !loop::MatchTile(site.stmt, BoundsAt(site))) {
    return absl::FailedPreconditionError(
        fmt::format("loop '{}' must zero, add products to, or copy to memory at most {} rows of {} "
                    "sums of scope tile, found {}",
                    loop.name(), machine::kAmxTile.rows, machine::kAmxTile.SumLanes(),
                    loop::ToText(site.stmt)));
  }
  ReplaceAt(nest, site, loop::For(s.var, s.min, s.extent, s.body[0], loop::LoopKind::kTile));
  return absl::OkStatus();
}

}  // namespace hone::schedule
