// Simplification of index arithmetic and of statements. Values stay the same, bit for bit.
#ifndef HONE_COMPILER_LOOP_SIMPLIFY_H_
#define HONE_COMPILER_LOOP_SIMPLIFY_H_

#include <vector>

#include "compiler/loop/bounds.h"
#include "compiler/loop/stmt.h"

namespace hone::loop {

// int64 arithmetic comes into linear form; quotients and remainders by constants are taken apart
// where the ranges allow it: with 0 <= i < 16, (o * 16 + i) floordiv 16 is o and floormod 16 is i.
// Comparisons, minima, maxima and selects that the ranges decide are replaced by the outcome. Float
// arithmetic is left alone. Index arithmetic is taken not to overflow.
Expr Simplify(const Expr& e, const Bounds& bounds);
// The linear form of what Simplify returns; an expression that is not int64 is a single atom.
Linear LinearForm(const Expr& e, const Bounds& bounds);

// Simplifies every expression under the bounds of the loops around it; drops branches that are
// decided, loops that do not run and statements without effect; replaces loops of extent 1 by their
// body (but keeps those of the grid and its threads). Where nothing is left, IsEmpty holds.
Stmt Simplify(const Stmt& s);
Stmt Simplify(const Stmt& s, const Bounds& bounds);
Nest Simplify(const Nest& nest);

// Where an element lies, in elements from the start of the buffer, by its layout and shape.
Expr PhysicalOffset(const BufferNode& buffer, const std::vector<Expr>& indices,
                    const Bounds& bounds);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_SIMPLIFY_H_
