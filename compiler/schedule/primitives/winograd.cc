#include "compiler/schedule/primitives/winograd.h"

#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/loop/accumulation.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

namespace {

constexpr int64_t kTaps = 3;

using Matrix = std::vector<std::vector<double>>;

// y = A^T [(G g) * (B^T d)]: the matrices of Toom and Cook, infinity being the last point.
struct Transforms {
  Matrix data;    // B^T
  Matrix filter;  // G
  Matrix result;  // A^T
};

// The coefficients of the product of (x - p) over all points but the one at `without`.
std::vector<double> Polynomial(const std::vector<double>& points, size_t without) {
  std::vector<double> c = {1};
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == without) continue;
    c.insert(c.begin(), 0);
    for (size_t k = 0; k + 1 < c.size(); ++k) c[k] -= points[i] * c[k + 1];
  }
  return c;
}

Transforms ToomCook(int64_t tile) {
  std::vector<double> points = {0, 1, -1};
  if (tile == 4) points.insert(points.end(), {0.5, -2});
  const size_t n = points.size() + 1;
  Transforms t;
  t.result.assign(static_cast<size_t>(tile), std::vector<double>(n, 0));
  for (size_t i = 0; i < n; ++i) {
    std::vector<double> row = Polynomial(points, i);
    row.resize(n, 0);
    t.data.push_back(row);
    t.filter.emplace_back(kTaps, 0);
    if (i + 1 == n) continue;
    double scale = 1;
    for (size_t k = 0; k + 1 < n; ++k) scale *= k == i ? 1 : points[i] - points[k];
    double power = 1;
    for (size_t k = 0; k < std::max<size_t>(kTaps, static_cast<size_t>(tile)); ++k) {
      if (k < kTaps) t.filter[i][k] = power / scale;
      if (k < static_cast<size_t>(tile)) t.result[k][i] = power;
      power *= points[i];
    }
  }
  t.filter[n - 1][kTaps - 1] = 1;
  t.result[static_cast<size_t>(tile) - 1][n - 1] = 1;
  return t;
}

// Element `row` of the matrix by the vector of these elements. The row is an expression: once loops
// are unrolled one sum is left of the choice.
Expr Times(const Matrix& matrix, const Expr& row, const std::vector<Expr>& vector) {
  Expr choice;
  for (size_t r = matrix.size(); r-- > 0;) {
    Expr sum;
    for (size_t c = 0; c < vector.size(); ++c) {
      const double factor = matrix[r][c];
      if (factor == 0) continue;
      const Expr x = factor == 1 || factor == -1
                         ? vector[c]
                         : vector[c] * loop::FloatConst(factor, vector[c]->dtype);
      if (factor == -1) {
        sum = sum ? sum - x : Unary(loop::UnaryOp::kNeg, x);
      } else {
        sum = sum ? sum + x : x;
      }
    }
    choice = choice ? Select(loop::Eq(row, static_cast<int64_t>(r)), sum, choice) : sum;
  }
  return choice;
}

struct Convolution {
  Buffer result, data, weight;
  size_t launch = 0;  // of the stage
  // Of the depth, where there is one: from one result, and from one tap, to the next.
  int64_t depth_step = 1, tap_step = 1;
};

// a is c * x + d * y with c and d at least 1; nullopt otherwise.
std::optional<std::pair<int64_t, int64_t>> StepsOf(const Expr& a, const Expr& x, const Expr& y) {
  const loop::Linear linear = loop::Linear::Of(a);
  const std::pair<int64_t, int64_t> steps = {linear.CoefficientOf(x), linear.CoefficientOf(y)};
  if (linear.terms().size() != 2 || linear.constant() != 0 || steps.first < 1 || steps.second < 1) {
    return std::nullopt;
  }
  return steps;
}

