// What is known of the variables at a point of a nest, and what index expressions can be there.
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
    // The smallest and the largest value as expressions of outer variables; null if they depend on
    // none. They keep relations: o * 4 + i < 10 gives i < min(4, 10 - o * 4).
    Expr min;
    Expr max;
    bool is_lane = false;  // of a vectorised loop
  };

  Bounds() = default;
  Bounds(std::initializer_list<std::pair<Expr, Interval>> variables);

  // Enters the body of `loop`, so that its variable is known; Pop leaves the body.
  void PushLoop(const StmtNode& loop);
  void Push(Expr var, Interval interval);
  void Pop() { variables_.pop_back(); }
  // Takes `condition` to be `truth` from here on; to undo it, keep a copy from before the call. The
  // condition is ignored if it loads from memory that the kernel may write.
  void Assume(const Expr& condition, bool truth = true);

  const std::vector<Variable>& variables() const { return variables_; }
  // The innermost variable that is the node `var`, or null.
  const Variable* Find(const ExprNode* var) const;

 private:
  friend class LinearBounds;
  // A condition on more than one variable.
  struct Fact {
    Linear value;
    Interval interval;
  };
  // Drops relations with a variable that a further loop is about to bind again.
  void Forget(const Expr& var);
  void AssumeComparison(BinaryOp op, const Expr& a, const Expr& b);

  std::vector<Variable> variables_;
  std::vector<Fact> facts_;
};

// The values that an integer or bool expression can take. The interval is tightest for expressions
// that Simplify returned.
Interval BoundsOf(const Expr& e, const Bounds& bounds);
Interval BoundsOf(const Linear& linear, const Bounds& bounds);
// Whether the value may have wrapped around modulo 2^64, because it contains data of the model
// whose ranges do not exclude it. Such a value must not be divided term by term, or be ordered.
bool MayWrap(const Linear& linear, const Bounds& bounds);
// Whether the value of `e` depends on loads.
bool IsOfData(const Expr& e);
// The bounds of a - b as numbers; all numbers where one of the two may wrap around.
Interval BoundsOfDifference(const Expr& a, const Expr& b, const Bounds& bounds);

// Whether the condition is always true, or always false; nullopt if that is unknown.
std::optional<bool> Decide(const Expr& condition, const Bounds& bounds);

// Whether evaluating `e` again later in the kernel, with the same variables, gives the same value.
bool IsStable(const Expr& e);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_BOUNDS_H_
