// What is known of the variables at a point of a nest, and what follows of index expressions.
// Index arithmetic is taken not to overflow; int64 data of the model, which is loaded, may wrap
// around. Answers may be "unknown", and are never wrong.
#ifndef HONE_COMPILER_LOOP_BOUNDS_H_
#define HONE_COMPILER_LOOP_BOUNDS_H_

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/loop/interval.h"
#include "compiler/loop/linear.h"
#include "compiler/loop/stmt.h"

namespace hone::loop {

// A value type: the loops around a point, outermost first, and the conditions it stands under.
class Bounds {
 public:
  struct Variable {
    Expr var;
    Interval interval;
    // The smallest (largest) value where it depends on outer variables, else null. Keeps relations
    // such as o * 4 + i < 10 with i < min(4, 10 - o * 4).
    Expr min;
    Expr max;
    bool is_lane = false;  // of a vectorised loop
  };

  Bounds() = default;
  Bounds(std::initializer_list<std::pair<Expr, Interval>> variables);

  // From here on in the body of `loop`; Pop leaves it.
  void PushLoop(const StmtNode& loop);
  void Push(Expr var, Interval interval);
  void Pop() { variables_.pop_back(); }
  // From here on `condition` is `truth`; no way back but a copy made before. Nothing is learned of
  // values loaded from memory that the kernel may write.
  void Assume(const Expr& condition, bool truth = true);

  const std::vector<Variable>& variables() const { return variables_; }
  // The innermost of that node, or null.
  const Variable* Find(const ExprNode* var) const;

 private:
  friend class LinearBounds;
  // A condition on more than one variable.
  struct Fact {
    Linear value;
    Interval interval;
  };
  // Relations with a variable that a loop binds once more.
  void Forget(const Expr& var);
  void AssumeComparison(BinaryOp op, const Expr& a, const Expr& b);

  std::vector<Variable> variables_;
  std::vector<Fact> facts_;
};

// Values that an integer or bool expression can take. Tightest for what Simplify returns.
Interval BoundsOf(const Expr& e, const Bounds& bounds);
Interval BoundsOf(const Linear& linear, const Bounds& bounds);
// Whether its value is no other than a sum modulo 2^64: data of the model are in it whose ranges do
// not say that the sum stays in int64. Then it has no quotient by parts, and no order.
bool MayWrap(const Linear& linear, const Bounds& bounds);
// Whether a value is made of loaded ones.
bool IsOfData(const Expr& e);
// The bounds of a - b as numbers; all numbers where one of the two may wrap around.
Interval BoundsOfDifference(const Expr& a, const Expr& b, const Bounds& bounds);

// What holds of a condition; nullopt: unknown.
std::optional<bool> Decide(const Expr& condition, const Bounds& bounds);

// Whether evaluating it again later in the kernel, with the same variables, gives the same value.
bool IsStable(const Expr& e);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_BOUNDS_H_