// `result[n, oc, h, w] += data[n, ic, h + kh, w + kw] * weight[oc, ic, kh, kw]` below loops over
// ic, kh, kw, or the same with a depth of any stride and dilation before the height.
bool IsUpdate(const Stmt& store, const Stage& stage, const std::vector<Stmt>& sums,
              Convolution* conv) {
  const Expr& value = store->value;
  if (value->kind != loop::ExprKind::kBinary || value->binary_op != loop::BinaryOp::kAdd) {
    return false;
  }
  if (!loop::Accumulates(*store)) return false;
  const Expr& product = value->operands[1];
  if (product->kind != loop::ExprKind::kBinary || product->binary_op != loop::BinaryOp::kMul ||
      product->operands[0]->kind != loop::ExprKind::kLoad ||
      product->operands[1]->kind != loop::ExprKind::kLoad) {
    return false;
  }
  const Expr& data = product->operands[0];
  const Expr& weight = product->operands[1];
  const size_t rank = stage.loops.size();
  if (data->operands.size() != rank || weight->operands.size() != rank) return false;
  const auto axis = [&](size_t d) { return stage.loops[d]->var; };
  const auto sum = [&](size_t d) { return sums[d]->var; };
  if (!data->operands[0].SameAs(axis(0)) || !data->operands[1].SameAs(sum(0)) ||
      !weight->operands[0].SameAs(axis(1))) {
    return false;
  }
  for (size_t d = 1; d < rank; ++d) {
    if (!weight->operands[d].SameAs(sum(d - 1))) return false;
    if (d == 1) continue;
    const auto steps = StepsOf(data->operands[d], axis(d), sum(d - 1));
    if (!steps) return false;
    if (rank == 5 && d == 2) {
      std::tie(conv->depth_step, conv->tap_step) = *steps;
    } else if (*steps != std::pair<int64_t, int64_t>(1, 1)) {
      return false;
    }
  }
  conv->data = data->buffer;
  conv->weight = weight->buffer;
  return true;
}

bool IsZero(const Expr& e) { return e->kind == loop::ExprKind::kFloat && e->float_value == 0; }

bool RunsOver(const Stmt& loop, int64_t extent) {
  int64_t min = 0, steps = 0;
  return loop::IsConstInt(loop->min, &min) && min == 0 && loop::IsConstInt(loop->extent, &steps) &&
         steps == extent;
}

absl::StatusOr<Convolution> MatchConvolution(const loop::Nest& nest, const std::string& name) {
  Convolution conv;
  HONE_ASSIGN_OR_RETURN(conv.result, FindBuffer(nest, name));
  HONE_ASSIGN_OR_RETURN(conv.launch, WriterOf(nest, conv.result));
  HONE_ASSIGN_OR_RETURN(const Stage stage, MatchStage(nest, conv.launch, conv.result));
  const absl::Status no =
      absl::FailedPreconditionError(fmt::format("the stage of '{}' must be a convolution of 3x3 "
                                                "taps, stride and dilation one, in two "
                                                "dimensions or in the last two of three",
                                                name));
  const size_t rank = stage.loops.size();
  if ((rank != 4 && rank != 5) || stage.body->kind != StmtKind::kSeq ||
      stage.body->body.size() != 2 || stage.body->body[0]->kind != StmtKind::kStore) {
    return no;
  }
  std::vector<Stmt> sums;
  Stmt s = stage.body->body[1];
  for (; s->kind == StmtKind::kFor; s = s->body[0]) sums.push_back(s);
  if (sums.size() != rank - 1 || s->kind != StmtKind::kStore || !IsUpdate(s, stage, sums, &conv)) {
    return no;
  }
  const std::vector<int64_t>& weight = conv.weight->shape;
  bool whole = IsZero(stage.body->body[0]->value);
  for (size_t d = 0; d < sums.size(); ++d) whole = whole && RunsOver(sums[d], weight[d + 1]);
  if (!whole || !IsFloat(conv.result->dtype)) return no;
  if (weight[rank - 2] != kTaps || weight[rank - 1] != kTaps ||
      conv.data->dtype != conv.result->dtype || conv.weight->dtype != conv.result->dtype) {
    return no;
  }
  return conv;
}

// Makes the stages, in order.
class Stages {
 public:
  Stages(loop::Nest* nest, const Convolution& conv, int64_t tile)
      : nest_(nest),
        conv_(conv),
        matrices_(ToomCook(tile)),
        tile_(tile),
        products_(tile + kTaps - 1),
        batch_(conv.result->shape[0]),
        in_(conv.weight->shape[1]),
        out_(conv.result->shape[1]),
        deep_(conv.result->shape.size() == 5),
        rows_((conv.result->shape[deep_ ? 3 : 2] + tile - 1) / tile),
        columns_((conv.result->shape.back() + tile - 1) / tile) {}

