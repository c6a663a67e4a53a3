#include "compiler/schedule/templates/dense_output.h"

namespace hone::schedule {

std::string TileDenseOutput(Sequence* s, const Dense& dense, const RegisterTile& block,
                            const std::string& order) {
  const std::string& out = dense.view.output;
  s->Split(dense.Axis(out, 1), dense.lanes, Tail::kGuard, out + ".v", out + ".lane");
  s->Split(out + ".v", block.vectors, Tail::kClip, out + ".nb", out + ".nv");
  s->Split(dense.Axis(out, 2), block.columns, Tail::kClip, out + ".mb", out + ".m");
  const bool units_first = order == "n_m";
  const std::string outer = out + (units_first ? ".nb" : ".mb");
  const std::string inner = out + (units_first ? ".mb" : ".nb");
  s->Reorder({outer, inner, out + ".m", out + ".nv", out + ".lane"});
  s->Vectorize(out + ".lane");
  if (dense.batched) s->Parallel(out + ".i0");
  s->Parallel(outer);
  s->Parallel(inner);
  return inner;
}

void PeelDenseOutput(Sequence* s, const Dense& dense, const RegisterTile& block) {
  const std::string& out = dense.view.output;
  if (dense.rows % block.columns != 0) s->PeelAll(out + ".mb", 0, 1);
  if (dense.units % (block.vectors * dense.lanes) != 0) s->PeelAll(out + ".nb", 0, 1);
}

}  // namespace hone::schedule
