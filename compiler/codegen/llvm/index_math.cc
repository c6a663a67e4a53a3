#include "compiler/codegen/llvm/index_math.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <utility>

#include "compiler/codegen/llvm/arithmetic.h"
#include "compiler/loop/scalar.h"

namespace hone::codegen {

using loop::Interval;

namespace {

using llvm::Value;

bool IsBounded(const Interval& range) { return range.HasMin() && range.HasMax(); }

// Sums are those modulo 2^64.
int64_t Add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t Multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace

int64_t Index::CoefficientOf(int atom) const {
  for (const Term& term : terms) {
    if (term.atom == atom) return term.coefficient;
  }
  return 0;
}

Index IndexMath::Of(llvm::Value* value, Interval range, bool is_data) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
    return Constant(constant->getSExtValue());
  }
  const auto [it, is_new] = atom_of_.emplace(value, static_cast<int>(atoms_.size()));
  if (is_new) atoms_.push_back({value, range, is_data});
  return {0, {{it->second, 1}}};
}

int IndexMath::LaneAtom(int lanes) {
  const auto [it, is_new] = lane_atoms_.try_emplace(lanes);
  if (is_new) {
    std::vector<llvm::Constant*> numbers;
    for (int i = 0; i < lanes; ++i) numbers.push_back(b_.getInt64(i));
    it->second = Of(llvm::ConstantVector::get(numbers), {0, lanes - 1}).terms[0].atom;
  }
  return it->second;
}

Index IndexMath::Sum(const Index& a, const Index& b, int64_t factor) {
  if (factor == 0) return a;
  Index sum{Add(a.constant, Multiply(b.constant, factor)), {}};
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->atom < y->atom)) {
      sum.terms.push_back(*x++);
    } else if (x == a.terms.end() || y->atom < x->atom) {
      const int64_t coefficient = Multiply(y->coefficient, factor);
      if (coefficient != 0) sum.terms.push_back({y->atom, coefficient});
      ++y;
    } else {
      const int64_t coefficient = Add(x->coefficient, Multiply(y->coefficient, factor));
      if (coefficient != 0) sum.terms.push_back({x->atom, coefficient});
      ++x;
      ++y;
    }
  }
  return sum;
}

Index IndexMath::Scaled(const Index& a, int64_t factor) {
  if (factor == 0) return Constant(0);
  return Sum(Constant(0), a, factor);
}

bool IndexMath::IsData(const Index& a) const {
  return std::any_of(a.terms.begin(), a.terms.end(),
                     [&](const Index::Term& term) { return atoms_[term.atom].is_data; });
}

bool IndexMath::MayWrap(const Index& a) const {
  if (a.terms.size() == 1 && a.terms[0].coefficient == 1 && a.constant == 0) return false;
  Index data = Constant(a.constant);
  for (const Index::Term& term : a.terms) {
    if (atoms_[term.atom].is_data) data.terms.push_back(term);
  }
  return !data.terms.empty() && !IsBounded(RangeOfNumber(data));
}

Interval IndexMath::RangeOf(const Index& a) const {
  return MayWrap(a) ? Interval() : RangeOfNumber(a);
}

Interval IndexMath::RangeOfDifference(const Index& a, const Index& b) const {
  const Index difference = Sum(a, b, -1);
  if (difference.IsConstant() && difference.constant == 0) return {0, 0};
  return MayWrap(a) || MayWrap(b) ? Interval() : RangeOfNumber(difference);
}

Interval IndexMath::RangeOfNumber(const Index& a) const {
  Interval range = Interval::Point(a.constant);
  for (const Index::Term& term : a.terms) {
    range = range + atoms_[term.atom].range * term.coefficient;
  }
  return range;
}

bool IndexMath::IsVector(const Index& a) const {
  return std::any_of(a.terms.begin(), a.terms.end(),
                     [&](const Index::Term& term) { return IsVectorAtom(term.atom); });
}

