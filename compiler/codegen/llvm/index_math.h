// Index arithmetic while code is emitted: linear forms over values that already exist.
//
// loop::Linear works on expressions; here the variables of unrolled loops are constants and those
// of other loops are LLVM values, so that a body is expanded many times without rebuilding its
// expressions. The intervals are the same. Index arithmetic is taken not to overflow.
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

// constant + sum of coefficient * atom. Atoms are numbered by the IndexMath that made them; outer
// loops' before inner ones', so that sums are shared and can be hoisted.
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

// Not thread-safe; of one function.
class IndexMath {
 public:
  explicit IndexMath(Builder& b) : b_(b) {}

  // An atom of an int64 value, scalar or one element a lane; equal values are one atom. What is
  // made of `data` of the model may wrap around in sums, other than indices.
  Index Of(llvm::Value* value, loop::Interval range, bool is_data = false);
  // The atom 0, 1, ..., lanes - 1 of a vectorised loop.
  int LaneAtom(int lanes);

  static Index Constant(int64_t value) { return {value, {}}; }
  static Index Sum(const Index& a, const Index& b, int64_t factor = 1);
  static Index Scaled(const Index& a, int64_t factor);
  // divisor > 0. Rounded towards minus infinity.
  Index FloorDiv(const Index& a, int64_t divisor);
  Index FloorMod(const Index& a, int64_t divisor);
  // The same value with k x for k d (x floordiv d) + k (x floormod d), as of tensors that are read
  // in another shape.
  Index Recombined(Index a) const;

  loop::Interval RangeOf(const Index& a) const;
  // The range of a - b as numbers; unknown where one of the two may wrap around.
  loop::Interval RangeOfDifference(const Index& a, const Index& b) const;
  // As loop::MayWrap.
  bool MayWrap(const Index& a) const;
  bool IsData(const Index& a) const;
  // Whether the value differs from lane to lane.
  bool IsVector(const Index& a) const;
  bool IsVectorAtom(int atom) const { return LanesOf(atoms_[atom].value) > 1; }
  // a = `uniform` + a constant a lane: these constants, where what differs from lane to lane is
  // known; otherwise nothing.
  std::vector<int64_t> LaneConstants(const Index& a, int lanes, Index& uniform) const;

  // An int64 of the value.
  llvm::Value* Emit(const Index& a);
  // The same where only what the outermost `scopes` scopes have is known: ahead of a loop.
  llvm::Value* EmitInScopes(const Index& a, size_t scopes);

  // Values computed inside of a scope are not reused outside of it: bodies of loops and branches.
  void PushScope() { scopes_.emplace_back(); }
  void PopScope() { scopes_.pop_back(); }
  size_t scopes() const { return scopes_.size(); }

 private:
  struct Atom {
    llvm::Value* value;
    loop::Interval range;
    bool is_data;
    // What a quotient or a remainder is taken of, and by what; neither may wrap around.
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
  // The part of `a` whose terms are no multiples of the divisor; the others go to `quotient`.
  Index Split(const Index& a, int64_t divisor, Index& quotient) const;
  // rest = coarse * factor + fine, where the factor divides the divisor, 0 <= fine < factor, and
  // all that differs from lane to lane is in `fine`; false where it is otherwise.
  bool SplitLanes(const Index& rest, int64_t divisor, int64_t& factor, Index& coarse,
                  Index& fine) const;
  llvm::Value* EmitDivision(const Index& rest, int64_t divisor, bool modulus);
  // The atom of it, in `range`.
  Index Divided(const Index& rest, int64_t divisor, bool modulus, loop::Interval range);
  // The quotient, `factor` times in `a`, of a number that has this remainder; -1: none.
  int QuotientOf(const Atom& remainder, int64_t factor, const Index& a) const;

  Builder& b_;
  std::vector<Atom> atoms_;
  absl::flat_hash_map<llvm::Value*, int> atom_of_;
  std::map<int, int> lane_atoms_;
  std::vector<Memo> scopes_{1};
};

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_INDEX_MATH_H_
