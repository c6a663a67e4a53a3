// What the strategies of windows that combine the elements of one channel see of a kernel:
// depthwise convolutions of two axes, and pools of one to three.
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
  bool is_strict = false;           // only sums of the products as defined
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
  // Registers for sums: all but one for what is loaded, one for a weight.
  int64_t Accumulators() const { return registers - 2; }
  // Values of the knob "pad". "copy": a stage before the anchor fills a buffer, with zeros around
  // the data where it pads. "border": conditions in the tiles at the border.
  std::vector<std::string> PadOptions() const;
  // The tiles along an axis, counted from the last (-1 is the width), that are apart: the
  // conditions of wide borders stay where they are.
  Border PeeledBorder(int axis, int64_t tile) const;
};

// nullopt unless the kernel is such a convolution (a pool).
std::optional<Windowed> ViewWindowed(const ops::KernelDefinition& def, bool depthwise);
// All of it; the kernel is one.
Windowed WindowedOf(const Task& task, bool depthwise);

// 1, 2, ... up to the least of these, 1 in any case.
std::vector<int64_t> CountsUpTo(int64_t limit, int64_t extent, int64_t fits);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_WINDOW_VIEW_H_
