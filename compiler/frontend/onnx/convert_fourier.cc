// DFT and STFT as products with matrices of sines and cosines, and MelWeightMatrix.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/onnx/tensor.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// Extents beyond which the number of products could not be computed in 64 bits.
constexpr int64_t kLongest = int64_t{1} << 24;

// A transform of `samples` numbers of `parts` (1: real, 2: complex) into `length` frequencies, of
// which `kept` are wanted. One that is inverse and one-sided gives reals of one-sided frequencies.
struct Transform {
  int64_t samples = 0;
  int64_t parts = 1;
  int64_t length = 0;
  int64_t kept = 0;
  bool inverse = false;
  bool to_reals = false;

  int64_t parts_out() const { return to_reals ? 1 : 2; }
  // How often frequency `n` of a one-sided half stands in the whole.
  double Multiplicity(int64_t n) const {
    if (!to_reals) return 1;
    if (2 * n > length) return 0;
    return n == 0 || 2 * n == length ? 1 : 2;
  }
};

// What part `in` of sample n adds to part `out` of frequency k.
double Weight(const Transform& t, int64_t n, int64_t in, int64_t k, int64_t out) {
  const double turn = static_cast<double>(n * k % t.length) / static_cast<double>(t.length);
  const double angle = (t.inverse ? 2 : -2) * std::numbers::pi * turn;
  const double scale = t.Multiplicity(n) / (t.inverse ? static_cast<double>(t.length) : 1.0);
  // (a + ib)(cos + i sin)
  if (in == out) return scale * std::cos(angle);
  return scale * (in == 0 ? std::sin(angle) : -std::sin(angle));
}

// (frequencies and their parts, samples and their parts); with `parts_first` (…, parts, samples).
absl::StatusOr<ir::Expr> MatrixOf(NodeReader& node, const Transform& t, DataType dtype,
                                  bool parts_first) {
  const int64_t rows = t.kept * t.parts_out();
  const int64_t columns = t.samples * t.parts;
  if (t.samples > kLongest || t.length > kLongest ||
      static_cast<double>(rows) * static_cast<double>(columns) > 1e9) {
    return absl::UnimplementedError("transforms of up to some thousand samples were expected");
  }
  HONE_RETURN_IF_ERROR(node.Generate(2 * rows * columns * static_cast<int64_t>(sizeof(double))));
  std::string bytes(rows * columns * sizeof(double), '\0');
  auto* next = bytes.data();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t n = parts_first ? column % t.samples : column / t.parts;
      const int64_t in = parts_first ? column / t.samples : column % t.parts;
      const double weight = Weight(t, n, in, row / t.parts_out(), row % t.parts_out());
      std::memcpy(next, &weight, sizeof weight);
      next += sizeof weight;
    }
  }
  return CastConstant(MakeConstant({rows, columns}, DataType::kFloat64, std::move(bytes)), dtype);
}

absl::StatusOr<int64_t> LengthOperand(const NodeReader& node, size_t i, std::string_view what) {
  HONE_ASSIGN_OR_RETURN(const auto given, node.ConstantInts(i, what));
  if (given.size() == 1 && given[0] >= 1 && given[0] <= kLongest) return given[0];
  return absl::InvalidArgumentError(fmt::format("one {} of at least 1 was expected", what));
}

absl::Status CheckSignal(const ir::Expr& e, int64_t least_rank) {
  if (RankOf(e) >= least_rank && IsFloat(DtypeOf(e)) &&
      (ShapeOf(e).back() == 1 || ShapeOf(e).back() == 2)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format(
      "floats whose last axis has one part or two were expected, found {}", e->type->ToString()));
}

// The axis is an attribute until opset 19, and an operand from then on.
absl::StatusOr<int64_t> TransformedAxis(NodeReader& node, int64_t rank) {
  int64_t given = 1;
  if (node.opset() >= 20) {
    given = -2;
    if (node.Has(2)) {
      HONE_ASSIGN_OR_RETURN(const auto operand, node.ConstantInts(2, "axis"));
      if (operand.size() != 1) return absl::InvalidArgumentError("one axis was expected");
      given = operand[0];
    }
  } else {
    HONE_ASSIGN_OR_RETURN(given, node.Int("axis", 1));
  }
  HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(given, rank));
  if (axis + 1 < rank) return axis;
  return absl::InvalidArgumentError("an axis before the last was expected");
}

