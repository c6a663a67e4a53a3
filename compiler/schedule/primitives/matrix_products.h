// Sums for the elements of a constant matrix times a vector of expressions.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_MATRIX_PRODUCTS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_MATRIX_PRODUCTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/loop/expr.h"
#include "compiler/schedule/primitives/toom_cook.h"

namespace hone::schedule {

// One sum a row; elements that are zero have no term. With `pairs`, rows that differ in signs alone
// are the sum and the difference of two parts that both share, or else elements of the vector come
// in as sums and differences where columns do: the nodes are shared, code generation sees them
// once.
std::vector<loop::Expr> MatrixProducts(Matrix matrix, std::vector<loop::Expr> vector, bool pairs);

// Element `row` of them. The row is an expression: once loops are unrolled one sum is left of the
// choice.
loop::Expr Chosen(const std::vector<loop::Expr>& products, const loop::Expr& row);

// The vector of element(0), element(1), ...
std::vector<loop::Expr> Line(int64_t count, const std::function<loop::Expr(int64_t)>& element);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_MATRIX_PRODUCTS_H_
