// RandomNormal, RandomUniform, their Like forms, Bernoulli, Multinomial. What is drawn is drawn at
// import and constant from then on, so that every run gives the same: kernels are functions of
// their operands.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/tensor.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// A sequence of numbers that is the same on every machine: the standard fixes the engine's numbers,
// but not those of its distributions, so these are made here, and by arithmetic that rounds the
// same everywhere (std::fma where a compiler might fuse or not).
class Draws {
 public:
  explicit Draws(uint64_t seed) : engine_(seed) {}

  // In [0, 1), of 24 bits.
  double Uniform() { return static_cast<double>(engine_() >> 40) * 0x1p-24; }
  // Karney's method ("Sampling exactly from the normal distribution", 2016): it asks for numbers of
  // [0, 1) and compares them, and needs no function that libraries round as they like.
  double Normal() {
    while (true) {
      int k = 0;
      while (IsTrue(0.5)) ++k;
      if (!AllTrue(k * (k - 1), 0.5)) continue;
      const double x = Fine();
      if (!AllTrue(k + 1, x * (2 * k + x) / (2 * k + 2))) continue;
      return (engine_() & 1) != 0 ? -(k + x) : k + x;
    }
  }

 private:
  // In [0, 1), of 53 bits.
  double Fine() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  // With the probability e^-x, where x is in [0, 1]: whether a series of numbers that begins with x
  // ceases to fall at an odd place (von Neumann).
  bool IsTrue(double x) {
    for (bool is_odd = true;; is_odd = !is_odd) {
      const double next = Fine();
      if (next >= x) return is_odd;
      x = next;
    }
  }

  bool AllTrue(int count, double x) {
    while (count > 0 && IsTrue(x)) --count;
    return count <= 0;
  }

  std::mt19937_64 engine_;
};

// By the attribute `seed`; without one by the name of the node's result and where it is, so that
// several nodes of a model draw different numbers, as does one in several calls of its function.
absl::StatusOr<Draws> DrawsOf(NodeReader& node) {
  if (node.HasAttr("seed")) {
    HONE_ASSIGN_OR_RETURN(const double seed, node.Float("seed", 0));
    return Draws(std::bit_cast<uint64_t>(seed));
  }
  if (node.InRepeat()) {
    return absl::UnimplementedError(
        "it draws its own numbers in each trip of a loop, which must be written out");
  }
  constexpr uint64_t kOffset = 0xcbf29ce484222325;  // FNV-1a
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t seed = kOffset;
  for (const char c : node.place() + FirstResult(node.node()))
    seed = (seed ^ static_cast<uint8_t>(c)) * kPrime;
  return Draws(seed);
}

// A tensor of numbers from `next`, in float64 where that is asked for and in float32 else, of which
// narrower types are made.
absl::StatusOr<ir::Expr> Fill(NodeReader& node, const Shape& shape, DataType dtype,
                              const std::function<double()>& next) {
  if (!IsFloat(dtype)) {
    return absl::InvalidArgumentError(
        fmt::format("dtype: a type of floats was expected, found {}", Name(dtype)));
  }
  const DataType made = dtype == DataType::kFloat64 ? dtype : DataType::kFloat32;
  HONE_ASSIGN_OR_RETURN(const int64_t size, TensorBytes(shape, made));
  HONE_RETURN_IF_ERROR(node.Generate(size));
  std::string bytes(size, '\0');
  for (int64_t at = 0; at < size; at += SizeBytes(made)) {
    const double value = next();
    const auto narrow = static_cast<float>(value);
    if (made == DataType::kFloat64) std::memcpy(bytes.data() + at, &value, sizeof value);
    if (made == DataType::kFloat32) std::memcpy(bytes.data() + at, &narrow, sizeof narrow);
  }
  return CastedTo(MakeConstant(shape, made, std::move(bytes)), dtype);
}

absl::StatusOr<DataType> TypeAttr(NodeReader& node, DataType fallback) {
  if (!node.HasAttr("dtype")) return fallback;
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("dtype", 0));
  return FromOnnxType(static_cast<int>(given));
}

absl::StatusOr<ir::Expr> Normal(NodeReader& node, const Shape& shape, DataType dtype) {
  HONE_ASSIGN_OR_RETURN(const double mean, node.Float("mean", 0));
  HONE_ASSIGN_OR_RETURN(const double scale, node.Float("scale", 1));
  HONE_ASSIGN_OR_RETURN(Draws draws, DrawsOf(node));
  return Fill(node, shape, dtype, [&] { return std::fma(scale, draws.Normal(), mean); });
}

