// Index arithmetic with known ranges of the loop variables: what lets a primitive prove that a
// bound is exact, a condition decided or an access inside its buffer. Integers of type int64 only;
// everything else is opaque. Answers are safe: where nothing is known, intervals are unbounded and
// expressions come back as they were.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_BOUNDS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_BOUNDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/loop/stmt.h"

namespace hone::schedule {

// Closed. The limits stand for "unbounded"; arithmetic saturates there.
struct Interval {
  static constexpr int64_t kInfinity = int64_t{1} << 60;
  int64_t low = -kInfinity;
  int64_t high = kInfinity;
  bool IsPoint() const { return low == high; }
  bool Within(int64_t min, int64_t max) const { return low >= min && high <= max; }
};

// The loops around a point of a nest, outermost first.
class Ranges {
 public:
  struct Entry {
    loop::Expr var;
    Interval interval;
    // The largest (smallest) value where it depends on outer variables, else null: keeps relations
    // such as o * 4 + i < 10 with i < min(4, 10 - o * 4).
    loop::Expr symbolic_max;
    loop::Expr symbolic_min;
  };
  void PushLoop(const loop::StmtNode& loop);
  void Push(loop::Expr var, Interval interval) {
    entries_.push_back({std::move(var), interval, {}, {}});
  }
  void Pop() { entries_.pop_back(); }
  const Entry* Find(const loop::ExprNode* var) const;
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// sum of coefficient * atom + constant. Atoms are variables and opaque expressions, distinct.
struct Linear {
  struct Term {
    loop::Expr atom;
    int64_t coefficient;
  };
  std::vector<Term> terms;
  int64_t constant = 0;

  void Add(const Linear& other, int64_t factor);
  bool IsConstant() const { return terms.empty(); }
};

Linear ToLinear(const loop::Expr& e, const Ranges& ranges);
loop::Expr FromLinear(const Linear& linear);
Interval BoundsOf(const Linear& linear, const Ranges& ranges);
Interval BoundsOf(const loop::Expr& e, const Ranges& ranges);

// An equal expression, as simple as the ranges allow. Descends into loads, selects, conditions and
// floating-point arithmetic.
loop::Expr Simplify(const loop::Expr& e, const Ranges& ranges);
// Loops of one iteration and decided conditions go; loops of none too (then null may come back).
loop::Stmt Simplify(const loop::Stmt& s, Ranges& ranges);

// nullopt: not known.
std::optional<bool> Decide(const loop::Expr& condition, const Ranges& ranges);
// a - b where it is a constant.
std::optional<int64_t> ConstantDifference(const loop::Expr& a, const loop::Expr& b,
                                          const Ranges& ranges);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_BOUNDS_H_
