#include "compiler/schedule/primitives/dilation_phases.h"

#include <utility>
#include <vector>

#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/stage_writer.h"
#include "compiler/schedule/primitives/weighted_sum.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;

namespace {

struct Dilated : WeightedSum {
  explicit Dilated(WeightedSum sum) : WeightedSum(std::move(sum)) {}

  int64_t step_h = 1, step_w = 1;  // from one tap to the next
  Expr element;                    // that the first tap of the window at these axes multiplies

  // What the windows read at row y and column x.
  Expr At(const Expr& n, const Expr& channel, const Expr& y, const Expr& x) const {
    return loop::Substitute(
        element,
        {{axes[0].get(), n}, {sums[0].get(), channel}, {axes[2].get(), y}, {axes[3].get(), x}});
  }
  // Rows and columns that all windows read.
  int64_t Rows() const { return result->shape[2] + (weight->shape[2] - 1) * step_h; }
  int64_t Columns() const { return result->shape[3] + (weight->shape[3] - 1) * step_w; }
};

// `f(n, ic, h + step_h * kh, w + step_w * kw) * weight[oc, ic, kh, kw]`, where f is any value.
bool TakeFactors(Dilated* conv) {
  // A loop over a single tap may have any step.
  const auto tap = [&](size_t axis) {
    return conv->weight->shape[axis] == 1 ? Expr(0) : conv->sums[axis - 1];
  };
  const auto with_taps = [&](const Expr& e, const Expr& h, const Expr& w) {
    return loop::Substitute(e, {{conv->sums[1].get(), h}, {conv->sums[2].get(), w}});
  };
  for (size_t d = 1; d < conv->axes.size(); ++d) {
    if (!conv->weight_at[d].SameAs(conv->sums[d - 1])) return false;
  }
  if (Loads(conv->factor, conv->result)) return false;
  conv->element = with_taps(conv->factor, 0, 0);
  const Expr again =
      conv->At(conv->axes[0], conv->sums[0], conv->axes[2] + tap(2) * Expr(conv->step_h),
               conv->axes[3] + tap(3) * Expr(conv->step_w));
  const Expr factor = with_taps(conv->factor, tap(2), tap(3));
  return loop::StructuralEqual(loop::Simplify(again, {}), loop::Simplify(factor, {}));
}

absl::StatusOr<Dilated> MatchDilated(const loop::Nest& nest, const std::string& name,
                                     int64_t step_h, int64_t step_w) {
  HONE_ASSIGN_OR_RETURN(WeightedSum sum, MatchWeightedSum(nest, name));
  Dilated conv(std::move(sum));
  conv.step_h = step_h;
  conv.step_w = step_w;
  if (conv.axes.size() != 4 || !TakeFactors(&conv)) {
    return absl::FailedPreconditionError(fmt::format(
        "the stage of '{}' must be a convolution of two axes, of stride one and taps {} and {} "
        "apart",
        name, step_h, step_w));
  }
  return conv;
}

Buffer DataOf(const Dilated& conv, StageWriter* writer) {
  const std::vector<int64_t>& weight = conv.weight->shape;
  const int64_t rows = CeilDiv(conv.result->shape[2], conv.step_h) + weight[2] - 1;
  const int64_t columns = CeilDiv(conv.result->shape[3], conv.step_w) + weight[3] - 1;
  const int64_t phases = conv.step_h * conv.step_w;
  return writer->Compute(
      "data", {conv.result->shape[0], weight[1], phases, rows, columns},
      [&](const std::vector<Expr>& i) {
        const Expr y = i[3] * Expr(conv.step_h) + FloorDiv(i[2], conv.step_w);
        const Expr x = i[4] * Expr(conv.step_w) + FloorMod(i[2], conv.step_w);
        const Expr element = conv.At(i[0], i[1], y, x);
        if (rows * conv.step_h == conv.Rows() && columns * conv.step_w == conv.Columns()) {
          return element;
        }
        // The last windows of some phases reach beyond what there is.
        const Expr inside = loop::And(loop::Lt(y, conv.Rows()), loop::Lt(x, conv.Columns()));
        return Select(inside, element, loop::Const(0, element->dtype));
      });
}

}  // namespace

absl::StatusOr<DilationStages> SplitDilation(loop::Nest* nest, const Stage& stage,
                                             int64_t dilation_h, int64_t dilation_w) {
  HONE_ASSIGN_OR_RETURN(const Dilated conv,
                        MatchDilated(*nest, stage.buffer(), dilation_h, dilation_w));
  const std::vector<int64_t> extents = conv.weight->shape;
  StageWriter writer(nest, conv.result);
  const Buffer data = DataOf(conv, &writer);
  const Buffer weight = writer.Compute(
      "weight", {extents[0], extents[1], 1, extents[2], extents[3]},
      [&](const std::vector<Expr>& i) { return Load(conv.weight, {i[0], i[1], i[3], i[4]}); });
  const Buffer result = writer.Sum(
      "phases",
      {conv.result->shape[0], extents[0], dilation_h * dilation_w,
       CeilDiv(conv.result->shape[2], dilation_h), CeilDiv(conv.result->shape[3], dilation_w)},
      {extents[1], 1, extents[2], extents[3]},
      [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
        return Load(data, {i[0], r[0], i[2] + r[1], i[3] + r[2], i[4] + r[3]}) *
               Load(weight, {i[1], r[0], r[1], r[2], r[3]});
      });
  writer.Fill(conv.result, [&](const std::vector<Expr>& i) {
    const Expr phase = FloorMod(i[2], dilation_h) * Expr(dilation_w) + FloorMod(i[3], dilation_w);
    return Load(result,
                {i[0], i[1], phase, FloorDiv(i[2], dilation_h), FloorDiv(i[3], dilation_w)});
  });
  std::move(writer).Replace(conv.launch);
  return DilationStages{Stage(data->name), Stage(weight->name), Stage(result->name)};
}

}  // namespace hone::schedule
