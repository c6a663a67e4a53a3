#include "compiler/schedule/primitives/winograd.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/loop/linear.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/primitives/matrix_products.h"
#include "compiler/schedule/primitives/stage_writer.h"
#include "compiler/schedule/primitives/toom_cook.h"
#include "compiler/schedule/primitives/weighted_sum.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;

namespace {

struct Convolution : WeightedSum {
  explicit Convolution(WeightedSum sum) : WeightedSum(std::move(sum)) {}

  Buffer data;
  int64_t stride_h = 1, stride_w = 1;
  // Slices along the depth, where there is one: from one result to the next, from one tap to the
  // next, and in front of the data.
  int64_t depth_step = 1, tap_step = 1, depth_before = 0;
  Expr has_slice;  // whether the data has that of the depth's axis and its tap; null: always

  const Expr& Slice() const { return axes[2]; }
  const Expr& SliceTap() const { return sums[1]; }
};

struct Steps {
  int64_t of_x = 1, of_y = 1, constant = 0;
};

// a is c * x + d * y + e with c and d at least 1; nullopt otherwise.
std::optional<Steps> StepsOf(const Expr& a, const Expr& x, const Expr& y) {
  const loop::Linear linear = loop::Linear::Of(a);
  const Steps steps = {linear.CoefficientOf(x), linear.CoefficientOf(y), linear.constant()};
  if (linear.terms().size() != 2 || steps.of_x < 1 || steps.of_y < 1) return std::nullopt;
  return steps;
}

// The load of a factor that is zero where the data lacks a slice along the depth, if it has one.
Expr TakeLoad(Convolution* conv) {
  const Expr& factor = conv->factor;
  if (factor->kind != loop::ExprKind::kSelect || conv->axes.size() != 5) return factor;
  const Expr& otherwise = factor->operands[2];
  if (otherwise->kind != loop::ExprKind::kFloat || otherwise->float_value != 0) return factor;
  const Expr& condition = factor->operands[0];
  bool of_slices = !loop::HasLoad(condition);
  loop::Walk(condition, [&](const Expr& e) {
    of_slices = of_slices && (e->kind != loop::ExprKind::kVar || e.SameAs(conv->Slice()) ||
                              e.SameAs(conv->SliceTap()));
  });
  if (!of_slices) return factor;
  conv->has_slice = condition;
  return factor->operands[1];
}

// `data[n, ic, h * s + kh, w * t + kw] * weight[oc, ic, kh, kw]`, or the same with a depth of any
// stride and dilation before the height, whose slices that the data lacks may count as zeros.
bool TakeFactors(Convolution* conv) {
  const Expr data = TakeLoad(conv);
  const size_t rank = conv->axes.size();
  if (data->kind != loop::ExprKind::kLoad || data->operands.size() != rank) return false;
  if (!data->operands[0].SameAs(conv->axes[0]) || !data->operands[1].SameAs(conv->sums[0])) {
    return false;
  }
  for (size_t d = 1; d < rank; ++d) {
    const Expr& tap = conv->sums[d - 1];
    if (!conv->weight_at[d].SameAs(tap)) return false;
    if (d == 1) continue;
    const auto steps = StepsOf(data->operands[d], conv->axes[d], tap);
    if (!steps) return false;
    if (rank == 5 && d == 2) {
      conv->depth_step = steps->of_x;
      conv->tap_step = steps->of_y;
      conv->depth_before = -steps->constant;
      if (!conv->has_slice && steps->constant != 0) return false;
    } else {
      (d + 1 == rank ? conv->stride_w : conv->stride_h) = steps->of_x;
      if (steps->of_y != 1 || steps->constant != 0) return false;
    }
  }
  conv->data = data->buffer;
  return true;
}

absl::StatusOr<Convolution> MatchConvolution(const loop::Nest& nest, const std::string& name) {
  HONE_ASSIGN_OR_RETURN(WeightedSum sum, MatchWeightedSum(nest, name));
  Convolution conv(std::move(sum));
  const size_t rank = conv.axes.size();
  if ((rank != 4 && rank != 5) || !TakeFactors(&conv)) {
    return absl::FailedPreconditionError(fmt::format(
        "the stage of '{}' must be a convolution of dilation one, in two dimensions or in the last "
        "two of three",
        name));
  }
  return conv;
}

// One of the two, with its transforms.
struct Axis : WinogradAxis {
  using WinogradAxis::WinogradAxis;
  ToomCook matrices;
};

// Makes the stages, in order. The first of the two axes that is transformed is so in a stage of its
// own, if both are.
class Stages {
 public:
  Stages(loop::Nest* nest, const Convolution& conv, const Axis& h, const Axis& w,
         PhaseOrder phase_order, FilterTransform filters)
      : writer_(nest, conv.result),
        conv_(conv),
        h_(h),
        w_(w),
        phase_order_(phase_order),
        filters_(filters),
        batch_(conv.result->shape[0]),
        in_(conv.weight->shape[1] * h.phases * w.phases),
        out_(conv.result->shape[1]),
        deep_(conv.result->shape.size() == 5),
        both_(h.IsTransformed() && w.IsTransformed()) {}

