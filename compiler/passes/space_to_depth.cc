#include "compiler/passes/space_to_depth.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/machine/tensor_cores.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/window.h"
#include "compiler/passes/known_values.h"
#include "compiler/passes/numerics.h"
#include "compiler/passes/rewriting.h"
#include "compiler/passes/tensor_core_products.h"

namespace hone::passes {
namespace {

using ir::Expr;
using Ints = std::vector<int64_t>;

constexpr int64_t kSide = 2;           // of a square of pixels
constexpr int64_t kPixelChannels = 4;  // of each of them
constexpr int64_t kSquareChannels = kSide * kSide * kPixelChannels;

// The window of a convolution along one axis, in squares.
struct SquareWindow {
  int64_t taps = 0;
  int64_t before = 0, after = 0;              // padding
  int64_t zeros_before = 0, zeros_after = 0;  // taps of single pixels that the filters get
};

// nullopt where the window has no such form.
std::optional<SquareWindow> InSquares(const ops::Window& window, size_t axis, int64_t extent,
                                      int64_t positions) {
  if (window.strides[axis] != kSide || window.dilation[axis] != 1 || extent % kSide != 0) {
    return std::nullopt;
  }
  SquareWindow squares;
  // The first tap is the first pixel of a square.
  squares.zeros_before = window.before[axis] % kSide;
  const int64_t taps = window.taps[axis] + squares.zeros_before;
  squares.zeros_after = taps % kSide;
  squares.taps = (taps + squares.zeros_after) / kSide;
  squares.before = (window.before[axis] + squares.zeros_before) / kSide;
  squares.after = positions - 1 + squares.taps - extent / kSide - squares.before;
  if (squares.after < 0) return std::nullopt;
  return squares;
}

// Puts the pixels of a square, along the last two axes, side by side in the channels.
Expr SquaresOf(const Expr& pixels) {
  const Ints shape = ShapeOf(pixels);
  const Ints halves = {shape[2] / kSide, shape[3] / kSide};
  const Expr apart =
      Reshape(pixels, {shape[0], kPixelChannels, halves[0], kSide, halves[1], kSide});
  const Expr moved = MakeTyped("transpose", {apart}, {{"axes", Ints{0, 3, 5, 1, 2, 4}}});
  return Reshape(moved, {shape[0], kSquareChannels, halves[0], halves[1]});
}

// What FoldConstant makes a constant again.
bool IsConstantOrItsCast(const Expr& e) {
  return IsConstant(e) || (ir::IsCall(e, "cast") && IsConstant(e->args[0]));
}

// A convolution that has too few channels for tensor cores, and fits them in squares.
bool IsStem(const Expr& node, const machine::TensorCores& cores) {
  if (!ir::IsCall(node, "nn.conv2d") || !cores.Takes(DtypeOf(node->args[0]))) return false;
  const Ints& filters = ShapeOf(node->args[1]);
  constexpr int64_t kFewestTaps = 3;
  return IsConstantOrItsCast(node->args[1]) && filters[1] <= kPixelChannels &&
         std::min(filters[2], filters[3]) >= kFewestTaps && FitsTensorCores(node, kSquareChannels);
}

Expr StemOfSquares(const Expr& node, const machine::TensorCores& cores) {
  if (!IsStem(node, cores)) return nullptr;
  const Ints& image = ShapeOf(node->args[0]);
  const Ints& filters = ShapeOf(node->args[1]);
  const auto window = ops::ReadWindow(node->name, node->attrs, {filters[2], filters[3]});
  if (!window.ok()) return nullptr;
  const auto lines = InSquares(*window, 0, image[2], ShapeOf(node)[2]);
  const auto columns = InSquares(*window, 1, image[3], ShapeOf(node)[3]);
  if (!lines || !columns) return nullptr;
  const int64_t channels = kPixelChannels - filters[1];
  const Expr pixels =
      MakeTyped("nn.pad", {node->args[0]}, {{"pad_width", Ints{0, 0, 0, channels, 0, 0, 0, 0}}});
  const Expr taps =
      MakeTyped("nn.pad", {node->args[1]},
                {{"pad_width", Ints{0, 0, 0, channels, lines->zeros_before, lines->zeros_after,
                                    columns->zeros_before, columns->zeros_after}}});
  // Larger filters would be put together in every run.
  if (TypeOf(taps).ElementCount() > MostElements(node->args[1])) return nullptr;
  ir::Attrs attrs = node->attrs;
  attrs["strides"] = Ints{1, 1};
  attrs["padding"] = Ints{lines->before, columns->before, lines->after, columns->after};
  return MakeTyped(node->name, {SquaresOf(pixels), SquaresOf(taps)}, std::move(attrs));
}

}  // namespace

absl::StatusOr<ir::Module> SpaceToDepth(const ir::Module& module, const PassContext& context) {
  const machine::TensorCores cores = machine::TensorCores::Of(context.target);
  if (cores.TakeNothing()) return module;
  return MapFunctions(module, [&](const Expr& function) {
    if (NumericsOf(function) == ops::Numerics::kStrict) return function;
    return RewriteCounted(function, [&](const Expr& node, const UsedOnce& /*used_once*/) {
      const Expr squares = StemOfSquares(node, cores);
      return squares ? squares : node;
    });
  });
}

}  // namespace hone::passes
