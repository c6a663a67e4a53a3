#include "compiler/schedule/product/output.h"

namespace hone::schedule {

namespace {

// nb and what is inside of it are there. The rows' loops, the grid; its inner loop is returned.
std::string MakeGrid(Sequence* s, const Dense& dense, const RegisterTile& block,
                     const std::string& order, const std::vector<std::string>& units) {
  const std::string& out = dense.view.output;
  s->Split(dense.Axis(out, 2), block.columns, Tail::kClip, out + ".mb", out + ".m");
  const bool units_first = order == "n_m";
  const std::string outer = out + (units_first ? ".nb" : ".mb");
  const std::string inner = out + (units_first ? ".mb" : ".nb");
  std::vector<std::string> loops = {outer, inner, out + ".m"};
  loops.insert(loops.end(), units.begin(), units.end());
  s->Reorder(loops);
  if (dense.batched) s->Parallel(out + ".i0");
  s->Parallel(outer);
  s->Parallel(inner);
  return inner;
}

}  // namespace

std::string TileDenseOutput(Sequence* s, const Dense& dense, const RegisterTile& block,
                            const std::string& order) {
  const std::string& out = dense.view.output;
  s->Split(dense.Axis(out, 1), dense.lanes, Tail::kGuard, out + ".v", out + ".lane");
  s->Split(out + ".v", block.vectors, Tail::kClip, out + ".nb", out + ".nv");
  std::string inner = MakeGrid(s, dense, block, order, {out + ".nv", out + ".lane"});
  s->Vectorize(out + ".lane");
  return inner;
}

std::string TileDenseOutputExactly(Sequence* s, const Dense& dense, const RegisterTile& block,
                                   const std::string& order) {
  const std::string& out = dense.view.output;
  s->Split(dense.Axis(out, 1), block.vectors * dense.lanes, Tail::kClip, out + ".nb", out + ".n");
  return MakeGrid(s, dense, block, order, {out + ".n"});
}

void MaskDenseUnits(Sequence* s, const Dense& dense) {
  const std::string& out = dense.view.output;
  s->Split(out + ".n", dense.lanes, Tail::kGuard, out + ".nv", out + ".lane");
  s->Vectorize(out + ".lane");
}

void PeelDenseOutput(Sequence* s, const Dense& dense, const RegisterTile& block) {
  const std::string& out = dense.view.output;
  if (dense.rows % block.columns != 0) s->PeelAll(out + ".mb", 0, 1);
  if (dense.units % (block.vectors * dense.lanes) != 0) s->PeelAll(out + ".nb", 0, 1);
}

}  // namespace hone::schedule
