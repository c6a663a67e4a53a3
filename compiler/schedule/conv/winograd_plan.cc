#include "compiler/schedule/conv/winograd_plan.h"

#include <algorithm>

#include "compiler/schedule/primitives/toom_cook.h"
#include "compiler/schedule/primitives/winograd.h"

namespace hone::schedule {
namespace {

// from_end: 1 is the width. As it is without transforms, unless there is a tile.
WinogradAxis AxisOf(const Conv& conv, size_t from_end, int64_t tile = 1) {
  return {conv.window.strides[conv.window.strides.size() - from_end],
          from_end == 1 ? conv.taps_w : conv.taps_h, from_end == 1 ? conv.width : conv.height,
          tile};
}

// The products of all phases. The last product of phases with fewer taps is zero; it is left out
// where phases are far enough apart that this is worth it.
int64_t UsedProducts(const Conv& conv, const WinogradAxis& axis) {
  const int64_t zeros = conv.blocked_data ? axis.phases - axis.FullPhases() : 0;
  return axis.phases * axis.products - zeros;
}

double UsedPart(const Conv& conv, const WinogradAxis& axis) {
  return static_cast<double>(UsedProducts(conv, axis)) /
         static_cast<double>(axis.phases * axis.products);
}

double Amplification(const WinogradAxis& axis) {
  return axis.IsTransformed() ? MakeToomCook(axis.tile, axis.taps).Amplification() : 1;
}

// The step from one tap to the next. For a single tap any step is one.
int64_t StepOfTaps(const Conv& conv, size_t from_end) {
  const ops::Shape& taps = conv.window.taps;
  const ops::Shape& dilation = conv.window.dilation;
  return taps[taps.size() - from_end] > 1 ? dilation[dilation.size() - from_end] : 1;
}

bool FitsWinograd(const Conv& conv) {
  if (conv.spatial < 2 || conv.transposed || conv.groups != 1 || conv.is_strict ||
      conv.kind != ProductKind::kFloat || !conv.weight_is_constant || conv.out < conv.lanes) {
    return false;
  }
  const ops::Shape& dilation = conv.window.dilation;
  const bool is_dilated = dilation[dilation.size() - 1] != 1 || dilation[dilation.size() - 2] != 1;
  if (is_dilated && !DilationOf(conv)) return false;
  const int64_t phases = AxisOf(conv, 2).phases * AxisOf(conv, 1).phases;
  if (phases == 1) return conv.in >= conv.lanes && conv.blocked_data;
  // Vectors are channels of one phase, or all phases of a few channels.
  if (conv.blocked_data) return conv.in % conv.lanes == 0;
  return conv.in < conv.lanes && 2 * conv.in * phases >= conv.lanes;
}

// Multiplications of the direct sum for one of the products, those of tiles beyond the result
// and of taps of value zero counted as far as they are done.
double SavingOf(const Conv& conv, const WinogradAxis& axis) {
  return static_cast<double>(axis.weight_taps * axis.extent) /
         static_cast<double>(UsedProducts(conv, axis) * axis.tiles);
}

// Whether tiles of this size are exact enough (decision 0008), and save so many multiplications
// that the transforms may be worth it.
bool IsWorthwhile(const Conv& conv, const WinogradAxis& h, const WinogradAxis& w) {
  constexpr double kMostAmplification = 32;
  constexpr double kLeastSaving = 1.5;
  if (std::max(h.products, w.products) > kMostToomCookProducts) return false;
  if (SavingOf(conv, h) * SavingOf(conv, w) < kLeastSaving) return false;
  return Amplification(h) * Amplification(w) <= kMostAmplification;
}

// The products of both axes together.
int64_t ProductsOf(const Conv& conv, int64_t tile) {
  const WinogradAxis h = AxisOf(conv, 2, tile), w = AxisOf(conv, 1, tile);
  return h.products * h.tiles * w.products * w.tiles;
}

bool IsOffered(const Conv& conv, int64_t tile) {
  const WinogradAxis h = AxisOf(conv, 2, tile), w = AxisOf(conv, 1, tile);
  if (!h.IsTransformed() && !w.IsTransformed()) return false;
  if (h.tile > h.extent || w.tile > w.extent) return false;
  const bool three_by_three = h.weight_taps == 3 && w.weight_taps == 3 && h.phases * w.phases == 1;
  if (!three_by_three) return IsWorthwhile(conv, h, w);
  // Measured: tiles of two and four results, and others where they come out with fewer products
  // than those of four, as tiles of five do in 14x14 results.
  if (tile == 2 || tile == 4) return true;
  return 10 * ProductsOf(conv, tile) <= 9 * ProductsOf(conv, 4) && IsWorthwhile(conv, h, w);
}

}  // namespace

WinogradPlan PlanOf(const Conv& conv, int64_t tile) {
  const WinogradAxis h = AxisOf(conv, 2, tile), w = AxisOf(conv, 1, tile);
  WinogradPlan plan;
  plan.tile_h = h.tile;
  plan.tile_w = w.tile;
  plan.products_h = h.products;
  plan.products_w = w.products;
  plan.rows = h.tiles;
  plan.columns = w.tiles;
  plan.phases = h.phases * w.phases;
  plan.channels = conv.in * plan.phases;
  plan.used = UsedPart(conv, h) * UsedPart(conv, w);
  if (conv.spatial == 3) {
    plan.depth_step = conv.window.strides[0];
    plan.tap_step = conv.window.dilation[0];
  }
  return plan;
}

double WinogradAmplification(const Conv& conv, int64_t tile) {
  return Amplification(AxisOf(conv, 2, tile)) * Amplification(AxisOf(conv, 1, tile));
}

std::optional<Dilation> DilationOf(const Conv& conv) {
  const auto is_one = [](int64_t stride) { return stride == 1; };
  if (conv.spatial != 2 || !std::ranges::all_of(conv.window.strides, is_one) ||
      !conv.operand_blocked) {
    return std::nullopt;
  }
  const Dilation dilation{StepOfTaps(conv, 2), StepOfTaps(conv, 1)};
  return dilation.h * dilation.w > 1 ? std::make_optional(dilation) : std::nullopt;
}

Conv WithoutDilation(const Conv& conv) {
  const std::optional<Dilation> dilation = DilationOf(conv);
  if (!dilation) return conv;
  Conv phases = conv;
  phases.spatial = 3;
  phases.depth = phases.data_depth = dilation->h * dilation->w;
  phases.height = CeilDiv(conv.height, dilation->h);
  phases.width = CeilDiv(conv.width, dilation->w);
  phases.window.taps = {1, conv.taps_h, conv.taps_w};
  phases.window.strides = phases.window.dilation = {1, 1, 1};
  phases.window.before = phases.window.after = {0, 0, 0};
  phases.phases = {1, 1, 1};
  phases.result_axes = {phases.depth, phases.height, phases.width};
  phases.copies_data = phases.blocked_data = true;
  phases.pads = false;
  return phases;
}

bool HasWinograd(const Conv& dilated, int64_t tile) {
  return FitsWinograd(dilated) && IsOffered(WithoutDilation(dilated), tile);
}

}  // namespace hone::schedule