std::vector<int64_t> IndexMath::LaneConstants(const Index& a, int lanes, Index& uniform) const {
  std::vector<int64_t> constants(static_cast<size_t>(lanes), a.constant);
  uniform = {};
  for (const Index::Term& term : a.terms) {
    if (!IsVectorAtom(term.atom)) {
      uniform.terms.push_back(term);
      continue;
    }
    const auto* values = llvm::dyn_cast<llvm::ConstantDataVector>(atoms_[term.atom].value);
    if (values == nullptr || values->getNumElements() != constants.size()) return {};
    for (size_t i = 0; i < constants.size(); ++i) {
      const auto value =
          static_cast<int64_t>(values->getElementAsInteger(static_cast<unsigned>(i)));
      constants[i] += value * term.coefficient;
    }
  }
  return constants;
}

Index IndexMath::Split(const Index& a, int64_t divisor, Index& quotient) const {
  Index rest;
  quotient = Constant(loop::FloorDivInt(a.constant, divisor));
  rest.constant = a.constant - quotient.constant * divisor;
  for (const Index::Term& term : a.terms) {
    if (term.coefficient % divisor == 0) {
      quotient.terms.push_back({term.atom, term.coefficient / divisor});
    } else {
      rest.terms.push_back(term);
    }
  }
  return rest;
}

bool IndexMath::SplitLanes(const Index& rest, int64_t divisor, int64_t& factor, Index& coarse,
                           Index& fine) const {
  factor = divisor;
  for (const Index::Term& term : rest.terms) {
    if (IsVectorAtom(term.atom)) {
      fine.terms.push_back(term);
    } else {
      factor = std::gcd(factor, term.coefficient);
    }
  }
  if (fine.terms.empty() || factor == 1) return false;
  coarse.constant = loop::FloorDivInt(rest.constant, factor);
  fine.constant = rest.constant - coarse.constant * factor;
  for (const Index::Term& term : rest.terms) {
    if (!IsVectorAtom(term.atom)) {
      coarse.terms.push_back({term.atom, term.coefficient / factor});
    }
  }
  const Interval range = RangeOf(fine);
  return range.min >= 0 && range.max < factor;
}

Value* IndexMath::EmitDivision(const Index& rest, int64_t divisor, bool modulus) {
  Key key{modulus ? 2 : 1, divisor, rest.terms};
  key.terms.push_back({-1, rest.constant});
  if (Value* found = Find(key)) return found;
  Value* value = Emit(rest);
  Value* by = llvm::ConstantInt::get(value->getType(), divisor);
  const bool non_negative = RangeOf(rest).min >= 0;
  value = EmitBinary(b_, modulus ? loop::BinaryOp::kFloorMod : loop::BinaryOp::kFloorDiv, value, by,
                     DataType::kInt64, TargetTraits{}, non_negative);
  Remember(std::move(key), value);
  return value;
}

Index IndexMath::Divided(const Index& rest, int64_t divisor, bool modulus, Interval range) {
  const Index division = Of(EmitDivision(rest, divisor, modulus), range, IsData(rest));
  if (division.terms.empty()) return division;
  Atom& atom = atoms_[static_cast<size_t>(division.terms[0].atom)];
  atom.dividend = rest;
  atom.divisor = divisor;
  atom.is_remainder = modulus;
  return division;
}

int IndexMath::QuotientOf(const Atom& remainder, int64_t factor, const Index& a) const {
  for (const Index::Term& term : a.terms) {
    const Atom& quotient = atoms_[static_cast<size_t>(term.atom)];
    if (term.coefficient != factor || quotient.is_remainder ||
        quotient.divisor != remainder.divisor) {
      continue;
    }
    Index multiple;
    const Index difference = Sum(quotient.dividend, remainder.dividend, -1);
    const Index rest = Split(difference, remainder.divisor, multiple);
    if (rest.IsConstant() && rest.constant == 0) return term.atom;
  }
  return -1;
}

Index IndexMath::Recombined(Index a) const {
  for (size_t i = 0; i < a.terms.size(); ++i) {
    const Index::Term term = a.terms[i];
    const Atom& remainder = atoms_[static_cast<size_t>(term.atom)];
    int64_t factor = 0;
    if (!remainder.is_remainder ||
        __builtin_mul_overflow(term.coefficient, remainder.divisor, &factor)) {
      continue;
    }
    const int quotient = QuotientOf(remainder, factor, a);
    if (quotient < 0) continue;
    a = Sum(a, Index{0, {term}}, -1);
    a = Sum(a, Index{0, {{quotient, factor}}}, -1);
    a = Sum(a, atoms_[static_cast<size_t>(quotient)].dividend, term.coefficient);
    return Recombined(std::move(a));
  }
  return a;
}