  WinogradStages Build() {
    WinogradStages stages;
    const Buffer filter = Filter(&stages);
    const Buffer data = Data(&stages);
    std::vector<int64_t> terms = {in_};
    if (deep_) terms.push_back(conv_.weight->shape[2]);
    const Buffer product = writer_.Sum(
        "product", Deep({Positions(), batch_, out_}, conv_.result, {h_.tiles, w_.tiles}), terms,
        [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
          const size_t y = deep_ ? 4 : 3;
          std::vector<Expr> from = {i[0], i[1], r[0]};
          std::vector<Expr> by = {i[0], i[2], r[0]};
          if (deep_) {
            from.push_back(i[3] * Expr(conv_.depth_step) + r[1] * Expr(conv_.tap_step) -
                           conv_.depth_before);
            by.push_back(r[1]);
          }
          from.insert(from.end(), {i[y], i[y + 1]});
          const Expr factor = Load(data, from);
          Expr has_term = HasTerm(i[0], r[0]);
          if (conv_.has_slice) {
            const loop::VarMap at = {{conv_.Slice().get(), i[3]}, {conv_.SliceTap().get(), r[1]}};
            const Expr has_slice = loop::Substitute(conv_.has_slice, at);
            has_term = has_term ? loop::And(has_slice, has_term) : has_slice;
          }
          const Expr term =
              has_term ? Select(has_term, factor, loop::Const(0, factor->dtype)) : factor;
          return term * Load(filter, by);
        });
    stages.product = Stage(product->name);
    Result(product, &stages);
    std::move(writer_).Replace(conv_.launch);
    return stages;
  }

 private:
  int64_t Positions() const { return h_.products * w_.products; }
  // `first`, the depth of `like` where there is one, `last`.
  std::vector<int64_t> Deep(std::vector<int64_t> first, const Buffer& like,
                            const std::vector<int64_t>& last) const {
    if (deep_) first.push_back(like->shape[2]);
    first.insert(first.end(), last.begin(), last.end());
    return first;
  }
  // `first`, the element of `axes` at `depth` where there is one, `last`.
  std::vector<Expr> Deep(std::vector<Expr> first, const std::vector<Expr>& axes, size_t depth,
                         const std::vector<Expr>& last) const {
    if (deep_) first.push_back(axes[depth]);
    first.insert(first.end(), last.begin(), last.end());
    return first;
  }

  // The channel of the operand and the phases of the two axes that a channel of the sum stands for.
  struct Part {
    Expr channel, h, w;
  };
  Part PartOf(const Expr& channel) const {
    const int64_t phases = h_.phases * w_.phases;
    if (phases == 1) return {channel, 0, 0};
    if (phase_order_ == PhaseOrder::kInside) {
      return {FloorDiv(channel, phases), FloorMod(FloorDiv(channel, w_.phases), h_.phases),
              FloorMod(channel, w_.phases)};
    }
    const int64_t channels = conv_.weight->shape[1];
    const Expr phase = FloorDiv(channel, channels);
    return {FloorMod(channel, channels), FloorDiv(phase, w_.phases), FloorMod(phase, w_.phases)};
  }

