// Extreme values of linear forms, minimum by minimum: the one algorithm of loop/bounds.cc, which
// wants numbers, and of schedule/primitives/region.cc, which wants expressions of outer variables.
#ifndef HONE_COMPILER_LOOP_EXTREME_H_
#define HONE_COMPILER_LOOP_EXTREME_H_

#include "compiler/loop/linear.h"

namespace hone::loop {

inline bool IsMinOrMax(const Expr& e) {
  return e->kind == ExprKind::kBinary &&
         (e->binary_op == BinaryOp::kMin || e->binary_op == BinaryOp::kMax);
}

// What a search for the extreme of a form asks for, step by step.
//   Result              of a form: the extreme, or that it is unknown
//   IsChoice(term)      whether this minimum or maximum is to be taken apart
//   Form(e)             the linear form of a part of one
//   Replace(&x)         puts one extreme in the place of a variable or atom; false: no more to do
//   Leaf(x)             where no more is to do
//   Unresolved(x)       where the depth does not suffice
//   Join(op, a, b)      the smaller (kMin) or larger of two results
//   Tighten(x, result)  the result for `x`, or what is known of it as it stands where that is
//   better
//
// rest + c * min(a, b) is min(rest + c * a, rest + c * b), or the larger of them where c is
// negative: terms of `rest` that cancel those of a or b do so. Each choice doubles the work: no
// more than `depth` are taken apart on one way.
template <typename Search>
typename Search::Result ExtremeOf(const Linear& form, Search& search, int depth) {
  Linear x = form;
  do {
    for (const auto& [atom, coefficient] : x.terms()) {
      if (!IsMinOrMax(atom) || !search.IsChoice({atom, coefficient})) continue;
      if (depth <= 0) return search.Unresolved(x);
      const auto branch = [&, atom = atom, coefficient = coefficient](size_t side) {
        Linear with = x;
        with.AddTerm(atom, -coefficient);
        with.Add(search.Form(atom->operands[side]), coefficient);
        return ExtremeOf(with, search, depth - 1);
      };
      const bool smaller = (atom->binary_op == BinaryOp::kMin) == (coefficient > 0);
      return search.Tighten(
          form, search.Join(smaller ? BinaryOp::kMin : BinaryOp::kMax, branch(0), branch(1)));
    }
  } while (search.Replace(&x));
  return search.Tighten(form, search.Leaf(x));
}

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_EXTREME_H_
