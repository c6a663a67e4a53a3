// nn.scaled_dense: data[m, k] x weight[n, k] transposed, of weights that are narrow integers with a
// scale for each block of terms: sum over blocks b of scales[n, b] * (sum over k in b of data *
// (weight + centre)). Optional offsets[n, b] are added to each weight of a block behind its scale.
//
// With `bits` 4 weight is int32 (n, k / 8), each of which holds eight integers of 0 .. 15: the
// first four in the lower halves of its bytes, the others in the upper ones. With 8 it is int8 (n,
// k), or with `digits` uint8.
//
// With `digits` (2 or 3) products are of integers, for targets with dot products of bytes: a block
// of the data counts in units of its largest number, and what it counts is so many digits of base
// 256. That is a rounding of the data to 2^-23 (three digits: 2^22 units) or 2^-16 (two: 32512) of
// the largest beside it; all sums of a block are exact.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Buffer;
using loop::Expr;

using Axes = std::vector<Expr>;

constexpr char kOp[] = "nn.scaled_dense";
constexpr int64_t kWordTerms = 8;         // of 4 bits
constexpr int64_t kMostDigitTerms = 256;  // of a block, so that sums fit 32 bits
constexpr DataType kReal = DataType::kFloat32;
constexpr DataType kInt = DataType::kInt32;

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  const int64_t bits = IntAttr(attrs, "bits", 8);
  if (bits != 4 && bits != 8) return AttrError(kOp, "bits", "4 or 8", fmt::format("{}", bits));
  const int64_t digits = IntAttr(attrs, "digits", 0);
  if (digits != 0 && digits != 2 && digits != 3) {
    return AttrError(kOp, "digits", "0, 2 or 3", fmt::format("{}", digits));
  }
  constexpr int64_t kMostCentre = 1 << 15;
  const int64_t centre = IntAttr(attrs, "centre", 0);
  if (centre < -kMostCentre || centre > kMostCentre) {
    return AttrError(kOp, "centre", "-32768 to 32768", fmt::format("{}", centre));
  }
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kOp, args, 0, "data", 2));
  if (data.dtype != kReal) return OperandError(kOp, "data", "float32", data.ToString());
  HONE_ASSIGN_OR_RETURN(const ir::TensorType weight, TensorOperand(kOp, args, 1, "weight", 2));
  const int64_t units = weight.shape[0], terms = data.shape[1];
  const int64_t per_element = bits == 8 ? 1 : kWordTerms;
  const DataType bytes = digits != 0 ? DataType::kUInt8 : DataType::kInt8;
  const ir::TensorType expected = {{units, terms / per_element}, bits == 8 ? bytes : kInt};
  if (weight != expected || terms % per_element != 0) {
    return OperandError(
        kOp, "weight",
        fmt::format("{} terms of {} bits a unit in {}", terms, bits, Name(expected.dtype)),
        weight.ToString());
  }
  HONE_ASSIGN_OR_RETURN(const ir::TensorType scales, TensorOperand(kOp, args, 2, "scales", 2));
  const int64_t blocks = scales.shape[1];
  const bool divides = blocks > 0 && terms % (blocks * per_element) == 0;
  if (scales.dtype != kReal || scales.shape[0] != units || !divides ||
      (digits != 0 && terms / blocks > kMostDigitTerms)) {
    return OperandError(
        kOp, "scales",
        fmt::format("float32 of {} units and a number of blocks that divides {} terms{}", units,
                    terms, digits != 0 ? ", 256 or less in each" : ""),
        scales.ToString());
  }
  if (args.size() > 3 && centre != 0) {
    return AttrError(kOp, "centre", "0 beside offsets", fmt::format("{}", centre));
  }
  if (args.size() > 3) HONE_RETURN_IF_ERROR(ExactOperand(kOp, args, 3, "offsets", scales).status());
  return TensorOf({data.shape[0], units}, kReal);
}

