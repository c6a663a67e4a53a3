// Convolutions and pooling of one to three axes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tests/compiler/codegen/random_workload.h"

namespace hone::codegen {
namespace {

struct Window {
  Shape taps, strides, dilation, before, after;

  size_t rank() const { return taps.size(); }
  std::string Padding() const {
    Shape all = before;
    all.insert(all.end(), after.begin(), after.end());
    return List(all);
  }
  int64_t Reach(size_t i) const { return dilation[i] * (taps[i] - 1) + 1; }
  // The extent of data that has room for one result and `more`.
  int64_t Data(size_t i, int64_t more) const {
    return std::max<int64_t>(1, Reach(i) - before[i] - after[i]) + more;
  }
  Shape ResultOf(const Shape& data) const {
    Shape result;
    for (size_t i = 0; i < rank(); ++i) {
      result.push_back((data[i] + before[i] + after[i] - Reach(i)) / strides[i] + 1);
    }
    return result;
  }
};

Window DrawWindow(Draw& draw, const Shape& taps, int64_t stride, int64_t dilation) {
  Window window;
  window.taps = taps;
  for (const int64_t tap : taps) {
    window.strides.push_back(1 + draw.Below(stride));
    window.dilation.push_back(1 + draw.Below(dilation));
    window.before.push_back(draw.Once(3) ? tap / 2 : draw.Below(tap));
    window.after.push_back(draw.Once(2) ? window.before.back() : draw.Below(tap));
  }
  return window;
}

Shape DrawTaps(Draw& draw, int rank, int64_t most) {
  Shape taps;
  for (int i = 0; i < rank; ++i) taps.push_back(1 + draw.Below(most));
  return taps;
}

int64_t SpatialLimit(size_t rank) { return rank == 1 ? 67 : rank == 2 ? 20 : 7; }

Shape DrawData(Draw& draw, const Window& window, int64_t limit) {
  Shape data;
  for (size_t i = 0; i < window.rank(); ++i) data.push_back(window.Data(i, draw.Extent(limit) - 1));
  return data;
}

Shape Concat(Shape a, const Shape& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// `in` and `out` channels a group.
void Conv(Draw& draw, const Window& window, int64_t in, int64_t out, int64_t groups) {
  const int64_t n = 1 + draw.Below(2);
  const Shape data = DrawData(draw, window, SpatialLimit(window.rank()));
  std::string input = draw.Param(Concat({n, in * groups}, data));
  if (draw.Once(6)) input = draw.Let(fmt::format("nn.relu({})", input));
  const std::string weight =
      draw.Param(Concat({out * groups, in}, window.taps), "float32", !draw.Once(8));
  const std::string value = draw.Let(fmt::format(
      "nn.conv{}d({}, {}, dilation={}, groups={}, padding={}, strides={})", window.rank(), input,
      weight, List(window.dilation), groups, window.Padding(), List(window.strides)));
  DrawEpilogue(draw, value, Concat({n, out * groups}, window.ResultOf(data)), 1);
}

std::function<void(Draw&)> ConvOf(int rank, int64_t taps, int64_t stride, int64_t dilation) {
  return [=](Draw& draw) {
    const Window window = DrawWindow(draw, DrawTaps(draw, rank, taps), stride, dilation);
    Conv(draw, window, draw.Extent(), draw.Extent(), 1);
  };
}

void Pointwise(Draw& draw) {
  Conv(draw, DrawWindow(draw, {1, 1}, draw.Once(4) ? 2 : 1, 1), draw.Extent(), draw.Extent(), 1);
}

void Stem(Draw& draw) {
  const int64_t taps = draw.Once(2) ? 7 : 3;
  Conv(draw, DrawWindow(draw, {taps, taps}, 2, 1), 1 + draw.Below(4), draw.Extent(), 1);
}

// Several blocks of channels, and windows that leave the data: tiles leave out what is outside, and
// sum a chunk of the channels after the other.
void Chunks(Draw& draw) {
  Window window = DrawWindow(draw, {3, 1 + draw.Below(3)}, 2, 2);
  window.before[0] = std::max<int64_t>(window.before[0], 1);
  Conv(draw, window, 32 * (1 + draw.Below(3)), draw.Extent(), 1);
}

bool LeavesOutPaddingInChunks(const schedule::Config& config) {
  return config.Int("chunk") > 0 && config.String("pad") == "border";
}

bool LeavesOutPaddingInChunksOfRows(const schedule::Config& config) {
  return LeavesOutPaddingInChunks(config) && config.Int("tile_h") > 1;
}

// As many as there must be for transforms to pay; degenerate ones too.
int64_t ManyChannels(Draw& draw) {
  static constexpr int64_t kMany[] = {16, 17, 24, 31, 32, 33, 48, 64};
  return draw.Once(3) ? draw.Extent() : kMany[draw.Below(std::size(kMany))];
}

// Strides of two, too: their phases are filters of their own.
void Winograd(Draw& draw) {
  static const Shape kTaps[] = {{3, 3}, {3, 3}, {3, 3}, {5, 5}, {1, 7},
                                {7, 1}, {7, 7}, {1, 3}, {3, 5}, {5, 7}};
  const Shape& taps = kTaps[draw.Below(std::size(kTaps))];
  const int64_t stride = taps[0] == 7 && taps[1] == 7 ? 2 : 1;
  Window window = DrawWindow(draw, taps, 1, 1);
  window.strides = {stride, stride};
  Conv(draw, window, ManyChannels(draw), ManyChannels(draw), 1);
}

// Phases of a dilation are convolutions of neighbouring taps.
void WinogradOfPhases(Draw& draw) {
  static const Shape kTaps[] = {{3, 3}, {3, 3}, {5, 3}, {1, 3}};
  Window window = DrawWindow(draw, kTaps[draw.Below(std::size(kTaps))], 1, 1);
  window.dilation = {1 + draw.Below(3), 2 + draw.Below(2)};
  Conv(draw, window, ManyChannels(draw), ManyChannels(draw), 1);
}

void Winograd3d(Draw& draw) {
  static const Shape kTaps[] = {{3, 3, 3}, {1, 3, 3}, {2, 3, 3}, {1, 1, 7}, {1, 5, 5}};
  Window window = DrawWindow(draw, kTaps[draw.Below(std::size(kTaps))], 1, 1);
  window.strides[0] = 1 + draw.Below(2);
  window.dilation[0] = 1 + draw.Below(2);
  Conv(draw, window, ManyChannels(draw), ManyChannels(draw), 1);
}

// Few taps, or more than most maps have elements.
int64_t MostTaps(Draw& draw, int64_t few) { return draw.Once(5) ? 31 : few; }

void Depthwise(Draw& draw) {
  const Window window = DrawWindow(draw, DrawTaps(draw, 2, MostTaps(draw, 5)), 2, 2);
  Conv(draw, window, 1, draw.Once(3) ? 1 + draw.Below(4) : 1, draw.Extent());
}

// Whose rows may be filtered: of three to five taps, at every element.
void FilteredDepthwise(Draw& draw) {
  Conv(draw, DrawWindow(draw, {1 + draw.Below(5), 3 + draw.Below(3)}, 1, 1), 1, 1, draw.Extent());
}

void Grouped(Draw& draw) {
  const int rank = draw.Once(2) ? 2 : 1 + static_cast<int>(draw.Below(3));
  const Window window = DrawWindow(draw, DrawTaps(draw, rank, 3), 2, 2);
  static constexpr int64_t kWidths[] = {1, 2, 3, 4, 5, 8, 12, 16, 24, 32, 40, 56};
  const auto width = [&] {
    return draw.Once(2) ? draw.Extent(33) : kWidths[draw.Below(std::size(kWidths))];
  };
  Conv(draw, window, width(), width(), 2 + draw.Below(7));
}

void Transposed(Draw& draw, int rank) {
  Window window = DrawWindow(draw, DrawTaps(draw, rank, 4), 1, 1);
  Shape extra, data, result;
  static constexpr int64_t kWidths[] = {1, 2, 3, 4, 8, 12, 16, 24};
  const int64_t groups = draw.Once(2) ? 1 : draw.Once(2) ? draw.Extent() : 2 + draw.Below(4);
  const auto width = [&] {
    if (groups == 1) return draw.Extent();
    return groups > 5 || draw.Once(4) ? 1 : kWidths[draw.Below(std::size(kWidths))];
  };
  const int64_t n = 1 + draw.Below(2), in = width(), out = width();
  for (size_t i = 0; i < window.rank(); ++i) {
    window.strides[i] = 1 + draw.Below(window.taps[i] + 1);
    if (window.strides[i] == 1) window.dilation[i] = 1 + draw.Below(2);
    extra.push_back(draw.Below(window.strides[i]));
    data.push_back(draw.Extent(SpatialLimit(window.rank())));
    const auto extent = [&] {
      return (data[i] - 1) * window.strides[i] + window.Reach(i) + extra[i] - window.before[i] -
             window.after[i];
    };
    if (extent() < 1) window.before[i] = window.after[i] = 0;
    result.push_back(extent());
  }
  const std::string input = draw.Param(Concat({n, in * groups}, data));
  const std::string weight = draw.Const(Concat({in * groups, out}, window.taps));
  const std::string value = draw.Let(fmt::format(
      "nn.conv{}d_transpose({}, {}, dilation={}, groups={}, output_padding={}, padding={}, "
      "strides={})",
      rank, input, weight, List(window.dilation), groups, List(extra), window.Padding(),
      List(window.strides)));
  DrawEpilogue(draw, value, Concat({n, out * groups}, result), 1);
}

std::function<void(Draw&)> TransposedOf(int rank) {
  return [=](Draw& draw) { Transposed(draw, rank); };
}

// Windows that begin and end with an element at least, where averages want one.
void Pool(Draw& draw, int rank) {
  const int64_t taps = rank == 3 ? 4 : MostTaps(draw, 4);
  Window window = DrawWindow(draw, DrawTaps(draw, rank, taps), 3, draw.Once(4) ? 2 : 1);
  const std::string input = draw.Param(Concat({1 + draw.Below(2), draw.Extent()},
                                              DrawData(draw, window, SpatialLimit(window.rank()))));
  const bool average = draw.Once(2);
  const std::string value = draw.Let(fmt::format(
      "nn.{}_pool{}d({}, ceil_mode={}{}, dilation={}, padding={}, pool_size={}, strides={})",
      average ? "avg" : "max", rank, input, draw.Of({"false", "true"}),
      average ? fmt::format(", count_include_pad={}", draw.Of({"false", "true"})) : "",
      List(window.dilation), window.Padding(), List(window.taps), List(window.strides)));
  if (draw.Once(3)) draw.Let(fmt::format("nn.relu({})", value));
}

void GlobalPool(Draw& draw) {
  const int rank = 1 + static_cast<int>(draw.Below(3));
  const std::string input = draw.Param(Concat(draw.Extents(2, 33), draw.Extents(rank, 17)));
  draw.Let(fmt::format("nn.global_{}_pool{}d({})", draw.Of({"avg", "max"}), rank, input));
}

}  // namespace

std::vector<Family> ConvFamilies() {
  return {{"conv2d", ConvOf(2, 4, 1, 1), ""},
          {"conv2d_direct", ConvOf(2, 5, 1, 1), "direct"},
          {"conv2d_chunks", Chunks, "direct", LeavesOutPaddingInChunks},
          {"conv2d_chunks_of_rows", Chunks, "direct", LeavesOutPaddingInChunksOfRows},
          {"conv2d_1x1", Pointwise, ""},
          {"conv2d_stem", Stem, ""},
          {"conv2d_strided", ConvOf(2, 4, 3, 1), ""},
          {"conv2d_dilated", ConvOf(2, 3, 2, 3), ""},
          {"conv2d_winograd", Winograd, "winograd"},
          {"conv2d_winograd_of_phases", WinogradOfPhases, "winograd"},
          {"conv_grouped", Grouped, ""},
          {"conv2d_depthwise", Depthwise, ""},
          {"conv2d_depthwise_filtered", FilteredDepthwise, "winograd2"},
          {"conv1d", ConvOf(1, 7, 2, 2), ""},
          {"conv3d", ConvOf(3, 3, 2, 2), ""},
          {"conv3d_winograd", Winograd3d, "winograd"},
          {"conv1d_transpose", TransposedOf(1), ""},
          {"conv2d_transpose", TransposedOf(2), ""},
          {"conv3d_transpose", TransposedOf(3), ""},
          {"pool1d", [](Draw& draw) { Pool(draw, 1); }, ""},
          {"pool2d", [](Draw& draw) { Pool(draw, 2); }, ""},
          {"pool3d", [](Draw& draw) { Pool(draw, 3); }, ""},
          {"pool_global", GlobalPool, ""}};
}

}  // namespace hone::codegen
