#include "compiler/schedule/product/output.h"

#include <utility>
#include <vector>

#include "compiler/schedule/product/loops.h"

namespace hone::schedule {

namespace {

ProductLoops OutputOf(const Dense& dense) { return ProductLoops(Stage(dense.view.output)); }

// UnitBlocks and what is inside of it are there. The rows' loops, the grid; its inner loop is
// returned.
Loop MakeGrid(Sequence* s, const Dense& dense, const RegisterTile& block, const std::string& order,
              const std::vector<Loop>& units) {
  const ProductLoops out = OutputOf(dense);
  s->Split(dense.Axis(out, 2), block.columns, Tail::kClip, out.RowBlocks(), out.Rows());
  Loop outer = out.UnitBlocks();
  Loop inner = out.RowBlocks();
  if (order != "n_m") std::swap(outer, inner);
  std::vector<Loop> loops = {outer, inner, out.Rows()};
  loops.insert(loops.end(), units.begin(), units.end());
  s->Reorder(loops);
  if (dense.batched) s->Parallel(out.Axis(0));
  s->Parallel(outer);
  s->Parallel(inner);
  return inner;
}

}  // namespace

Loop TileDenseOutput(Sequence* s, const Dense& dense, const RegisterTile& block,
                     const std::string& order) {
  const ProductLoops out = OutputOf(dense);
  s->Split(dense.Axis(out, 1), dense.lanes, Tail::kGuard, out.Vectors(), out.Lane());
  s->Split(out.Vectors(), block.vectors, Tail::kClip, out.UnitBlocks(), out.UnitVectors());
  Loop inner = MakeGrid(s, dense, block, order, {out.UnitVectors(), out.Lane()});
  s->Vectorize(out.Lane());
  return inner;
}

Loop TileDenseOutputExactly(Sequence* s, const Dense& dense, const RegisterTile& block,
                            const std::string& order) {
  const ProductLoops out = OutputOf(dense);
  s->Split(dense.Axis(out, 1), block.vectors * dense.lanes, Tail::kClip, out.UnitBlocks(),
           out.Units());
  return MakeGrid(s, dense, block, order, {out.Units()});
}

void MaskDenseUnits(Sequence* s, const Dense& dense) {
  const ProductLoops out = OutputOf(dense);
  s->Split(out.Units(), dense.lanes, Tail::kGuard, out.UnitVectors(), out.Lane());
  s->Vectorize(out.Lane());
}

void PeelDenseOutput(Sequence* s, const Dense& dense, const RegisterTile& block) {
  const ProductLoops out = OutputOf(dense);
  if (dense.rows % block.columns != 0) s->PeelAll(out.RowBlocks(), 0, 1);
  if (dense.units % (block.vectors * dense.lanes) != 0) s->PeelAll(out.UnitBlocks(), 0, 1);
}

}  // namespace hone::schedule
