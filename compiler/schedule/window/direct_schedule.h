// Windows over blocks of channels: lanes are channels, a block of rows by columns (by channel
// vectors) stays in registers, taps are unrolled, and the tiles at the border, where windows leave
// the data, are apart, so that the others test nothing.
#ifndef HONE_COMPILER_SCHEDULE_WINDOW_DIRECT_SCHEDULE_H_
#define HONE_COMPILER_SCHEDULE_WINDOW_DIRECT_SCHEDULE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/template.h"
#include "compiler/schedule/window/loops.h"
#include "compiler/schedule/window/view.h"

namespace hone::schedule {

// Values of the knob "taps" of a tile: "unroll" all of them; "row": those along the width, the
// others in loops; "loop".
std::vector<std::string> TapOptions(const Windowed& w, const RegisterTile& tile);
// By that knob: which loops of the sum over taps to unroll.
std::vector<size_t> UnrolledTaps(const Windowed& w, const Config& config);

// The schedule of the direct strategy, and what others share with it: they override how the sums of
// a tile are formed. Task, view and config outlive it.
class WindowSchedule {
 public:
  WindowSchedule(const Task& task, const Windowed& w, const Config& config);
  virtual ~WindowSchedule() = default;
  WindowSchedule(const WindowSchedule&) = delete;
  WindowSchedule& operator=(const WindowSchedule&) = delete;

  absl::StatusOr<loop::Nest> Run() &&;

 protected:
  // Puts other stages in the place of the anchor's.
  virtual void ChooseSums() {}
  virtual void PackWeight();
  virtual void TileReduction();
  virtual void UnrollReduction();

  // Computes a stage, whose axes after the channels are a tile's, for one tile in registers.
  void ComputeTile(const Stage& stage, int extra_axes = 0);
  // Its loops: these, then vectors of channels.
  void OrderTile(const WindowLoops& stage, std::vector<Loop> order);

  const Windowed& w_;
  Sequence s_;
  WindowLoops anchor_;

 private:
  void TileOutput();
  // Outermost first.
  std::vector<Loop> Grid() const;
  // The loop of a spatial axis: -1 is the width.
  Loop Axis(const Stage& stage, int from_end) const;
  // Those of the tile.
  std::vector<Loop> TileAxes(const Stage& stage) const;
  void Specialise();

  const Task& task_;
  const Config& config_;
  RegisterTile tile_;
  WindowLoops out_;
  bool copies_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_WINDOW_DIRECT_SCHEDULE_H_
