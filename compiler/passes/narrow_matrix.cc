#include "compiler/passes/narrow_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "compiler/ops/typing.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;

// The operators between a matrix and the integers that it is made of, outermost first, and the
// operand of each through which they are reached.
struct Path {
  struct Step {
    Expr call;
    size_t operand = 0;
  };
  std::vector<Step> steps;
  Expr integers;
  int64_t most_elements = 0;  // of what is evaluated for it
};

bool Moves(const Expr& e) {
  return ir::IsCall(e, "reshape") || ir::IsCall(e, "transpose") || ir::IsCall(e, "strided_slice") ||
         ir::IsCall(e, "squeeze") || ir::IsCall(e, "expand_dims");
}

// The one of a product's two operands that is not its scale: what has all the elements.
size_t ScaledOperand(const Expr& product) {
  const bool first = TypeOf(product->args[0]).ElementCount() == TypeOf(product).ElementCount() &&
                     !IsConstant(product->args[0]);
  return first ? 0 : 1;
}

std::optional<Path> PathOf(const Expr& matrix) {
  constexpr size_t kMostSteps = 32;
  Path path;
  Expr e = matrix;
  for (; IsFloat(TypeOf(e).dtype); e = path.steps.back().call->args[path.steps.back().operand]) {
    if (e->kind != ir::ExprKind::kCall || e->callee || path.steps.size() == kMostSteps) {
      return std::nullopt;
    }
    size_t operand = 0;
    if (ir::IsCall(e, "multiply")) {
      operand = ScaledOperand(e);
    } else if (ir::IsCall(e, "subtract")) {
      // A distance from a zero point, which is scaled behind it.
      if (TypeOf(e->args[0]).ElementCount() != TypeOf(e).ElementCount()) return std::nullopt;
    } else if (!Moves(e) && !ir::IsCall(e, "cast") && !ir::IsCall(e, "qnn.dequantize")) {
      return std::nullopt;
    }
    path.steps.push_back({e, operand});
  }
  // A zero point that is subtracted from what was scaled is no integer.
  bool scaled = false;
  for (size_t i = path.steps.size(); i-- > 0;) {
    const Expr& call = path.steps[i].call;
    if (ir::IsCall(call, "subtract") && scaled) return std::nullopt;
    if (ir::IsCall(call, "multiply") || ir::IsCall(call, "qnn.dequantize")) scaled = true;
  }
  if (!scaled || !IsInteger(TypeOf(e).dtype)) return std::nullopt;
  path.integers = e;
  path.most_elements = MostElements(matrix);
  return path;
}

// A constant all of whose elements are `value`, 0 or 1.
Expr Filled(const ir::TensorType& type, double value) {
  const Expr one = Scalar(value, type.dtype);
  const size_t width = static_cast<size_t>(SizeBytes(type.dtype));
  std::vector<uint8_t> bytes(static_cast<size_t>(type.SizeBytes()));
  for (size_t at = 0; at < bytes.size(); at += width) {
    std::memcpy(bytes.data() + at, one->data.bytes(), width);
  }
  return ir::ConstantFromBytes(type, bytes.data());
}

// What the path makes of other integers, zero points or scales; null where that is not known.
class Replay {
 public:
  // What the scales come to: of ones, from zero.
  static Expr Scales(const Path& path, const UsedOnce& used_once, KnownValues* values) {
    const Expr ones = Filled(TypeOf(path.integers), 1);
    return Replay(used_once, values, ones).Along(path, /*scales=*/true);
  }
  // The distances from the zero points: scaled by ones.
  static Expr Distances(const Path& path, const UsedOnce& used_once, KnownValues* values) {
    const Expr integers = values->OfAll(path.integers, path.most_elements, used_once);
    return Replay(used_once, values, integers).Along(path, /*scales=*/false);
  }

 private:
  Replay(const UsedOnce& used_once, KnownValues* values, Expr integers)
      : used_once_(used_once), values_(values), value_(std::move(integers)) {}

  Expr Along(const Path& path, bool scales) {
    for (size_t i = path.steps.size(); i-- > 0 && IsConstant(value_);) {
      const auto& [call, operand] = path.steps[i];
      std::vector<Expr> args = call->args;
      for (size_t a = 0; a < args.size(); ++a) {
        if (a == operand) continue;
        const bool is_scale =
            ir::IsCall(call, "multiply") || (ir::IsCall(call, "qnn.dequantize") && a == 1);
        if (is_scale == scales) {
          args[a] = values_->OfAll(args[a], path.most_elements, used_once_);
        } else {
          args[a] = Filled(TypeOf(args[a]), is_scale ? 1 : 0);
        }
        if (!IsConstant(args[a])) return nullptr;
      }
      args[operand] = value_;
      value_ = values_->OfCall(ir::WithOperands(call, nullptr, std::move(args)));
    }
    return IsConstant(value_) ? value_ : nullptr;
  }

