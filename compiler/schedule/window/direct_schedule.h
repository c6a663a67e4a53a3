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

// The values of the knob "taps" for a tile: "unroll" unrolls all taps, "row" those along the width,
// and "loop" none.
std::vector<std::string> TapOptions(const Windowed& w, const RegisterTile& tile);
// Which of the loops over taps are to be unrolled by the value of that knob, by their numbers
// (Stage::Reduction).
std::vector<size_t> UnrolledTaps(const Windowed& w, const Config& config);

// The schedule of the direct strategy. Other strategies derive from it and override how the sums of
// a tile are formed. The task, the view and the config must outlive it.
class WindowSchedule {
 public:
  WindowSchedule(const Task& task, const Windowed& w, const Config& config);
  virtual ~WindowSchedule() = default;
  WindowSchedule(const WindowSchedule&) = delete;
  WindowSchedule& operator=(const WindowSchedule&) = delete;

  absl::StatusOr<loop::Nest> Run() &&;

 protected:
  // May put other stages in the place of the anchor's; does nothing by default.
  virtual void ChooseSums() {}
  virtual void PackWeight();
  virtual void TileReduction();
  virtual void UnrollReduction();

  // Computes a stage for one tile in registers. Its axes after the channels are those of a tile; it
  // has `extra_axes` more axes than the result.
  void ComputeTile(const Stage& stage, int extra_axes = 0);
  // Orders the loops of a stage: `order`, then those over vectors of channels and over lanes.
  void OrderTile(const WindowLoops& stage, std::vector<Loop> order);

  const Windowed& w_;
  Sequence s_;
  WindowLoops anchor_;

 private:
  void TileOutput();
  // The loops that become parallel, outermost first.
  std::vector<Loop> Grid() const;
  // The loop of a spatial axis: -1 is the width.
  Loop Axis(const Stage& stage, int from_end) const;
  // The stage's loops along the axes of a tile.
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