  // The last product of a tile is the last tap's, which is zero in phases that have fewer. Null
  // where there are none, or where the phases of a channel are neighbours: to leave out some of so
  // few terms costs more than it saves.
  Expr HasTerm(const Expr& position, const Expr& channel) const {
    if (phase_order_ == PhaseOrder::kInside) return Expr();
    const Part part = PartOf(channel);
    Expr has_term;
    const auto add = [&](const Axis& axis, const Expr& product, const Expr& phase) {
      if (axis.FullPhases() == axis.phases) return;
      const Expr has =
          loop::Or(loop::Lt(product, axis.products - 1), loop::Lt(phase, axis.FullPhases()));
      has_term = has_term ? loop::And(has_term, has) : has;
    };
    add(h_, FloorDiv(position, w_.products), part.h);
    add(w_, FloorMod(position, w_.products), part.w);
    return has_term;
  }

  Buffer Filter(WinogradStages* stages) {
    const size_t h = deep_ ? 3 : 2;
    const Buffer taps = Taps(stages);
    if (!both_) {
      const Buffer filter = writer_.Compute(
          "filter", Deep({Positions(), out_, in_}, conv_.weight, {}),
          [&](const std::vector<Expr>& i) {
            return Times(Only().matrices.filter, i[0], Line(Only().taps, [&](int64_t k) {
                           return Load(taps, Deep({i[1], i[2]}, i, 3, OnlyAt(k, 0)));
                         }));
          });
      stages->filter = Stage(filter->name);
      return filter;
    }
    const Buffer columns =
        writer_.Compute("filter_columns", Deep({out_, in_}, conv_.weight, {h_.products, w_.taps}),
                        [&](const std::vector<Expr>& i) {
                          const std::vector<Expr> line = Line(h_.taps, [&](int64_t k) {
                            return Load(taps, Deep({i[0], i[1]}, i, 2, {k, i[h + 1]}));
                          });
                          if (filters_ != FilterTransform::kAtEveryRun) {
                            return Times(h_.matrices.filter, i[h], line);
                          }
                          return Weighted(h_.matrices.filter, i[h], line);
                        });
    const Buffer filter = writer_.Compute(
        "filter", Deep({Positions(), out_, in_}, conv_.weight, {}),
        [&](const std::vector<Expr>& i) {
          return Times(
              w_.matrices.filter, FloorMod(i[0], w_.products), Line(w_.taps, [&](int64_t k) {
                return Load(columns, Deep({i[1], i[2]}, i, 3, {FloorDiv(i[0], w_.products), k}));
              }));
        });
    stages->filter_columns = Stage(columns->name);
    stages->filter = Stage(filter->name);
    return filter;
  }

  // The weight by phases: zero where a phase has fewer taps than the first.
  Buffer Taps(WinogradStages* stages) {
    constexpr int64_t kFewTaps = 3;  // no code worth saving is in reading so many
    if (in_ == conv_.weight->shape[1] && both_ && std::max(h_.taps, w_.taps) <= kFewTaps) {
      return conv_.weight;
    }
    const size_t h = deep_ ? 3 : 2;
    const Buffer taps = writer_.Compute(
        "filter_taps", Deep({out_, in_}, conv_.weight, {h_.taps, w_.taps}),
        [&](const std::vector<Expr>& i) {
          const Part part = PartOf(i[1]);
          const Expr y = i[h] * Expr(h_.stride) + part.h;
          const Expr x = i[h + 1] * Expr(w_.stride) + part.w;
          Expr weight = Load(conv_.weight, Deep({i[0], part.channel}, i, 2, {y, x}));
          const bool whole =
              h_.taps * h_.phases == h_.weight_taps && w_.taps * w_.phases == w_.weight_taps;
          if (whole) return weight;
          return Select(loop::And(loop::Lt(y, h_.weight_taps), loop::Lt(x, w_.weight_taps)), weight,
                        loop::Const(0, conv_.weight->dtype));
        });
    stages->filter_taps = Stage(taps->name);
    return taps;
  }