absl::StatusOr<Transform> ReadTransform(NodeReader& node, const ir::Expr& x, int64_t axis) {
  HONE_ASSIGN_OR_RETURN(const int64_t inverse, node.Int("inverse", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t one_sided, node.Int("onesided", 0));
  Transform t{.samples = ShapeOf(x)[axis], .parts = ShapeOf(x).back(), .inverse = inverse != 0};
  t.to_reals = inverse != 0 && one_sided != 0;
  t.length = t.to_reals ? 2 * (t.samples - 1) : t.samples;
  if (node.Has(1)) {
    HONE_ASSIGN_OR_RETURN(t.length, LengthOperand(node, 1, "dft_length"));
  }
  if (t.length < 1) return absl::InvalidArgumentError("an axis that is not empty was expected");
  t.samples = std::min(t.samples, t.to_reals ? t.length / 2 + 1 : t.length);  // or zeros behind
  t.kept = one_sided != 0 && !t.to_reals ? t.length / 2 + 1 : t.length;
  return t;
}

Results Dft(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "input"));
  HONE_RETURN_IF_ERROR(CheckSignal(x, 2));
  const int64_t rank = RankOf(x);
  HONE_ASSIGN_OR_RETURN(const int64_t axis, TransformedAxis(node, rank));
  HONE_ASSIGN_OR_RETURN(const Transform t, ReadTransform(node, x, axis));
  HONE_ASSIGN_OR_RETURN(const ir::Expr matrix, MatrixOf(node, t, DtypeOf(x), false));
  HONE_ASSIGN_OR_RETURN(const ir::Expr used, SliceOf(x, axis, 0, t.samples));
  Shape order;  // with the transformed axis and the parts last
  for (int64_t i = 0; i + 1 < rank; ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  order.push_back(rank - 1);
  Shape back(rank);
  for (int64_t i = 0; i < rank; ++i) back[order[i]] = i;
  int64_t others = 1;
  Shape shape;
  for (int64_t i = 0; i + 2 < rank; ++i) {
    others *= ShapeOf(x)[order[i]];
    shape.push_back(ShapeOf(x)[order[i]]);
  }
  shape.push_back(t.kept);
  shape.push_back(t.parts_out());
  Formula f;
  const ir::Expr rows = f.Reshape(f.Transpose(used, order), {others, t.samples * t.parts});
  return f.Finish({f.Transpose(f.Reshape(f.Call("nn.dense", {rows, matrix}), shape), back)});
}

// The frames of a signal are what a convolution's window passes over.
Results Stft(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "signal"));
  HONE_RETURN_IF_ERROR(CheckSignal(x, 3));
  HONE_ASSIGN_OR_RETURN(const int64_t step, LengthOperand(node, 1, "frame_step"));
  HONE_ASSIGN_OR_RETURN(const int64_t one_sided, node.Int("onesided", 1));
  const int64_t samples = ShapeOf(x)[1];
  int64_t length = samples;
  if (node.Has(2) && RankOf(node.args()[2]) == 1) length = ShapeOf(node.args()[2])[0];
  if (node.Has(3)) {
    HONE_ASSIGN_OR_RETURN(length, LengthOperand(node, 3, "frame_length"));
  }
  if (RankOf(x) != 3 || length < 1 || length > samples ||
      (node.Has(2) && ShapeOf(node.args()[2]) != Shape{length})) {
    return absl::InvalidArgumentError(
        fmt::format("a signal of three axes, and a window of {} samples, were expected", length));
  }
  const Transform t{.samples = length,
                    .parts = ShapeOf(x)[2],
                    .length = length,
                    .kept = one_sided != 0 ? length / 2 + 1 : length};
  HONE_ASSIGN_OR_RETURN(const ir::Expr matrix, MatrixOf(node, t, DtypeOf(x), true));
  Formula f;
  ir::Expr weight = f.Reshape(matrix, {2 * t.kept, t.parts, length});
  if (node.Has(2)) weight = f.Mul(weight, f.Cast(node.args()[2], DtypeOf(x)));
  const ir::Expr frames =
      f.Call("nn.conv1d", {f.Transpose(x, {0, 2, 1}), weight}, {{"strides", Shape{step}}});
  const int64_t count = (samples - length) / step + 1;
  const ir::Expr parted = f.Reshape(frames, {ShapeOf(x)[0], t.kept, 2, count});
  return f.Finish({f.Transpose(parted, {0, 3, 1, 2})});
}