  WinogradStages Build() {
    WinogradStages stages;
    const Buffer filter = Filter(&stages);
    const Buffer data = Data(&stages);
    std::vector<int64_t> terms = {in_};
    if (deep_) terms.push_back(conv_.weight->shape[2]);
    const Buffer product =
        Sum("product", Deep({products_ * products_, batch_, out_}, conv_.result, {rows_, columns_}),
            terms, [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
              const size_t y = deep_ ? 4 : 3;
              std::vector<Expr> from = {i[0], i[1], r[0]};
              std::vector<Expr> by = {i[0], i[2], r[0]};
              if (deep_) {
                from.push_back(i[3] * Expr(conv_.depth_step) + r[1] * Expr(conv_.tap_step));
                by.push_back(r[1]);
              }
              from.insert(from.end(), {i[y], i[y + 1]});
              return Load(data, from) * Load(filter, by);
            });
    stages.product = product->name;
    Result(product, &stages);
    nest_->launches.erase(nest_->launches.begin() + static_cast<ptrdiff_t>(conv_.launch));
    nest_->launches.insert(nest_->launches.begin() + static_cast<ptrdiff_t>(conv_.launch),
                           launches_.begin(), launches_.end());
    return stages;
  }

 private:
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

  Buffer Filter(WinogradStages* stages) {
    const size_t h = deep_ ? 3 : 2;
    const Buffer columns =
        Compute("filter_columns", Deep({out_, in_}, conv_.weight, {products_, kTaps}),
                [&](const std::vector<Expr>& i) {
                  return Times(matrices_.filter, i[h], Line(kTaps, [&](int64_t k) {
                                 return Load(conv_.weight, Deep({i[0], i[1]}, i, 2, {k, i[h + 1]}));
                               }));
                });
    const Buffer filter = Compute(
        "filter", Deep({products_ * products_, out_, in_}, conv_.weight, {}),
        [&](const std::vector<Expr>& i) {
          return Times(matrices_.filter, FloorMod(i[0], products_), Line(kTaps, [&](int64_t k) {
                         return Load(columns,
                                     Deep({i[1], i[2]}, i, 3, {FloorDiv(i[0], products_), k}));
                       }));
        });
    stages->filter_columns = columns->name;
    stages->filter = filter->name;
    return filter;
  }

  Buffer Data(WinogradStages* stages) {
    const int64_t width = columns_ * tile_ + kTaps - 1;
    const size_t y = deep_ ? 3 : 2;
    const Buffer columns = Compute(
        "data_columns", Deep({batch_, in_}, conv_.data, {rows_, products_, width}),
        [&](const std::vector<Expr>& i) {
          return Times(
              matrices_.data, i[y + 1], Line(products_, [&](int64_t k) {
                return DataAt(Deep({i[0], i[1]}, i, 2, {i[y] * Expr(tile_) + Expr(k), i[y + 2]}));
              }));
        });
    const Buffer data = Compute(
        "data", Deep({products_ * products_, batch_, in_}, conv_.data, {rows_, columns_}),
        [&](const std::vector<Expr>& i) {
          return Times(matrices_.data, FloorMod(i[0], products_), Line(products_, [&](int64_t k) {
                         return Load(columns, Deep({i[1], i[2]}, i, 3,
                                                   {i[y + 1], FloorDiv(i[0], products_),
                                                    i[y + 2] * Expr(tile_) + Expr(k)}));
                       }));
        });
    stages->data_columns = columns->name;
    stages->data = data->name;
    return data;
  }

  void Result(const Buffer& product, WinogradStages* stages) {
    const size_t h = deep_ ? 3 : 2;
    const Buffer columns = Compute(
        "result_columns", Deep({batch_, out_}, conv_.result, {rows_ * tile_, columns_, products_}),
        [&](const std::vector<Expr>& i) {
          return Times(matrices_.result, FloorMod(i[h], tile_), Line(products_, [&](int64_t k) {
                         return Load(product, Deep({Expr(k * products_) + i[h + 2], i[0], i[1]}, i,
                                                   2, {FloorDiv(i[h], tile_), i[h + 1]}));
                       }));
        });
    stages->result_columns = columns->name;
    Fill(conv_.result, [&](const std::vector<Expr>& i) {
      return Times(matrices_.result, FloorMod(i[h + 1], tile_), Line(products_, [&](int64_t k) {
                     return Load(columns,
                                 Deep({i[0], i[1]}, i, 2, {i[h], FloorDiv(i[h + 1], tile_), k}));
                   }));
    });
  }