  // The axis that is transformed, where the other is not, and the indices of `along` it and
  // `across`.
  const Axis& Only() const { return h_.IsTransformed() ? h_ : w_; }
  std::vector<Expr> OnlyAt(const Expr& along, const Expr& across) const {
    return h_.IsTransformed() ? std::vector<Expr>{along, across} : std::vector<Expr>{across, along};
  }

  Buffer Data(WinogradStages* stages) {
    const size_t y = deep_ ? 3 : 2;
    if (!both_) {
      const Buffer data = writer_.Compute(
          "data", Deep({Positions(), batch_, in_}, conv_.data, {h_.tiles, w_.tiles}),
          [&](const std::vector<Expr>& i) {
            const Expr& along = i[h_.IsTransformed() ? y + 1 : y + 2];
            const Expr& across = i[h_.IsTransformed() ? y + 2 : y + 1];
            return Times(Only().matrices.data, i[0], Line(Only().products, [&](int64_t k) {
                           const std::vector<Expr> at =
                               OnlyAt(along * Expr(Only().tile) + Expr(k), across);
                           return DataAt(Deep({i[1], i[2]}, i, 3, at));
                         }));
          });
      stages->data = Stage(data->name);
      return data;
    }
    const int64_t width = w_.tiles * w_.tile + w_.taps - 1;
    const Buffer columns = writer_.Compute(
        "data_columns", Deep({batch_, in_}, conv_.data, {h_.tiles, h_.products, width}),
        [&](const std::vector<Expr>& i) {
          return Times(
              h_.matrices.data, i[y + 1], Line(h_.products, [&](int64_t k) {
                return DataAt(Deep({i[0], i[1]}, i, 2, {i[y] * Expr(h_.tile) + Expr(k), i[y + 2]}));
              }));
        });
    const Buffer data = writer_.Compute(
        "data", Deep({Positions(), batch_, in_}, conv_.data, {h_.tiles, w_.tiles}),
        [&](const std::vector<Expr>& i) {
          return Times(w_.matrices.data, FloorMod(i[0], w_.products),
                       Line(w_.products, [&](int64_t k) {
                         return Load(columns, Deep({i[1], i[2]}, i, 3,
                                                   {i[y + 1], FloorDiv(i[0], w_.products),
                                                    i[y + 2] * Expr(w_.tile) + Expr(k)}));
                       }));
        });
    stages->data_columns = Stage(columns->name);
    stages->data = Stage(data->name);
    return data;
  }

  void Result(const Buffer& product, WinogradStages* stages) {
    const size_t h = deep_ ? 3 : 2;
    if (!both_) {
      writer_.Fill(conv_.result, [&](const std::vector<Expr>& i) {
        const Expr& along = i[h_.IsTransformed() ? h : h + 1];
        const Expr& across = i[h_.IsTransformed() ? h + 1 : h];
        return Times(Only().matrices.result, FloorMod(along, Only().tile),
                     Line(Only().products, [&](int64_t k) {
                       return Load(product, Deep({k, i[0], i[1]}, i, 2,
                                                 OnlyAt(FloorDiv(along, Only().tile), across)));
                     }));
      });
      return;
    }
    const Buffer columns = writer_.Compute(
        "result_columns",
        Deep({batch_, out_}, conv_.result, {h_.tiles * h_.tile, w_.tiles, w_.products}),
        [&](const std::vector<Expr>& i) {
          return Times(h_.matrices.result, FloorMod(i[h], h_.tile),
                       Line(h_.products, [&](int64_t k) {
                         return Load(product, Deep({Expr(k * w_.products) + i[h + 2], i[0], i[1]},
                                                   i, 2, {FloorDiv(i[h], h_.tile), i[h + 1]}));
                       }));
        });
    stages->result_columns = Stage(columns->name);
    writer_.Fill(conv_.result, [&](const std::vector<Expr>& i) {
      return Times(
          w_.matrices.result, FloorMod(i[h + 1], w_.tile), Line(w_.products, [&](int64_t k) {
            return Load(columns, Deep({i[0], i[1]}, i, 2, {i[h], FloorDiv(i[h + 1], w_.tile), k}));
          }));
    });
  }