absl::StatusOr<double> NumberOperand(const NodeReader& node, size_t i, std::string_view what) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr e, node.Arg(i, what));
  HONE_ASSIGN_OR_RETURN(const auto numbers, ConstantNumbers(e, what));
  if (numbers.size() == 1 && std::isfinite(numbers[0])) return numbers[0];
  return absl::InvalidArgumentError(fmt::format("one number for {} was expected", what));
}

// The frequency bins where the triangles of a Mel filter bank begin, peak and end.
absl::StatusOr<std::vector<int64_t>> MelEdges(const NodeReader& node, int64_t bins,
                                              int64_t length) {
  HONE_ASSIGN_OR_RETURN(const double rate, NumberOperand(node, 2, "sample_rate"));
  HONE_ASSIGN_OR_RETURN(const double low, NumberOperand(node, 3, "lower_edge_hertz"));
  HONE_ASSIGN_OR_RETURN(const double high, NumberOperand(node, 4, "upper_edge_hertz"));
  if (!(low >= 0 && high >= low && rate > 0)) {
    return absl::InvalidArgumentError(
        "edges from 0 on, the lower one first, and a positive rate were expected");
  }
  const double scale = 2595 / std::numbers::ln10;
  const auto mel = [&](double hertz) { return scale * std::log1p(hertz / 700); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double hertz = 700 * std::expm1((static_cast<double>(i) * step + mel(low)) / scale);
    const double edge = std::floor(static_cast<double>(length + 1) * hertz / rate);
    if (!(edge <= static_cast<double>(length / 2))) {
      return absl::InvalidArgumentError(
          fmt::format("an upper edge below half the sample rate was expected, found {}", high));
    }
    edges.push_back(static_cast<int64_t>(edge));
  }
  return edges;
}

Results MelWeightMatrix(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const int64_t bins, LengthOperand(node, 0, "num_mel_bins"));
  HONE_ASSIGN_OR_RETURN(const int64_t length, LengthOperand(node, 1, "dft_length"));
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("output_datatype", 1));
  HONE_ASSIGN_OR_RETURN(const DataType dtype, FromOnnxType(static_cast<int>(given)));
  const int64_t rows = length / 2 + 1;
  HONE_RETURN_IF_ERROR(node.Generate(std::min(rows * bins, int64_t{1} << 40) * 16));
  HONE_ASSIGN_OR_RETURN(const auto edges, MelEdges(node, bins, length));
  std::vector<double> weights(rows * bins, 0);
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t begin = edges[i];
    const int64_t peak = edges[i + 1];
    const int64_t end = edges[i + 2];
    if (peak == begin) weights[peak * bins + i] = 1;
    for (int64_t j = begin; begin < peak && j <= peak; ++j) {
      weights[j * bins + i] = static_cast<double>(j - begin) / static_cast<double>(peak - begin);
    }
    for (int64_t j = peak; j < end; ++j) {
      weights[j * bins + i] = static_cast<double>(end - j) / static_cast<double>(end - peak);
    }
  }
  return One(CastConstant(ir::ConstantFromBytes({{rows, bins}, DataType::kFloat64}, weights.data()),
                          dtype));
}

}  // namespace

void AddFourierConverters(ConverterTable& table) {
  table["DFT"] = Dft;
  table["STFT"] = Stft;
  table["MelWeightMatrix"] = MelWeightMatrix;
}

}  // namespace hone::frontend
