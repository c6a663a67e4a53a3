// What the strategies of windows see of a kernel. Such windows combine elements of one channel:
// those of depthwise convolutions of two spatial axes, and of pools of one to three.
#ifndef HONE_COMPILER_SCHEDULE_WINDOW_VIEW_H_
#define HONE_COMPILER_SCHEDULE_WINDOW_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ops/window.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/kernel/window_border.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

struct Windowed {
  AnchorView view;
  bool depthwise = false;
  std::string weight;               // depthwise
  bool weight_is_constant = false;  // likewise
  bool is_strict = false;           // only the sums of products as defined are allowed
  bool is_float = false;            // the data is float32
  std::string copy;                 // the last stage before the anchor; empty: none
  bool pads = false;                // that stage pads the data and does nothing else
  std::vector<int64_t> data_shape;
  int spatial = 2;  // axes: width, then height, then depth, as far as they go
  int64_t channels = 0, depth = 1, height = 1, width = 1;
  ops::Window window;  // of these axes
  // What the target says; ViewWindowed leaves it out.
  int64_t lanes = 0, registers = 0;
  int64_t vectors = 0;  // of channels

  int rank() const { return spatial + 2; }
  int64_t Taps() const;
  // How many registers sums may have: all but one for what is loaded and one for a weight.
  int64_t Accumulators() const { return registers - 2; }
  // Values of the knob "pad". "copy": a stage before the anchor fills a buffer, with zeros around
  // the data where it pads. "border": conditions in the tiles at the border.
  std::vector<std::string> PadOptions() const;
  // How many tiles at the ends of an axis are peeled, so that only they test conditions. A border
  // that is too wide is not peeled, and all tiles keep its conditions. Axes count from the last: -1
  // is the width.
  Border PeeledBorder(int axis, int64_t tile) const;
};

// nullopt unless the kernel is such a convolution if `depthwise`, or such a pool if not.
std::optional<Windowed> ViewWindowed(const ops::KernelDefinition& def, bool depthwise);
// The whole view; the kernel of the task must be such a kernel.
Windowed WindowedOf(const Task& task, bool depthwise);

// 1, 2, ... up to the least of the three arguments, and 1 in any case.
std::vector<int64_t> CountsUpTo(int64_t limit, int64_t extent, int64_t fits);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_WINDOW_VIEW_H_