  // 3x3 filters of stride one, transformed beforehand for tiles of up to four results, keep the
  // sums that their records were measured with.
  bool UsesPairs() const {
    return std::max(h_.taps, w_.taps) > 3 || std::max(h_.products, w_.products) > 6 || !both_ ||
           h_.phases * w_.phases > 1 || filters_ != FilterTransform::kBeforehand;
  }
  Expr Times(const Matrix& matrix, const Expr& row, const std::vector<Expr>& vector) const {
    return Chosen(MatrixProducts(matrix, vector, UsesPairs()), row);
  }

  // The same with all terms, the factors chosen.
  static Expr Weighted(const Matrix& matrix, const Expr& row, const std::vector<Expr>& vector) {
    Expr sum;
    for (size_t k = 0; k < vector.size(); ++k) {
      std::vector<Expr> factors;
      for (const auto& line : matrix) {
        factors.push_back(loop::FloatConst(line[k], vector[k]->dtype));
      }
      const Expr term = vector[k] * Chosen(factors, row);
      sum = k == 0 ? term : sum + term;
    }
    return sum;
  }

  // What a channel of the sum reads; zero beyond the rows and columns that there are, which the
  // last tiles reach.
  Expr DataAt(std::vector<Expr> indices) const {
    const size_t h = indices.size() - 2;
    const Part part = PartOf(indices[1]);
    indices[1] = part.channel;
    indices[h] = indices[h] * Expr(h_.stride) + part.h;
    indices[h + 1] = indices[h + 1] * Expr(w_.stride) + part.w;
    const Expr inside = loop::And(loop::Lt(indices[h], conv_.data->shape[h]),
                                  loop::Lt(indices[h + 1], conv_.data->shape[h + 1]));
    return Select(inside, Load(conv_.data, indices), loop::Const(0, conv_.data->dtype));
  }

  StageWriter writer_;
  const Convolution& conv_;
  const Axis& h_;
  const Axis& w_;
  const PhaseOrder phase_order_;
  const FilterTransform filters_;
  const int64_t batch_;
  const int64_t in_;  // channels of the sum: all phases of the operand's
  const int64_t out_;
  const bool deep_;  // there is a depth, which every step but the products takes slice by slice
  const bool both_;  // axes are transformed
};

}  // namespace

WinogradAxis::WinogradAxis(int64_t stride, int64_t weight_taps, int64_t extent,
                           int64_t largest_tile)
    : stride(stride),
      weight_taps(weight_taps),
      extent(extent),
      phases(std::min(stride, weight_taps)),
      taps(CeilDiv(weight_taps, stride)),
      tile(taps > 1 ? largest_tile : 1),
      products(tile + taps - 1),
      tiles(CeilDiv(extent, tile)) {}

int64_t WinogradAxis::FullPhases() const {
  return std::min(phases, weight_taps - (taps - 1) * stride);
}

absl::StatusOr<WinogradStages> Winograd(loop::Nest* nest, const Stage& stage, int64_t tile,
                                        PhaseOrder phase_order, FilterTransform filters) {
  absl::Status no_points = absl::FailedPreconditionError(fmt::format(
      "tiles of 2 up to {} products can be had, not of {}", kMostToomCookProducts, tile));
  if (tile < 2) return no_points;
  HONE_ASSIGN_OR_RETURN(const Convolution conv, MatchConvolution(*nest, stage.buffer()));
  const size_t rank = conv.weight->shape.size();
  Axis h(conv.stride_h, conv.weight->shape[rank - 2], conv.result->shape[rank - 2], tile);
  Axis w(conv.stride_w, conv.weight->shape[rank - 1], conv.result->shape[rank - 1], tile);
  if (!h.IsTransformed() && !w.IsTransformed()) {
    return absl::FailedPreconditionError("no axis has taps enough for Winograd's algorithm");
  }
  if (std::max(h.products, w.products) > kMostToomCookProducts) return no_points;
  for (Axis* axis : {&h, &w}) {
    axis->matrices = MakeToomCook(axis->tile, axis->taps);
    if (filters != FilterTransform::kBeforehand) axis->matrices.ScaleDataInstead();
  }
  return Stages(nest, conv, h, w, phase_order, filters).Build();
}

}  // namespace hone::schedule
