// Checks that code which is moved, or run for more iterations, loads only elements that exist.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_ACCESS_CHECK_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_ACCESS_CHECK_H_

#include <string>
#include <utility>

#include "compiler/loop/bounds.h"
#include "compiler/loop/linear.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

// The range of `x`. It is narrower than that of BoundsOf where the bounds of one loop depend on the
// variable of another.
loop::Interval RangeOf(const loop::Linear& x, const loop::Bounds& bounds);

// Checks that everything that a statement loads lies in its buffer, pad lanes included, by the
// bounds of the loops and by the conditions it is loaded under.
class AccessCheck {
 public:
  // `bounds` are those of the loops around the statement. `own` is the buffer that the statement
  // computes; its loads are not checked, since it gets the size that it needs. It must outlive the
  // check.
  AccessCheck(loop::Bounds bounds, const loop::Buffer& own)
      : bounds_(std::move(bounds)), own_(own) {}
  bool Holds(const loop::Stmt& s);
  // The text of the load that may lie outside; empty if Holds found none.
  const std::string& where() const { return where_; }

 private:
  template <typename Check>
  bool Under(const loop::Expr& condition, bool truth, const Check& check);
  bool HoldsExpr(const loop::Expr& e);
  bool Inside(const loop::ExprNode& load) const;

  loop::Bounds bounds_;
  const loop::Buffer& own_;
  std::string where_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_ACCESS_CHECK_H_
