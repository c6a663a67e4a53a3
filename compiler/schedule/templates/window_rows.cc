#include "compiler/schedule/templates/window_rows.h"

#include "compiler/schedule/templates/fuse_stages.h"
#include "compiler/schedule/templates/sequence.h"

namespace hone::schedule {
namespace {

class WindowRowsSchedule {
 public:
  WindowRowsSchedule(const Task& task, const AnchorView& view, const WindowRows& rows)
      : view_(view), rows_(rows), s_(task.def->naive), out_(view.output) {}

  absl::StatusOr<loop::Nest> Run() && {
    anchor_ = FuseAroundAnchor(&s_, view_, "");
    TileOutput();
    TileReduction();
    for (const std::string& loop : {out_ + ".i0", out_ + ".i1", out_ + ".oh"}) {
      s_.ParallelIfPresent(loop);
    }
    Specialise();
    Vectorise();
    return std::move(s_).Finish();
  }

 private:
  void TileOutput() {
    s_.Split(out_ + ".i3", rows_.lanes * rows_.tile.vectors, Tail::kClip, out_ + ".ow",
             out_ + ".tile");
    s_.Split(out_ + ".tile", rows_.lanes, Tail::kClip, out_ + ".col", out_ + ".lane");
    s_.Split(out_ + ".i2", rows_.tile.rows, Tail::kClip, out_ + ".oh", out_ + ".row");
    std::vector<std::string> order;
    for (const char* name : {".i0", ".i1", ".oh", ".ow", ".row", ".col", ".lane"}) {
      order.push_back(out_ + name);
    }
    s_.Reorder(order);
  }

  void TileReduction() {
    s_.ComputeAt(anchor_, out_ + ".ow");
    // Of the batch, the channel and perhaps the row there is one.
    std::string outermost = anchor_ + ".i3";
    for (const char* name : {".i2", ".i1", ".i0"}) {
      if (s_.Has(anchor_ + name)) outermost = anchor_ + name;
    }
    s_.Decompose(outermost);
    for (const std::string& suffix : {std::string("_init"), std::string()}) {
      s_.Split(anchor_ + ".i3" + suffix, rows_.lanes, Tail::kClip, anchor_ + ".col" + suffix,
               anchor_ + ".lane" + suffix);
      std::vector<std::string> order;
      if (suffix.empty()) {
        for (const char* name : {".r0", ".r1", ".r2"}) order.push_back(anchor_ + name);
      }
      for (const char* name : {".i2", ".col", ".lane"}) order.push_back(anchor_ + name + suffix);
      s_.ReorderPresent(order);
    }
  }

  // Tiles at the border and shorter ones apart, of constant extents all.
  void Specialise() {
    s_.Simplify();
    s_.PeelAll(out_ + ".ow", rows_.columns.first, rows_.columns.last);
    s_.PeelAll(out_ + ".oh", rows_.rows.first, rows_.rows.last);
    s_.Simplify();
    if (view_.shape[3] % rows_.lanes != 0) {
      for (const std::string& loop : {out_ + ".col", anchor_ + ".col", anchor_ + ".col_init"}) {
        s_.PeelAll(loop, 0, 1);
      }
    }
    s_.Simplify();
  }

  void Vectorise() {
    for (const std::string& loop : {out_ + ".lane", anchor_ + ".lane"}) s_.VectorizeAll(loop);
    for (const std::string& loop :
         {out_ + ".row", out_ + ".col", anchor_ + ".i2", anchor_ + ".col"}) {
      s_.UnrollAll(loop);
    }
    for (const std::string& taps : rows_.unrolled_taps) s_.UnrollAll(anchor_ + taps);
  }

  const AnchorView& view_;
  const WindowRows& rows_;
  Sequence s_;
  std::string out_;
  std::string anchor_;
};

}  // namespace

absl::StatusOr<loop::Nest> ScheduleWindowRows(const Task& task, const AnchorView& view,
                                              const WindowRows& rows) {
  return WindowRowsSchedule(task, view, rows).Run();
}

}  // namespace hone::schedule
