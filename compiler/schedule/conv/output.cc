#include "compiler/schedule/conv/output.h"

namespace hone::schedule {

std::vector<std::string> GridOrders(const Conv& conv) {
  if (conv.out_vectors == 1 || conv.depth * conv.height == 1) return {"oc_oh"};
  return {"oc_oh", "oh_oc"};
}

std::vector<std::string> ConvGrid(const Conv& conv, const std::string& order,
                                  const std::string& rows) {
  const std::string& out = conv.view.output;
  std::vector<std::string> grid = {out + ".i0"};
  for (int d = conv.spatial; d > 0; --d) {
    if (conv.Phases(d) > 1) grid.push_back(conv.Axis(out, d) + ".phase");
  }
  if (conv.spatial > 2) grid.push_back(conv.Axis(out, 3));
  if (conv.spatial > 1) grid.push_back(out + "." + rows);
  grid.insert(order == "oc_oh" ? grid.begin() + 1 : grid.end(), out + ".oc");
  return grid;
}

void SplitPhases(Sequence* s, const Conv& conv, int from_last) {
  const int64_t phases = conv.Phases(from_last);
  if (phases == 1) return;
  const bool whole = conv.result_axes[static_cast<size_t>(conv.spatial - from_last)] % phases == 0;
  const std::string axis = conv.Axis(conv.view.output, from_last);
  s->Split(axis, phases, whole ? Tail::kExact : Tail::kGuard, axis, axis + ".phase");
}

void SplitConvOutput(Sequence* s, const Conv& conv, const RegisterTile& block) {
  const std::string& out = conv.view.output;
  s->Split(out + ".i1", conv.lanes, Tail::kGuard, out + ".v", out + ".lane");
  s->Split(out + ".v", block.vectors, Tail::kClip, out + ".oc", out + ".ocv");
  for (int d = conv.spatial; d > 0; --d) SplitPhases(s, conv, d);
  if (conv.spatial > 1) {
    s->Split(conv.Axis(out, 2), block.rows, Tail::kClip, out + ".oh", out + ".row");
  }
  s->Split(conv.Axis(out, 1), block.columns, Tail::kClip, out + ".ow", out + ".col");
}

void OrderConvOutput(Sequence* s, const Conv& conv, const std::vector<std::string>& outer) {
  const std::string& out = conv.view.output;
  std::vector<std::string> order = outer;
  for (const char* name : {".ow", ".row", ".col", ".ocv", ".lane"}) order.push_back(out + name);
  s->ReorderPresent(order);
  s->Vectorize(out + ".lane");
}

Border RowBorder(const Conv& conv, const RegisterTile& tile) {
  return BorderOf(conv.window, conv.spatial - 2, conv.data_height, conv.height, tile.rows);
}

Border ColumnBorder(const Conv& conv, const RegisterTile& tile) {
  return BorderOf(conv.window, conv.spatial - 1, conv.data_width, conv.width, tile.columns);
}

}  // namespace hone::schedule