  const UsedOnce& used_once_;
  KnownValues* values_;
  Expr value_;
};

std::vector<float> Floats(const Expr& constant) {
  std::vector<float> floats(constant->data.size_bytes() / sizeof(float));
  std::memcpy(floats.data(), constant->data.bytes(), floats.size() * sizeof(float));
  return floats;
}

struct Matrix {
  int64_t units = 0, terms = 0;
  std::vector<float> distances, scales;  // of each element
};

// The most terms that go together such that all of a block have one scale.
int64_t BlockOf(const Matrix& matrix) {
  int64_t block = matrix.terms;
  for (int64_t n = 0; n < matrix.units && block > 1; ++n) {
    const float* row = matrix.scales.data() + n * matrix.terms;
    for (int64_t k = 1; k < matrix.terms; ++k) {
      if (!(row[k] == row[k - 1])) block = std::gcd(block, k);
    }
  }
  return block;
}

// The least and the largest integer of a block.
struct IntegerRange {
  int64_t low = 0, high = 0;
};

// nullopt where some distance is no integer of moderate size.
std::optional<std::vector<IntegerRange>> RangesOf(const Matrix& matrix, int64_t block) {
  constexpr float kMost = 1 << 15;
  std::vector<IntegerRange> ranges(static_cast<size_t>(matrix.units * matrix.terms / block));
  for (size_t b = 0; b < ranges.size(); ++b) {
    const float* distances = matrix.distances.data() + b * static_cast<size_t>(block);
    float low = distances[0], high = distances[0];
    for (int64_t i = 0; i < block; ++i) {
      const float x = distances[i];
      if (!(std::abs(x) <= kMost) || std::nearbyint(x) != x) return std::nullopt;
      low = std::min(low, x);
      high = std::max(high, x);
    }
    ranges[b] = {static_cast<int64_t>(low), static_cast<int64_t>(high)};
  }
  return ranges;
}

// The integers that nn.scaled_dense takes.
IntegerRange Numbers(int64_t bits, NarrowProducts products) {
  if (bits == 4) return {0, 15};
  return products == NarrowProducts::kFloats ? IntegerRange{-128, 127} : IntegerRange{0, 255};
}

// What has to be taken from a block's integers, that they are among these numbers.
int64_t CentreOf(const IntegerRange& range, const IntegerRange& numbers) {
  return range.low < numbers.low ? range.low - numbers.low
                                 : std::max<int64_t>(range.high - numbers.high, 0);
}

bool FitIn(const IntegerRange& range, int64_t bits) {
  return range.high - range.low < int64_t{1} << bits;
}
bool FitIn(const std::vector<IntegerRange>& ranges, int64_t bits) {
  return std::ranges::all_of(ranges, [&](const IntegerRange& range) { return FitIn(range, bits); });
}

IntegerRange RangeOfAll(const std::vector<IntegerRange>& ranges) {
  IntegerRange all = ranges[0];
  for (const IntegerRange& range : ranges) {
    all = {std::min(all.low, range.low), std::max(all.high, range.high)};
  }
  return all;
}

// One for all where that fits, which costs neither memory nor time: none, or that of signed
// integers, where these do, so that layers that differ in their integers alone are one task.
std::vector<int64_t> CentresOf(const std::vector<IntegerRange>& ranges, int64_t bits,
                               const IntegerRange& numbers) {
  const IntegerRange all = RangeOfAll(ranges);
  const int64_t half = int64_t{1} << (bits - 1);
  for (const int64_t centre : {int64_t{0}, -half}) {
    if (all.low - centre >= numbers.low && all.high - centre <= numbers.high) {
      return std::vector<int64_t>(ranges.size(), centre);
    }
  }
  if (FitIn(all, bits)) return std::vector<int64_t>(ranges.size(), CentreOf(all, numbers));
  std::vector<int64_t> centres;
  for (const IntegerRange& range : ranges) centres.push_back(CentreOf(range, numbers));
  return centres;
}

