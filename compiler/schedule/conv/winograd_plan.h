// The numbers of Winograd's strategies. Along the height and the width, a tile has as many results
// as the strategy says where an axis has several taps, and one where it has a single tap. A stride
// is first turned into more channels.
#ifndef HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_PLAN_H_
#define HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_PLAN_H_

#include <cstdint>
#include <optional>

#include "compiler/schedule/conv/view.h"

namespace hone::schedule {

// The numbers of a strategy.
struct WinogradPlan {
  int64_t tile_h = 1, tile_w = 1;          // results of a tile
  int64_t products_h = 1, products_w = 1;  // positions of a tile
  int64_t rows = 0, columns = 0;           // tiles
  int64_t phases = 1;                      // how many channels strides make of one
  int64_t channels = 0;                    // that are summed: all phases of them
  // The part of the products that are computed. Phases may have fewer taps than the first; products
  // that would multiply the missing last tap can be left out.
  double used = 1;
  // Steps along the depth, in slices of the data: from one result to the next, and from one tap to
  // the next.
  int64_t depth_step = 1, tap_step = 1;

  int64_t Positions() const { return products_h * products_w; }
  int64_t Taps() const {
    return (products_h - tile_h + 1) * (products_w - tile_w + 1);
  }  // a phase's
  bool SkipsZeros() const { return used < 1; }
  bool InColumns() const { return products_h > 1 && products_w > 1; }
  bool UnrollsColumns() const { return products_w > 1; }
  // How many slices of the data `depth` slices of the result are made of.
  int64_t Slices(const Conv& conv, int64_t depth) const {
    return (depth - 1) * depth_step + (conv.taps_d - 1) * tap_step + 1;
  }
};
// The plan with tiles of `tile` results along an axis.
WinogradPlan PlanOf(const Conv& conv, int64_t tile);

// How far taps lie apart in a dilated two-dimensional convolution that SplitDilation turns into one
// of neighbouring taps over phases. DilationOf answers nullopt for other convolutions.
struct Dilation {
  int64_t h = 1, w = 1;
};
std::optional<Dilation> DilationOf(const Conv& conv);
// The convolution over the phases, which are its depth; `conv` itself where DilationOf is nullopt.
Conv WithoutDilation(const Conv& conv);

// About how many times larger the error with such tiles is than that of the direct sum.
double WinogradAmplification(const Conv& conv, int64_t tile);

// Whether the convolution can be computed by such tiles, and saves enough by them.
bool HasWinograd(const Conv& dilated, int64_t tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_PLAN_H_