  using Value = std::function<Expr(const std::vector<Expr>& axes)>;

  static std::vector<Expr> Line(int64_t count, const std::function<Expr(int64_t)>& element) {
    std::vector<Expr> line;
    for (int64_t k = 0; k < count; ++k) line.push_back(element(k));
    return line;
  }

  // Zero beyond the rows and columns that there are, which the last tiles reach.
  Expr DataAt(const std::vector<Expr>& indices) const {
    const size_t h = indices.size() - 2;
    const Expr inside = loop::And(loop::Lt(indices[h], conv_.data->shape[h]),
                                  loop::Lt(indices[h + 1], conv_.data->shape[h + 1]));
    return Select(inside, Load(conv_.data, indices), loop::Const(0, conv_.data->dtype));
  }

  Buffer Make(const std::string& step, std::vector<int64_t> shape) {
    Buffer buffer = loop::MakeBuffer(conv_.result->name + "." + step, conv_.result->dtype,
                                     std::move(shape), loop::Role::kWorkspace);
    InsertBuffer(nest_, buffer);
    return buffer;
  }

  Buffer Compute(const std::string& step, std::vector<int64_t> shape, const Value& value) {
    Buffer buffer = Make(step, std::move(shape));
    Fill(buffer, value);
    return buffer;
  }

  std::vector<Expr> Axes(const Buffer& buffer) const {
    std::vector<Expr> axes;
    for (size_t d = 0; d < buffer->shape.size(); ++d) {
      axes.push_back(loop::Var(fmt::format("{}.i{}", buffer->name, d)));
    }
    return axes;
  }

  void AddStage(const Buffer& buffer, const std::vector<Expr>& axes, Stmt body) {
    for (size_t d = axes.size(); d-- > 0;) {
      body = loop::For(axes[d], 0, buffer->shape[d], std::move(body));
    }
    launches_.push_back({buffer->name, loop::Phase::kRun, std::move(body)});
  }

  void Fill(const Buffer& buffer, const Value& value) {
    const std::vector<Expr> axes = Axes(buffer);
    AddStage(buffer, axes, loop::Store(buffer, axes, value(axes)));
  }

  Buffer Sum(const std::string& step, std::vector<int64_t> shape, const std::vector<int64_t>& terms,
             const std::function<Expr(const std::vector<Expr>&, const std::vector<Expr>&)>& term) {
    Buffer buffer = Make(step, std::move(shape));
    const std::vector<Expr> axes = Axes(buffer);
    std::vector<Expr> r;
    for (size_t d = 0; d < terms.size(); ++d) {
      r.push_back(loop::Var(fmt::format("{}.r{}", buffer->name, d)));
    }
    Stmt init = loop::Store(buffer, axes, loop::Const(0, buffer->dtype));
    Stmt update = loop::Store(buffer, axes, Load(buffer, axes) + term(axes, r));
    for (size_t d = r.size(); d-- > 0;) update = loop::For(r[d], 0, terms[d], std::move(update));
    AddStage(buffer, axes, loop::Seq({std::move(init), std::move(update)}));
    return buffer;
  }

  loop::Nest* nest_;
  const Convolution& conv_;
  const Transforms matrices_;
  const int64_t tile_, products_;
  const int64_t batch_, in_, out_;
  const bool deep_;  // there is a depth, which every step but the products takes slice by slice
  const int64_t rows_, columns_;
  std::vector<loop::Launch> launches_;
};

}  // namespace

absl::StatusOr<WinogradStages> Winograd(loop::Nest* nest, const std::string& buffer, int64_t tile) {
  if (tile != 2 && tile != 4) {
    return absl::FailedPreconditionError(
        fmt::format("tiles of 2x2 and of 4x4 can be had, not of {0}x{0}", tile));
  }
  HONE_ASSIGN_OR_RETURN(const Convolution conv, MatchConvolution(*nest, buffer));
  return Stages(nest, conv, tile).Build();
}

}  // namespace hone::schedule
