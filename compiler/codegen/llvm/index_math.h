// Index arithmetic while code is emitted: linear forms over LLVM values that already exist.
//
// loop::Linear works on expressions. Here the variables of unrolled loops are constants and those
// of other loops are LLVM values, so that a body can be expanded many times without rebuilding its
// expressions. Intervals work as they do there. Index arithmetic is assumed not to overflow.
#ifndef HONE_COMPILER_CODEGEN_LLVM_INDEX_MATH_H_
#define HONE_COMPILER_CODEGEN_LLVM_INDEX_MATH_H_

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "compiler/codegen/llvm/values.h"
#include "compiler/loop/interval.h"

namespace hone::codegen {

// constant + sum of coefficient * atom. IndexMath numbers the atoms in the order in which it makes
// them, those of outer loops before those of inner ones, so that partial sums are shared and can be
// hoisted.
struct Index {
  struct Term {
    int atom;
    int64_t coefficient;
    auto operator<=>(const Term&) const = default;
  };
  using Terms = absl::InlinedVector<Term, 4>;
  int64_t constant = 0;
  Terms terms;  // sorted by atom, coefficients not zero

  bool IsConstant() const { return terms.empty(); }
  int64_t CoefficientOf(int atom) const;
};

// Use one for each LLVM function. Not thread-safe.
class IndexMath {
 public:
  explicit IndexMath(Builder& b) : b_(b) {}

  // The atom for an int64 value, which is a scalar or has one element per lane; the same value
  // gives the same atom. `is_data` says that the value comes from the model's data: sums of such
  // values may wrap around, unlike those of indices.
  Index Of(llvm::Value* value, loop::Interval range, bool is_data = false);
  // The atom 0, 1, ..., lanes - 1 of a vectorised loop.
  int LaneAtom(int lanes);

  static Index Constant(int64_t value) { return {value, {}}; }
  static Index Sum(const Index& a, const Index& b, int64_t factor = 1);
  static Index Scaled(const Index& a, int64_t factor);
  // divisor > 0. Rounded towards minus infinity.
  Index FloorDiv(const Index& a, int64_t divisor);
  Index FloorMod(const Index& a, int64_t divisor);
  // The same value with k * d * (x floordiv d) + k * (x floormod d) replaced by k * x. Such terms
  // come from tensors that are read in another shape.
  Index Recombined(Index a) const;

  loop::Interval RangeOf(const Index& a) const;
  // The range of a - b without wrapping; unknown if one of the two may wrap around.
  loop::Interval RangeOfDifference(const Index& a, const Index& b) const;
  // As loop::MayWrap.
  bool MayWrap(const Index& a) const;
  bool IsData(const Index& a) const;
  // Whether the value differs from lane to lane.
  bool IsVector(const Index& a) const;
  bool IsVectorAtom(int atom) const { return LanesOf(atoms_[atom].value) > 1; }
  // Splits `a` into `uniform`, the same for all lanes, and a constant for each lane, which are
  // returned. Empty if what differs from lane to lane is not known.
  std::vector<int64_t> LaneConstants(const Index& a, int lanes, Index& uniform) const;

  // Emits the value as an int64.
  llvm::Value* Emit(const Index& a);
  // The same, but reuses only values of the outermost `scopes` scopes, for code ahead of a loop.
  llvm::Value* EmitInScopes(const Index& a, size_t scopes);

  // A scope is the body of a loop or a branch. Values computed inside a scope are not reused
  // outside it.
  void PushScope() { scopes_.emplace_back(); }
  void PopScope() { scopes_.pop_back(); }
  size_t scopes() const { return scopes_.size(); }

 private:
  struct Atom {
    llvm::Value* value;
    loop::Interval range;
    bool is_data;
    // For a quotient or a remainder: the dividend and the divisor. Neither may wrap around.
    Index dividend = {};
    int64_t divisor = 0;
    bool is_remainder = false;
  };
  struct Key {
    int operation;  // 0: sum, 1: quotient, 2: remainder
    int64_t constant;
    Index::Terms terms;
    std::strong_ordering operator<=>(const Key&) const = default;
  };
  using Memo = std::map<Key, llvm::Value*>;

  llvm::Value* Find(const Key& key) const;
  void Remember(Key key, llvm::Value* value) { scopes_.back()[std::move(key)] = value; }
  loop::Interval RangeOfNumber(const Index& a) const;
  llvm::Value* EmitTerm(const Index::Term& term);
  // Returns the terms of `a` that are not multiples of the divisor; the others, divided, go to
  // `quotient`.
  Index Split(const Index& a, int64_t divisor, Index& quotient) const;
  // rest = coarse * factor + fine, where the factor divides the divisor, 0 <= fine < factor, and
  // all that differs from lane to lane is in `fine`; false if there is no such split.
  bool SplitLanes(const Index& rest, int64_t divisor, int64_t& factor, Index& coarse,
                  Index& fine) const;
  llvm::Value* EmitDivision(const Index& rest, int64_t divisor, bool modulus);
  // The atom of that division, whose value lies in `range`.
  Index Divided(const Index& rest, int64_t divisor, bool modulus, loop::Interval range);
  // The atom that is the quotient to this remainder and is in `a` with coefficient `factor`; -1 if
  // there is none.
  int QuotientOf(const Atom& remainder, int64_t factor, const Index& a) const;

  Builder& b_;
  std::vector<Atom> atoms_;
  absl::flat_hash_map<llvm::Value*, int> atom_of_;
  std::map<int, int> lane_atoms_;
  std::vector<Memo> scopes_{1};
};

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_INDEX_MATH_H_
