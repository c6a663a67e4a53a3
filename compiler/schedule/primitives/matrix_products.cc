#include "compiler/schedule/primitives/matrix_products.h"

#include <algorithm>
#include <cmath>

namespace hone::schedule {

using loop::Expr;

namespace {

// sum + factor * x; `sum` may be null.
Expr Plus(const Expr& sum, double factor, const Expr& x) {
  const bool unit = factor == 1 || factor == -1;
  const Expr term = unit ? x : x * loop::FloatConst(factor, x->dtype);
  if (factor == -1) return sum ? sum - term : Unary(loop::UnaryOp::kNeg, term);
  return sum ? sum + term : term;
}

Expr RowProduct(const std::vector<double>& row, const std::vector<Expr>& vector) {
  Expr sum;
  for (size_t c = 0; c < vector.size(); ++c) {
    if (row[c] != 0) sum = Plus(sum, row[c], vector[c]);
  }
  return sum;
}

bool SameSize(double a, double b) {
  return std::abs(std::abs(a) - std::abs(b)) <= 1e-12 * std::abs(a);
}

// Points that differ in sign alone make rows (of B^T) whose elements differ in sign alone: their
// products are the sum and the difference of two parts.
bool ArePair(const std::vector<double>& a, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameSize(a[i], b[i])) return false;
  }
  return true;
}

void MakePair(const std::vector<double>& a, const std::vector<double>& b,
              const std::vector<Expr>& vector, Expr* of_a, Expr* of_b) {
  std::vector<double> same(a.size(), 0), opposite(a.size(), 0);
  for (size_t i = 0; i < a.size(); ++i) (a[i] * b[i] >= 0 ? same : opposite)[i] = a[i];
  const Expr x = RowProduct(same, vector), y = RowProduct(opposite, vector);
  *of_a = x && y ? x + y : (x ? x : y);
  *of_b = x && y ? x - y : (x ? x : Unary(loop::UnaryOp::kNeg, y));
}

std::vector<double> Column(const Matrix& matrix, size_t column) {
  std::vector<double> values;
  for (const std::vector<double>& row : matrix) values.push_back(row[column]);
  return values;
}

// The same for columns (of A^T): in place of two elements of the vector their sum and difference,
// of which a row needs one.
void PairColumns(Matrix* matrix, std::vector<Expr>* vector) {
  constexpr size_t kFewRows = 2;
  if (matrix->size() <= kFewRows) return;
  for (size_t c = 0; c < vector->size(); ++c) {
    for (size_t d = c + 1; d < vector->size(); ++d) {
      if (!ArePair(Column(*matrix, c), Column(*matrix, d))) continue;
      const Expr x = (*vector)[c], y = (*vector)[d];
      (*vector)[c] = x + y;
      (*vector)[d] = x - y;
      for (std::vector<double>& row : *matrix) {
        const bool adds = row[c] * row[d] > 0;
        row[d] = adds ? 0 : row[c];
        if (!adds) row[c] = 0;
      }
      break;
    }
  }
}

}  // namespace

std::vector<Expr> MatrixProducts(Matrix matrix, std::vector<Expr> vector, bool pairs) {
  std::vector<Expr> products(matrix.size());
  for (size_t r = 0; pairs && r < matrix.size(); ++r) {
    for (size_t q = r + 1; q < matrix.size() && !products[r]; ++q) {
      if (products[q] || !ArePair(matrix[r], matrix[q])) continue;
      MakePair(matrix[r], matrix[q], vector, &products[r], &products[q]);
    }
  }
  const bool none = std::none_of(products.begin(), products.end(),
                                 [](const Expr& product) { return static_cast<bool>(product); });
  if (pairs && none) PairColumns(&matrix, &vector);
  for (size_t r = 0; r < matrix.size(); ++r) {
    if (!products[r]) products[r] = RowProduct(matrix[r], vector);
  }
  return products;
}

Expr Chosen(const std::vector<Expr>& products, const Expr& row) {
  Expr choice = products.back();
  for (size_t r = products.size() - 1; r-- > 0;) {
    choice = Select(loop::Eq(row, static_cast<int64_t>(r)), products[r], choice);
  }
  return choice;
}

std::vector<Expr> Line(int64_t count, const std::function<Expr(int64_t)>& element) {
  std::vector<Expr> line;
  for (int64_t k = 0; k < count; ++k) line.push_back(element(k));
  return line;
}

}  // namespace hone::schedule
