// Finds extreme values of linear forms by taking their minima and maxima apart. loop/bounds.cc uses
// it for numbers, schedule/primitives/region.cc for expressions of outer variables.
#ifndef HONE_COMPILER_LOOP_EXTREME_H_
#define HONE_COMPILER_LOOP_EXTREME_H_

#include "compiler/loop/linear.h"

namespace hone::loop {

inline bool IsMinOrMax(const Expr& e) {
  return e->kind == ExprKind::kBinary &&
         (e->binary_op == BinaryOp::kMin || e->binary_op == BinaryOp::kMax);
}

// The search's members, which say what the extreme is made of, and are asked step by step:
//   Result              of a form: the extreme, or that it is unknown
//   IsChoice(term)      whether this minimum or maximum is to be taken apart
//   Form(e)             the linear form of an operand of a minimum or maximum
//   Replace(&x)         puts one extreme in the place of a variable or atom; false: no more to do
//   Leaf(x)             the result for a form with nothing left to take apart or replace
//   Unresolved(x)       the result for a form that `depth` does not let it take apart
//   Join(op, a, b)      the smaller (kMin) or larger of two results
//   Tighten(x, result)  `result`, or what is known of the form `x` without taking it apart, if
//   that is better
//
// rest + c * min(a, b) is min(rest + c * a, rest + c * b), or the larger of the two if c is
// negative. Terms of `rest` then cancel with terms of a or b. Each choice doubles the work, so no
// more than `depth` nested choices are taken apart.
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
