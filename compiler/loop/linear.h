// Linear forms of index arithmetic: c0 + c1 * atom1 + c2 * atom2 + ...
//
// For int64 expressions only. Sums wrap around modulo 2^64, as in the whole IR.
#ifndef HONE_COMPILER_LOOP_LINEAR_H_
#define HONE_COMPILER_LOOP_LINEAR_H_

#include <cstdint>
#include <vector>

#include "compiler/loop/expr.h"

namespace hone::loop {

// A value type. Atoms are variables and whatever is not linear (loads, quotients, minima, ...);
// they stand in the order in which they first appeared, with coefficients that are not zero.
class Linear {
 public:
  struct Term {
    Expr atom;
    int64_t coefficient;
  };

  Linear() = default;
  explicit Linear(int64_t constant) : constant_(constant) {}
  static Linear Atom(Expr atom, int64_t coefficient = 1);
  // Takes sums, differences and products with constants apart; everything else is an atom.
  static Linear Of(const Expr& e);

  const std::vector<Term>& terms() const { return terms_; }
  int64_t constant() const { return constant_; }
  bool IsConstant() const { return terms_.empty(); }
  // 0 where the atom is missing.
  int64_t CoefficientOf(const Expr& atom) const;

  void Add(const Linear& other, int64_t factor = 1);
  void AddTerm(const Expr& atom, int64_t coefficient);
  void AddConstant(int64_t value);
  void Scale(int64_t factor);

  Expr ToExpr() const;

 private:
  std::vector<Term> terms_;
  int64_t constant_ = 0;
};

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_LINEAR_H_