Expr Int(int64_t value) { return loop::IntConst(value, kInt); }
Expr Real(double value) { return loop::FloatConst(value, kReal); }
Expr InWord(const Expr& term) { return loop::FloorMod(term, kWordTerms); }

// The place of a term's number in its word, in bits.
int64_t PlaceInWord(int64_t term) { return 8 * (term % 4) + 4 * (term / 4); }
Expr PlaceOf(const Expr& term) {
  const Expr half = loop::FloorMod(loop::FloorDiv(term, 4), 2);
  return loop::Cast(kInt, loop::FloorMod(term, 4) * Expr(8) + half * Expr(4));
}

// The definition, on buffers of one call.
class Definition {
 public:
  Definition(loop::NestBuilder& builder, const std::vector<Buffer>& args, const ir::Attrs& attrs)
      : builder_(builder),
        data_(args[0]),
        weight_(args[1]),
        scales_(args[2]),
        offsets_(args.size() > 3 ? args[3] : nullptr),
        digits_(IntAttr(attrs, "digits", 0)),
        centre_(IntAttr(attrs, "centre", 0)),
        words_(weight_->dtype == kInt),
        rows_(data_->shape[0]),
        units_(weight_->shape[0]),
        blocks_(scales_->shape[1]),
        block_(data_->shape[1] / blocks_) {
    if (words_) {  // every word is eight integers
      builder.SetDomain(weight_, std::numeric_limits<int32_t>::min(),
                        std::numeric_limits<int32_t>::max());
    }
  }

  // Products of floats.
  Buffer OfFloats() {
    const Buffer data_sums =
        NeedsDataSums() ? Sum("scaled_dense_data", kReal, {rows_, blocks_},
                              [&](const Axes& at, const Axes& r) {
                                return TimesCentre(loop::Load(data_, {at[0], Term(at[1], r[0])}));
                              })
                        : nullptr;
    const Buffer factors =
        words_ ? Compute("scaled_dense_factors", kReal, data_->shape,
                         [&](const Axes& at) { return loop::Load(data_, at) * ShareOf(at[1]); })
               : data_;
    const Buffer sums = Sum(
        "scaled_dense_blocks", kReal, {blocks_, rows_, units_}, [&](const Axes& at, const Axes& r) {
          const Expr term = Term(at[0], r[0]);
          return loop::Load(factors, {at[1], term}) * loop::Cast(kReal, InPlace(at[2], term));
        });
    return Scaled([&](const Expr& b, const Expr& row,
                      const Expr& unit) { return loop::Load(sums, {b, row, unit}); },
                  data_sums);
  }

  // Products of integers.
  Buffer OfDigits() {
    const Buffer counts = CountUnits();
    // The digits of some terms lie together: rows whole pages apart would share the few lines of
    // one cache set.
    const int64_t together = TermsTogether();
    const Buffer digits =
        Compute("scaled_dense_digits", DataType::kInt8,
                {data_->shape[1] / together, rows_, digits_, together}, [&](const Axes& at) {
                  return Digit(loop::Load(counts, {at[1], at[0] * Expr(together) + at[3]}), at[2]);
                });
    const Buffer data_sums = NeedsDataSums() ? DataSums(counts) : nullptr;
    const Buffer sums = Sum("scaled_dense_blocks", kInt, {digits_, blocks_, rows_, units_},
                            [&](const Axes& at, const Axes& r) {
                              const Expr term = Term(at[1], r[0]);
                              const Expr digit =
                                  loop::Load(digits, {loop::FloorDiv(term, together), at[2], at[0],
                                                      loop::FloorMod(term, together)});
                              return loop::Cast(kInt, digit) * Number(at[3], term);
                            });
    return Scaled(
        [&](const Expr& b, const Expr& row, const Expr& unit) {
          const auto digit = [&](int64_t d) { return loop::Load(sums, {Expr(d), b, row, unit}); };
          // The sums of two digits are one of 32 bits.
          const Expr upper = digit(digits_ - 1) * Int(256) + digit(digits_ - 2);
          Expr sum = loop::Cast(kReal, upper);
          if (digits_ == 3) sum = sum * Real(256) + loop::Cast(kReal, digit(0));
          return sum * loop::Load(measures_, {row, b});
        },
        data_sums);
  }