// How many of a block's terms are summed together. Digits are 256 at most, in whole words, of two
// digits 64, since they round by the largest number of a block of the data; sums of floats 128,
// since they round more the longer they are, if the block has such parts. 0: there are none.
int64_t PartOf(int64_t block, NarrowProducts products) {
  const bool floats = products == NarrowProducts::kFloats;
  const int64_t most = floats ? 128 : products == NarrowProducts::kTwoDigits ? 64 : 256;
  constexpr int64_t kWord = 8;
  for (int64_t part = most; part >= kFewestTerms; part -= kWord) {
    if (block % part == 0) return part;
  }
  return floats ? block : 0;
}

Expr Bytes(const Matrix& matrix, int64_t block, const std::vector<int64_t>& centres,
           DataType dtype) {
  std::vector<uint8_t> bytes(matrix.distances.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int64_t centre = centres[i / static_cast<size_t>(block)];
    bytes[i] = static_cast<uint8_t>(static_cast<int64_t>(matrix.distances[i]) - centre);
  }
  return ir::ConstantFromBytes({{matrix.units, matrix.terms}, dtype}, bytes.data());
}

Expr Words(const Matrix& matrix, int64_t block, const std::vector<int64_t>& centres) {
  constexpr size_t kPerWord = 8;
  std::vector<uint32_t> words(matrix.distances.size() / kPerWord);
  for (size_t i = 0; i < matrix.distances.size(); ++i) {
    const int64_t centre = centres[i / static_cast<size_t>(block)];
    const auto bits = static_cast<uint32_t>(static_cast<int64_t>(matrix.distances[i]) - centre);
    words[i / kPerWord] |= (bits & 15) << (8 * (i % 4) + 4 * (i / 4 % 2));
  }
  return ir::ConstantFromBytes(
      {{matrix.units, matrix.terms / static_cast<int64_t>(kPerWord)}, DataType::kInt32},
      words.data());
}

std::optional<NarrowMatrix> Narrowed(const Matrix& matrix, NarrowProducts products) {
  const int64_t block = PartOf(BlockOf(matrix), products);
  if (block < kFewestTerms) return std::nullopt;
  const std::optional<std::vector<IntegerRange>> ranges = RangesOf(matrix, block);
  if (!ranges || !FitIn(*ranges, 8)) return std::nullopt;
  constexpr int64_t kWord = 8;  // terms
  if (!std::ranges::all_of(matrix.scales, [](float x) { return std::isfinite(x); })) {
    return std::nullopt;
  }
  NarrowMatrix narrow;
  narrow.products = products;
  narrow.bits = block % kWord == 0 && FitIn(*ranges, 4) ? 4 : 8;
  const IntegerRange numbers = Numbers(narrow.bits, products);
  const std::vector<int64_t> centres = CentresOf(*ranges, narrow.bits, numbers);
  const bool one_centre =
      std::ranges::count(centres, centres[0]) == static_cast<ptrdiff_t>(centres.size());
  if (one_centre) narrow.centre = centres[0];
  std::vector<float> scales, offsets;
  for (size_t b = 0; b < centres.size(); ++b) {
    scales.push_back(matrix.scales[b * static_cast<size_t>(block)]);
    offsets.push_back(static_cast<float>(centres[b]) * scales.back());
  }
  const ir::TensorType of_blocks = {{matrix.units, matrix.terms / block}, DataType::kFloat32};
  const DataType byte = numbers.low < 0 ? DataType::kInt8 : DataType::kUInt8;
  narrow.integers =
      narrow.bits == 4 ? Words(matrix, block, centres) : Bytes(matrix, block, centres, byte);
  narrow.scales = ir::ConstantFromBytes(of_blocks, scales.data());
  if (!one_centre) narrow.offsets = ir::ConstantFromBytes(of_blocks, offsets.data());
  return narrow;
}

}  // namespace

std::optional<NarrowMatrix> NarrowMatrixOf(const Expr& e, NarrowProducts products,
                                           const UsedOnce& used_once, KnownValues* values) {
  const std::optional<Path> path = PathOf(e);
  if (!path) return std::nullopt;
  const Expr distances = Replay::Distances(*path, used_once, values);
  if (!distances) return std::nullopt;
  const Expr scales = Replay::Scales(*path, used_once, values);
  if (!scales) return std::nullopt;
  const std::vector<int64_t>& shape = TypeOf(e).shape;
  return Narrowed({shape[0], shape[1], Floats(distances), Floats(scales)}, products);
}

}  // namespace hone::passes