Index IndexMath::FloorDiv(const Index& a, int64_t divisor) {
  if (divisor == 1) return a;
  if (MayWrap(a)) return Of(EmitDivision(a, divisor, /*modulus=*/false), {}, /*is_data=*/true);
  Index quotient;
  const Index rest = Split(a, divisor, quotient);
  const Interval range = RangeOf(rest);
  const Interval result = loop::FloorDiv(range, Interval::Point(divisor));
  if (result.IsPoint()) return Sum(quotient, Constant(result.min));
  int64_t factor = 1;
  Index coarse, fine;
  if (SplitLanes(rest, divisor, factor, coarse, fine)) {
    return Sum(quotient, FloorDiv(coarse, divisor / factor));
  }
  return Sum(quotient, Divided(rest, divisor, /*modulus=*/false, result));
}

Index IndexMath::FloorMod(const Index& a, int64_t divisor) {
  if (divisor == 1) return Constant(0);
  if (MayWrap(a)) {
    return Of(EmitDivision(a, divisor, /*modulus=*/true), {0, divisor - 1}, /*is_data=*/true);
  }
  Index quotient;
  const Index rest = Split(a, divisor, quotient);
  const Interval range = RangeOf(rest);
  const int64_t low = loop::FloorDivInt(range.min, divisor);
  if (IsBounded(range) && low == loop::FloorDivInt(range.max, divisor)) {
    return Sum(rest, Constant(-low * divisor));
  }
  int64_t factor = 1;
  Index coarse, fine;
  if (SplitLanes(rest, divisor, factor, coarse, fine)) {
    return Sum(fine, FloorMod(coarse, divisor / factor), factor);
  }
  return Divided(rest, divisor, /*modulus=*/true, {0, divisor - 1});
}

Value* IndexMath::Find(const Key& key) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(key);
    if (found != scope->end()) return found->second;
  }
  return nullptr;
}

Value* IndexMath::EmitTerm(const Index::Term& term) {
  Value* value = atoms_[term.atom].value;
  if (term.coefficient == 1) return value;
  const int64_t magnitude = term.coefficient;
  if (magnitude > 0 && std::has_single_bit(static_cast<uint64_t>(magnitude))) {
    return b_.CreateShl(value, std::countr_zero(static_cast<uint64_t>(magnitude)));
  }
  return b_.CreateMul(value, llvm::ConstantInt::get(value->getType(), term.coefficient, true));
}

Value* IndexMath::Emit(const Index& a) {
  // Sums of the outer terms are shared by accesses that differ in the inner ones.
  Value* sum = nullptr;
  Key key{0, 0, {}};
  Index::Terms vectors;
  for (const Index::Term& term : a.terms) {
    if (IsVectorAtom(term.atom)) {
      vectors.push_back(term);
      continue;
    }
    key.terms.push_back(term);
    Value* found = Find(key);
    if (!found) {
      found = EmitTerm(term);
      if (sum) found = b_.CreateAdd(sum, found);
      Remember(key, found);
    }
    sum = found;
  }
  if (a.constant != 0 || !sum) {
    Value* constant = b_.getInt64(a.constant);
    sum = sum ? b_.CreateAdd(sum, constant) : constant;
  }
  for (const Index::Term& term : vectors) {
    Value* value = EmitTerm(term);
    Match(b_, sum, value);
    sum = b_.CreateAdd(sum, value);
  }
  return sum;
}

Value* IndexMath::EmitInScopes(const Index& a, size_t scopes) {
  const auto inside = scopes_.begin() + static_cast<ptrdiff_t>(scopes);
  std::vector<Memo> hidden(std::make_move_iterator(inside), std::make_move_iterator(scopes_.end()));
  scopes_.resize(scopes);
  Value* value = Emit(a);
  for (Memo& memo : hidden) scopes_.push_back(std::move(memo));
  return value;
}

}  // namespace hone::codegen