 private:
  // Whole blocks, of 256 terms at most.
  int64_t TermsTogether() const {
    int64_t blocks = std::max<int64_t>(kMostDigitTerms / block_, 1);
    while (blocks_ % blocks != 0) --blocks;
    return blocks * block_;
  }

  Expr TimesCentre(const Expr& data_sum) const {
    return centre_ == 0 ? data_sum : data_sum * Real(static_cast<double>(centre_));
  }
  bool NeedsDataSums() const { return offsets_ || centre_ != 0; }

  Expr Term(const Expr& of_block, const Expr& in_block) const {
    return of_block * Expr(block_) + in_block;
  }

  template <typename Value>
  Buffer Compute(const char* stage, DataType dtype, std::vector<int64_t> shape,
                 const Value& value) {
    return builder_.Compute(stage, dtype, std::move(shape), value);
  }
  // Over the terms of a block.
  template <typename Value>
  Buffer Sum(const char* stage, DataType dtype, std::vector<int64_t> shape, const Value& value) {
    return builder_.Reduce(stage, dtype, std::move(shape), std::vector<int64_t>{block_},
                           loop::NestBuilder::Combiner::kAdd, loop::Const(0, dtype), value);
  }

  Expr Word(const Expr& unit, const Expr& term) const {
    return loop::Load(weight_, {unit, loop::FloorDiv(term, kWordTerms)});
  }
  // An integer weight.
  Expr Number(const Expr& unit, const Expr& term) const {
    if (!words_) return loop::Cast(kInt, loop::Load(weight_, {unit, term}));
    const Expr shifted = Binary(loop::BinaryOp::kShiftRight, Word(unit, term), PlaceOf(term));
    return Binary(loop::BinaryOp::kBitAnd, shifted, Int(15));
  }

  // The same without shifting: masked where it lies, so a power of two as large, for which the
  // data that it is multiplied with is scaled exactly. The highest of a word is shifted, as it
  // would be the word's sign. So two operations make a vector of floats of a vector of words.
  Expr InPlace(const Expr& unit, const Expr& term) const {
    if (!words_) return loop::Load(weight_, {unit, term});
    const Expr word = Word(unit, term);
    const Expr is_highest = loop::Eq(InWord(term), kWordTerms - 1);
    const Expr highest = Binary(loop::BinaryOp::kShiftRight, word, Int(28));
    const Expr mask = Binary(loop::BinaryOp::kShiftLeft, Int(15), PlaceOf(term));
    return Binary(loop::BinaryOp::kBitAnd, loop::Select(is_highest, highest, word),
                  loop::Select(is_highest, Int(15), mask));
  }
  // What the number's place takes from the data.
  static Expr ShareOf(const Expr& term) {
    Expr share = Real(1);
    for (int64_t i = 1; i < kWordTerms - 1; ++i) {
      const double factor = 1.0 / static_cast<double>(int64_t{1} << PlaceInWord(i));
      share = loop::Select(loop::Eq(InWord(term), i), Real(factor), share);
    }
    return share;
  }