absl::StatusOr<ir::Expr> Uniform(NodeReader& node, const Shape& shape, DataType dtype) {
  HONE_ASSIGN_OR_RETURN(const double low, node.Float("low", 0));
  HONE_ASSIGN_OR_RETURN(const double high, node.Float("high", 1));
  HONE_ASSIGN_OR_RETURN(Draws draws, DrawsOf(node));
  return Fill(node, shape, dtype, [&] { return std::fma(high - low, draws.Uniform(), low); });
}

using Distribution = absl::StatusOr<ir::Expr> (*)(NodeReader& node, const Shape& shape,
                                                  DataType dtype);

// The result has the shape that the attribute says.
Converter OfShape(Distribution distribution) {
  return [distribution](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(const DataType dtype, TypeAttr(node, DataType::kFloat32));
    HONE_ASSIGN_OR_RETURN(const Shape shape, node.Ints("shape"));
    if (!node.HasAttr("shape")) return absl::InvalidArgumentError("attribute shape is missing");
    return One(distribution(node, shape, dtype));
  };
}

// The result has the shape of the operand, and its type where no attribute says another.
Converter OfOperand(Distribution distribution) {
  return [distribution](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(const ir::Expr like, node.Arg(0, "input"));
    const DataType own = IsFloat(DtypeOf(like)) ? DtypeOf(like) : DataType::kFloat32;
    HONE_ASSIGN_OR_RETURN(const DataType dtype, TypeAttr(node, own));
    return One(distribution(node, ShapeOf(like), dtype));
  };
}

// 1 with the probability that the operand has.
Results Bernoulli(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr given, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const DataType dtype, TypeAttr(node, DtypeOf(given)));
  HONE_ASSIGN_OR_RETURN(Draws draws, DrawsOf(node));
  Formula f;
  const ir::Expr p = f.Wide(given);
  HONE_RETURN_IF_ERROR(f.status());
  HONE_ASSIGN_OR_RETURN(const ir::Expr drawn,
                        Fill(node, ShapeOf(p), DtypeOf(p), [&] { return draws.Uniform(); }));
  return f.Finish({f.Cast(f.Less(drawn, p), dtype)});
}

// For each row of logarithms of probabilities, which need not sum to 1, the place where its sums of
// probabilities pass a number drawn.
Results Multinomial(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr given, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t samples, node.Int("sample_size", 1));
  HONE_ASSIGN_OR_RETURN(const DataType dtype, TypeAttr(node, DataType::kInt32));
  if (RankOf(given) != 2 || ShapeOf(given)[1] < 1 || samples < 1) {
    return absl::InvalidArgumentError(
        fmt::format("a matrix with classes and samples were expected, found {} and {}",
                    given->type->ToString(), samples));
  }
  HONE_ASSIGN_OR_RETURN(Draws draws, DrawsOf(node));
  const int64_t rows = ShapeOf(given)[0];
  const int64_t classes = ShapeOf(given)[1];
  Formula f;
  const ir::Expr x = f.Wide(given);
  HONE_RETURN_IF_ERROR(f.status());
  HONE_ASSIGN_OR_RETURN(const ir::Expr drawn, Fill(node, {rows, samples, 1}, DtypeOf(x),
                                                   [&] { return draws.Uniform(); }));
  const ir::Expr p = f.Call("nn.softmax", {x}, {{"axis", int64_t{1}}});
  const ir::Expr sums = f.Call("cumsum", {p}, {{"axis", int64_t{1}}});
  const ir::Expr passed = f.Call("greater_equal", {drawn, f.Reshape(sums, {rows, 1, classes})});
  const ir::Expr place = f.Call("sum", {f.Cast(passed, DataType::kInt32)}, {{"axis", Shape{2}}});
  const ir::Expr last = ScalarConstant(static_cast<double>(classes - 1), DataType::kInt32);
  return f.Finish({f.Cast(f.Min(place, last), dtype)});
}

}  // namespace

void AddRandomConverters(ConverterTable& table) {
  table["Bernoulli"] = Bernoulli;
  table["Multinomial"] = Multinomial;
  table["RandomNormal"] = OfShape(Normal);
  table["RandomNormalLike"] = OfOperand(Normal);
  table["RandomUniform"] = OfShape(Uniform);
  table["RandomUniformLike"] = OfOperand(Uniform);
}

}  // namespace hone::frontend
