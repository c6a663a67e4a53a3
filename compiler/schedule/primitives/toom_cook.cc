#include "compiler/schedule/primitives/toom_cook.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace hone::schedule {
namespace {

// The finite points for so many products: those with the least amplification among small
// fractions, found by trying them all; of seven products, among those of which two pairs differ in
// sign alone, which makes transforms cheaper (4.4 is the least, 5.2 theirs, of F(4, 4)), or one
// pair where two would be too much (5.9 of F(5, 3), against 5.3).
std::vector<double> PointsFor(size_t results, size_t taps) {
  constexpr double kThird = 1.0 / 3;
  if (results == 5 && taps == 3) return {0, 1, -1, 0.5, -0.75, 3};
  const size_t products = results + taps - 1;
  switch (products) {
    case 8:
      return {0, 1, -1, 0.5, -0.5, 2, -2};
    case 7:
      return {0, 1, -1, 2, -2, -0.25};
    case 9:
      return {0, 0.5, -0.5, 4, 1.5, -1.5, 0.75, -0.75};
    case 10:
      return {0, 1, -1, -0.25, 4, 1.5, -1.5, 2 * kThird, -2 * kThird};
    case 11:
      return {0, 1, -0.5, -2, 0.25, 4, 1.5, -1.5, 2 * kThird, -2 * kThird};
    default:
      break;
  }
  std::vector<double> points = {0, 1, -1, 0.5, -2};
  assert(products >= 1 && products <= points.size() + 1);
  points.resize(products - 1);
  return points;
}

// The coefficients of the product of (x - p) over all points but the one at `without`.
std::vector<double> Polynomial(const std::vector<double>& points, size_t without) {
  std::vector<double> c = {1};
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == without) continue;
    c.insert(c.begin(), 0);
    for (size_t k = 0; k + 1 < c.size(); ++k) c[k] -= points[i] * c[k + 1];
  }
  return c;
}

double SquareOf(const std::vector<double>& row) {
  double sum = 0;
  for (double x : row) sum += x * x;
  return sum;
}

}  // namespace

ToomCook MakeToomCook(int64_t results, int64_t taps) {
  const auto m = static_cast<size_t>(results);
  const auto r = static_cast<size_t>(taps);
  const size_t n = m + r - 1;
  const std::vector<double> points = PointsFor(m, r);
  ToomCook t;
  t.result.assign(m, std::vector<double>(n, 0));
  for (size_t i = 0; i < n; ++i) {
    std::vector<double> row = Polynomial(points, i);
    row.resize(n, 0);
    t.data.push_back(row);
    t.filter.emplace_back(r, 0);
    if (i + 1 == n) continue;
    double scale = 1;
    for (size_t k = 0; k + 1 < n; ++k) scale *= k == i ? 1 : points[i] - points[k];
    double power = 1;
    for (size_t k = 0; k < std::max(r, m); ++k) {
      if (k < r) t.filter[i][k] = power / scale;
      if (k < m) t.result[k][i] = power;
      power *= points[i];
    }
  }
  t.filter[n - 1][r - 1] = 1;
  t.result[m - 1][n - 1] = 1;
  return t;
}

void ToomCook::ScaleDataInstead() {
  for (size_t i = 0; i + 1 < filter.size(); ++i) {  // not of infinity, whose scale is 1
    const double scale = filter[i][0];
    for (double& x : filter[i]) x /= scale;
    for (double& x : data[i]) x *= scale;
  }
}

double ToomCook::Amplification() const {
  double most = 0;
  for (const std::vector<double>& row : result) {
    double sum = 0;
    for (size_t e = 0; e < row.size(); ++e) {
      sum += row[e] * row[e] * SquareOf(filter[e]) * SquareOf(data[e]);
    }
    most = std::max(most, sum);
  }
  return std::max(1.0, std::sqrt(most / static_cast<double>(filter[0].size())));
}

}  // namespace hone::schedule