  // The data in the units of its blocks, which `measures_` has.
  Buffer CountUnits() {
    constexpr double kLeastLargest = 0x1p-100;
    const double units_of_largest = digits_ == 3 ? 0x1p22 : 0x7F00;
    const Buffer largest = builder_.Reduce(
        "scaled_dense_largest", kReal, std::vector<int64_t>{rows_, blocks_},
        std::vector<int64_t>{block_}, loop::NestBuilder::Combiner::kMax, Real(0),
        [&](const Axes& at, const Axes& r) {
          return loop::Unary(loop::UnaryOp::kAbs, loop::Load(data_, {at[0], Term(at[1], r[0])}));
        });
    measures_ = Compute("scaled_dense_measures", kReal, {rows_, blocks_}, [&](const Axes& at) {
      return loop::Max(loop::Load(largest, at), Real(kLeastLargest)) * Real(1 / units_of_largest);
    });
    return Compute("scaled_dense_counts", kInt, data_->shape, [&](const Axes& at) {
      const Expr measure = loop::Load(measures_, {at[0], loop::FloorDiv(at[1], block_)});
      return loop::Cast(kInt,
                        loop::Unary(loop::UnaryOp::kRound, Divide(loop::Load(data_, at), measure)));
    });
  }

  // A digit is from -128 to 127, and the lowest one comes first.
  Expr Digit(const Expr& count, const Expr& place) const {
    Expr rounded = count + Int(digits_ == 3 ? 0x808080 : 0x8080);
    const Expr shift = loop::Cast(kInt, place * Expr(8));
    const Expr bits = Binary(loop::BinaryOp::kBitAnd,
                             Binary(loop::BinaryOp::kShiftRight, rounded, shift), Int(255));
    return loop::Cast(DataType::kInt8, bits - Int(128));
  }

  // As real numbers, times the centre.
  Buffer DataSums(const Buffer& counts) {
    const Buffer sums =
        Sum("scaled_dense_count_sums", kInt, {rows_, blocks_}, [&](const Axes& at, const Axes& r) {
          return loop::Load(counts, {at[0], Term(at[1], r[0])});
        });
    return Compute("scaled_dense_data", kReal, {rows_, blocks_}, [&](const Axes& at) {
      return TimesCentre(loop::Cast(kReal, loop::Load(sums, at)) * loop::Load(measures_, at));
    });
  }

  template <typename SumOfBlock>
  Buffer Scaled(const SumOfBlock& sum_of_block, const Buffer& data_sums) {
    return builder_.Reduce(
        "scaled_dense", kReal, std::vector<int64_t>{rows_, units_}, std::vector<int64_t>{blocks_},
        loop::NestBuilder::Combiner::kAdd, Real(0), [&](const Axes& at, const Axes& r) {
          Expr sum = sum_of_block(r[0], at[0], at[1]);
          const auto of_data = [&] { return loop::Load(data_sums, {at[0], r[0]}); };
          if (centre_ != 0) sum = sum + of_data();
          const Expr scaled = sum * loop::Load(scales_, {at[1], r[0]});
          return offsets_ ? scaled + of_data() * loop::Load(offsets_, {at[1], r[0]}) : scaled;
        });
  }

  loop::NestBuilder& builder_;
  Buffer data_, weight_, scales_, offsets_;
  int64_t digits_, centre_;
  bool words_;
  int64_t rows_, units_, blocks_, block_;
  Buffer measures_;
};

}  // namespace

void RegisterScaledDense(std::vector<Op>& table) {
  Op op;
  op.name = kOp;
  op.min_args = 3;
  op.max_args = 4;
  op.kind = FuseKind::kComplex;
  op.attrs = {{"bits", AttrKind::kInt}, {"centre", AttrKind::kInt}, {"digits", AttrKind::kInt}};
  op.infer_type = Infer;
  op.define = [](auto& builder, const auto& args, const auto& attrs, const auto& result) {
    Definition definition(builder, args, attrs);
    const bool digits = IntAttr(attrs, "digits", 0) != 0;
    return std::vector<Buffer>{digits ? definition.OfDigits() : definition.OfFloats()};
  };
  op.flops = [](const auto& args, const auto& attrs, const auto& result) {
    return 2.0 * static_cast<double>(result.tensor.ElementCount()) *
           static_cast<double>(args[0].tensor.shape[1]);
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
