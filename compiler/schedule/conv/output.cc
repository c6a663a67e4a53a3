#include "compiler/schedule/conv/output.h"

namespace hone::schedule {

std::vector<std::string> GridOrders(const Conv& conv) {
  if (conv.out_vectors == 1 || conv.depth * conv.height == 1) return {"oc_oh"};
  return {"oc_oh", "oh_oc"};
}

namespace {

ConvLoops OutputOf(const Conv& conv) { return ConvLoops(Stage(conv.view.output)); }

}  // namespace

std::vector<Loop> ConvGrid(const Conv& conv, const std::string& order, const Loop& rows) {
  const ConvLoops out = OutputOf(conv);
  std::vector<Loop> grid = {out.Axis(0)};
  for (int d = conv.spatial; d > 0; --d) {
    if (conv.Phases(d) > 1) grid.push_back(conv.Axis(out, d).Phase());
  }
  if (conv.spatial > 2) grid.push_back(conv.Axis(out, 3));
  if (conv.spatial > 1) grid.push_back(rows);
  grid.insert(order == "oc_oh" ? grid.begin() + 1 : grid.end(), out.ChannelBlocks());
  return grid;
}

void SplitPhases(Sequence* s, const Conv& conv, int from_last) {
  const int64_t phases = conv.Phases(from_last);
  if (phases == 1) return;
  const bool whole = conv.result_axes[static_cast<size_t>(conv.spatial - from_last)] % phases == 0;
  const Loop axis = conv.Axis(OutputOf(conv), from_last);
  s->Split(axis, phases, whole ? Tail::kExact : Tail::kGuard, axis, axis.Phase());
}

void SplitConvOutput(Sequence* s, const Conv& conv, const RegisterTile& block) {
  const ConvLoops out = OutputOf(conv);
  s->Split(out.Axis(1), conv.lanes, Tail::kGuard, out.Vectors(), out.Lane());
  s->Split(out.Vectors(), block.vectors, Tail::kClip, out.ChannelBlocks(), out.ChannelVectors());
  for (int d = conv.spatial; d > 0; --d) SplitPhases(s, conv, d);
  if (conv.spatial > 1) {
    s->Split(conv.Axis(out, 2), block.rows, Tail::kClip, out.RowTiles(), out.Row());
  }
  s->Split(conv.Axis(out, 1), block.columns, Tail::kClip, out.ColumnTiles(), out.Column());
}

void OrderConvOutput(Sequence* s, const Conv& conv, const std::vector<Loop>& outer) {
  const ConvLoops out = OutputOf(conv);
  std::vector<Loop> order = outer;
  order.insert(order.end(),
               {out.ColumnTiles(), out.Row(), out.Column(), out.ChannelVectors(), out.Lane()});
  s->ReorderPresent(order);
  s->Vectorize(out.Lane());
}

Border RowBorder(const Conv& conv, const RegisterTile& tile) {
  return BorderOf(conv.window, conv.spatial - 2, conv.data_height, conv.height, tile.rows);
}

Border ColumnBorder(const Conv& conv, const RegisterTile& tile) {
  return BorderOf(conv.window, conv.spatial - 1, conv.data_width, conv.width, tile.columns);
}

}  // namespace hone::schedule
