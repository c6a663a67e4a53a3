#include "compiler/schedule/primitives/toom_cook.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "support/random.h"

namespace hone::schedule {
namespace {

template <typename T>
using Vector = std::vector<T>;

template <typename T>
Vector<T> Times(const Matrix& matrix, const Vector<T>& x) {
  Vector<T> y;
  for (const std::vector<double>& row : matrix) {
    T sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += static_cast<T>(row[i]) * x[i];
    y.push_back(sum);
  }
  return y;
}

// The sum over channels of the results of data and filters, laid channel by channel, in T.
template <typename T>
Vector<T> Filtered(const ToomCook& t, const Vector<Vector<double>>& data,
                   const Vector<Vector<double>>& filters) {
  Vector<T> products(t.data.size(), 0);
  for (size_t c = 0; c < data.size(); ++c) {
    const Vector<T> d = Times(t.data, Vector<T>(data[c].begin(), data[c].end()));
    const Vector<T> g = Times(t.filter, Vector<T>(filters[c].begin(), filters[c].end()));
    for (size_t e = 0; e < products.size(); ++e) products[e] += d[e] * g[e];
  }
  return Times(t.result, products);
}

struct Errors {
  double largest = 0;  // over the largest result
  double amplification = 0;
};

template <typename T>
Errors Measure(int64_t m, int64_t r, Random& random) {
  constexpr int kRounds = 200, kChannels = 64;
  const ToomCook t = MakeToomCook(m, r);
  Errors errors;
  double largest = 0;
  const auto draw = [&](int64_t count) {
    Vector<double> values;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(
          static_cast<float>(static_cast<double>(random.Below(1 << 20)) / (1 << 19) - 1));
    }
    return values;
  };
  for (int round = 0; round < kRounds; ++round) {
    Vector<Vector<double>> data, filters;
    for (int c = 0; c < kChannels; ++c) {
      data.push_back(draw(m + r - 1));
      filters.push_back(draw(r));
    }
    const Vector<T> found = Filtered<T>(t, data, filters);
    for (size_t i = 0; i < static_cast<size_t>(m); ++i) {
      double expected = 0;
      for (int c = 0; c < kChannels; ++c) {
        for (size_t k = 0; k < static_cast<size_t>(r); ++k)
          expected += data[c][i + k] * filters[c][k];
      }
      largest = std::max(largest, std::abs(expected));
      errors.largest = std::max(errors.largest, std::abs(static_cast<double>(found[i]) - expected));
    }
  }
  errors.largest /= largest;
  errors.amplification = t.Amplification();
  return errors;
}

TEST(ToomCook, EveryTransformGivesTheConvolution) {
  Random random(1);
  for (int64_t products = 1; products <= kMostToomCookProducts; ++products) {
    for (int64_t r = 1; r <= products; ++r) {
      const int64_t m = products + 1 - r;
      EXPECT_LT(Measure<double>(m, r, random).largest, 1e-11) << fmt::format("F({}, {})", m, r);
    }
  }
}

// What decision 0008 leans on.
TEST(ToomCook, AmplificationSaysHowLargeErrorsAre) {
  Random random(2);
  for (int64_t products = 2; products <= kMostToomCookProducts; ++products) {
    for (int64_t r = 2; r < products; ++r) {
      const int64_t m = products + 1 - r;
      const Errors errors = Measure<float>(m, r, random);
      EXPECT_LT(errors.largest, 5e-7 * errors.amplification) << fmt::format("F({}, {})", m, r);
      EXPECT_GT(errors.largest, 5e-8 * errors.amplification) << fmt::format("F({}, {})", m, r);
      if (errors.amplification <= 32) {
        EXPECT_LT(errors.largest, 1e-5) << fmt::format("F({}, {})", m, r);
      }
    }
  }
  EXPECT_NEAR(MakeToomCook(4, 3).Amplification(), 3.2, 0.1);
  EXPECT_NEAR(MakeToomCook(2, 3).Amplification(), 1.3, 0.1);
  EXPECT_NEAR(MakeToomCook(2, 7).Amplification(), 5.0, 0.1);
}

Matrix Transposed(const Matrix& matrix) {
  Matrix result(matrix[0].size(), std::vector<double>(matrix.size()));
  for (size_t i = 0; i < matrix.size(); ++i) {
    for (size_t j = 0; j < matrix[0].size(); ++j) result[j][i] = matrix[i][j];
  }
  return result;
}

// M x M^T, every number rounded to float32.
Matrix BothSides(const Matrix& m, const Matrix& x) {
  Matrix half;
  for (const std::vector<double>& column : Transposed(x)) {
    const Vector<float> y = Times(m, Vector<float>(column.begin(), column.end()));
    half.emplace_back(y.begin(), y.end());
  }
  Matrix whole;
  for (const std::vector<double>& row : Transposed(half)) {
    const Vector<float> y = Times(m, Vector<float>(row.begin(), row.end()));
    whole.emplace_back(y.begin(), y.end());
  }
  return whole;
}

// The largest error of F(m x m, r x r) over the largest value.
double ErrorOfSquare(int64_t m, int64_t r, Random& random) {
  constexpr int kRounds = 20, kChannels = 64;
  const ToomCook t = MakeToomCook(m, r);
  const auto draw = [&](int64_t count) {
    Matrix values(static_cast<size_t>(count), std::vector<double>(static_cast<size_t>(count)));
    for (std::vector<double>& row : values) {
      for (double& x : row) x = static_cast<double>(random.Below(1 << 20)) / (1 << 19) - 1;
    }
    return values;
  };
  double largest = 0, error = 0;
  for (int round = 0; round < kRounds; ++round) {
    Matrix products(t.data.size(), std::vector<double>(t.data.size(), 0));
    Matrix expected(static_cast<size_t>(m), std::vector<double>(static_cast<size_t>(m), 0));
    for (int c = 0; c < kChannels; ++c) {
      const Matrix d = draw(m + r - 1), g = draw(r);
      const Matrix v = BothSides(t.data, d), u = BothSides(t.filter, g);
      for (size_t i = 0; i < products.size() * products.size(); ++i) {
        double& sum = products[i / products.size()][i % products.size()];
        const double term = v[i / products.size()][i % products.size()] *
                            u[i / products.size()][i % products.size()];
        sum = static_cast<float>(sum + term);
      }
      for (size_t i = 0; i < static_cast<size_t>(m * m * r * r); ++i) {
        const size_t taps = i % static_cast<size_t>(r * r), at = i / static_cast<size_t>(r * r);
        const size_t y = at / static_cast<size_t>(m), x = at % static_cast<size_t>(m);
        const size_t kh = taps / static_cast<size_t>(r), kw = taps % static_cast<size_t>(r);
        expected[y][x] += d[y + kh][x + kw] * g[kh][kw];
      }
    }
    const Matrix found = BothSides(t.result, products);
    for (size_t y = 0; y < expected.size(); ++y) {
      for (size_t x = 0; x < expected.size(); ++x) {
        largest = std::max(largest, std::abs(expected[y][x]));
        error = std::max(error, std::abs(found[y][x] - expected[y][x]));
      }
    }
  }
  return error / largest;
}

TEST(ToomCook, OfTwoAxesAmplificationsMultiply) {
  Random random(3);
  constexpr std::pair<int64_t, int64_t> kUsed[] = {{2, 3}, {4, 3}, {3, 4}, {4, 4}, {4, 5},
                                                   {5, 2}, {2, 5}, {3, 3}, {5, 3}};
  for (const auto& [m, r] : kUsed) {
    const double amplification = std::pow(MakeToomCook(m, r).Amplification(), 2);
    EXPECT_LE(amplification, 32) << fmt::format("F({}, {})", m, r);
    const double error = ErrorOfSquare(m, r, random);
    EXPECT_LT(error, 5e-7 * amplification) << fmt::format("F({}, {})", m, r);
    EXPECT_LT(error, 1e-5) << fmt::format("F({}, {})", m, r);
  }
}

}  // namespace
}  // namespace hone::schedule
