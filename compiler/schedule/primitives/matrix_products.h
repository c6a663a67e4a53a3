// Expressions for the product of a constant matrix and a vector of expressions.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_MATRIX_PRODUCTS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_MATRIX_PRODUCTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/loop/expr.h"
#include "compiler/schedule/primitives/toom_cook.h"

namespace hone::schedule {

// One sum for each row; elements that are zero have no term. With `pairs`, two rows that differ
// only in signs become the sum and the difference of two parts that both share. If there are no
// such rows, then for two columns that differ only in signs the sum and the difference of their
// elements of the vector are shared by all rows. Code generation computes a shared node once.
std::vector<loop::Expr> MatrixProducts(Matrix matrix, std::vector<loop::Expr> vector, bool pairs);

// Chooses element `row` of the products by selects. Once the loops of `row`, an expression, are
// unrolled, one of the products is left.
loop::Expr Chosen(const std::vector<loop::Expr>& products, const loop::Expr& row);

// The vector of element(0), element(1), ...
std::vector<loop::Expr> Line(int64_t count, const std::function<loop::Expr(int64_t)>& element);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_MATRIX_PRODUCTS_H_
