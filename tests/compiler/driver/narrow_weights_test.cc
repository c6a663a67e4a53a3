// Products of weights that stay bytes or halves of them, compiled, against float64.
#include "compiler/passes/narrow_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/ir/cpu_target.h"
#include "support/random.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/small_zoo.h"

namespace hone::driver {
namespace {

using frontend::TensorData;
using ir::Expr;

struct ScaledProduct {
  int64_t rows, units, terms;
  int64_t block;  // terms with one scale
  int64_t low, high;
};

struct Weights {
  std::vector<int8_t> integers;
  std::vector<float> scales;  // of each unit's blocks
};

Weights Drawn(const ScaledProduct& p, Random& random) {
  Weights weights;
  for (int64_t i = 0; i < p.units * p.terms; ++i) {
    const auto above = static_cast<int64_t>(random.Below(p.high - p.low + 1));
    weights.integers.push_back(static_cast<int8_t>(p.low + above));
  }
  for (int64_t i = 0; i < p.units * p.terms / p.block; ++i) {
    weights.scales.push_back(static_cast<float>(1 + random.Below(1000)) * 1e-4F);
  }
  return weights;
}

// relu(x * (integers * scales)^T + 0.25).
ir::Module ModelOf(const ScaledProduct& p, const Weights& weights) {
  const int64_t blocks = p.terms / p.block;
  const Expr x = ir::TensorVar("x", {p.rows, p.terms}, DataType::kFloat32);
  const Expr integers =
      ir::ConstantFromBytes({{p.units, blocks, p.block}, DataType::kInt8}, weights.integers.data());
  const Expr scales =
      ir::ConstantFromBytes({{p.units, blocks, 1}, DataType::kFloat32}, weights.scales.data());
  const Expr real = ir::Call("cast", {integers}, {{"dtype", DataType::kFloat32}});
  const Expr matrix = ir::Call("reshape", {ir::Call("multiply", {real, scales})},
                               {{"newshape", std::vector<int64_t>{p.units, p.terms}}});
  const float quarter = 0.25F;
  const Expr bias = ir::ConstantFromBytes({{}, DataType::kFloat32}, &quarter);
  const Expr sum = ir::Call("add", {ir::Call("nn.dense", {x, matrix}), bias});
  ir::Module module;
  module.functions["main"] = ir::Function({x}, ir::Call("nn.relu", {sum}));
  return module;
}

std::vector<float> FloatsOf(const TensorData& tensor) {
  std::vector<float> floats(tensor.bytes.size() / sizeof(float));
  std::memcpy(floats.data(), tensor.bytes.data(), tensor.bytes.size());
  return floats;
}

// The right result, and the sum of its terms' magnitudes.
std::pair<double, double> Expected(const ScaledProduct& p, const Weights& weights,
                                   const std::vector<float>& x, int64_t row, int64_t unit) {
  double sum = 0.25, magnitude = 0.25;
  for (int64_t k = 0; k < p.terms; ++k) {
    const double term = static_cast<double>(x[row * p.terms + k]) *
                        weights.integers[unit * p.terms + k] *
                        weights.scales[(unit * p.terms + k) / p.block];
    sum += term;
    magnitude += std::abs(term);
  }
  return {std::max(sum, 0.0), magnitude};
}

void Check(const ScaledProduct& p, const CpuTarget& target, uint64_t seed) {
  Random random(seed);
  const Weights weights = Drawn(p, random);
  const ir::Module model = ModelOf(p, weights);
  std::vector<TensorData> inputs = frontend::InputsOf(model);
  if (seed % 2 == 0) {  // none below zero, as behind a relu: sums are as large as can be
    std::vector<float> x = FloatsOf(inputs[0]);
    for (float& value : x) value = std::abs(value);
    std::memcpy(inputs[0].bytes.data(), x.data(), inputs[0].bytes.size());
  }
  auto compiled = Compiled::Make(model, {.target = target, .require_tuned = false});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  ASSERT_EQ(compiled->report().kernels.size(), 1U);
  // Few units are no digits; of several rows small weights are no narrow floats.
  const bool digits = passes::MultipliesMixedBytes(target) && p.units >= 128;
  if (digits || (p.rows == 1 && passes::WaitsForWeights(1, machine::Machine::For(target)))) {
    const std::string& workload = compiled->report().kernels[0].workload;
    EXPECT_NE(workload.find("nn.scaled_dense"), std::string::npos) << workload;
  }
  const auto outputs = compiled->Run(inputs, 2);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const std::vector<float> x = FloatsOf(inputs[0]), y = FloatsOf((*outputs)[0]);
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t unit = 0; unit < p.units; ++unit) {
      const auto [expected, magnitude] = Expected(p, weights, x, row, unit);
      ASSERT_NEAR(y[row * p.units + unit], expected, 2e-6 * magnitude)
          << row << " " << unit << " of " << p.rows << " x " << p.units << " x " << p.terms;
    }
  }
}

// Units that fill no vectors, blocks of no power of two, one block for all; 8 and 4 bits, with
// zero points and without.
constexpr ScaledProduct kProducts[] = {
    {1, 160, 192, 192, -127, 127}, {1, 1000, 96, 32, -8, 7},    {3, 129, 240, 48, -100, 30},
    {4, 257, 256, 128, 0, 15},     {1, 64, 1024, 1024, -8, 7},  {2, 515, 160, 16, -128, 127},
    {1, 200, 1001, 1001, 0, 127},  {1, 130, 4096, 4096, 0, 15},
};

TEST(NarrowWeights, GiveWhatFloatsGive) {
  uint64_t seed = 1;
  for (const ScaledProduct& product : kProducts) {
    for (int data = 0; data < 2; ++data) Check(product, HostTarget(), seed++);
  }
  Check({20, 300, 512, 64, -128, 127}, HostTarget(), seed++);
}

// What is not finite makes its row so; a row of zeros is one of the bias.
TEST(NarrowWeights, LetInfinitiesAndNaNsThrough) {
  const ScaledProduct p = {4, 200, 256, 64, -127, 127};
  Random random(9);
  const ir::Module model = ModelOf(p, Drawn(p, random));
  auto compiled = Compiled::Make(model, {.target = HostTarget(), .require_tuned = false});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  std::vector<TensorData> inputs = frontend::InputsOf(model);
  std::vector<float> x = FloatsOf(inputs[0]);
  x[10] = std::numeric_limits<float>::infinity();
  x[p.terms + 20] = std::numeric_limits<float>::quiet_NaN();
  std::fill_n(x.begin() + 2 * p.terms, p.terms, 0.0F);
  std::fill_n(x.begin() + 3 * p.terms, p.terms, 1e-30F);
  std::memcpy(inputs[0].bytes.data(), x.data(), inputs[0].bytes.size());
  const auto outputs = compiled->Run(inputs, 1);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const std::vector<float> y = FloatsOf((*outputs)[0]);
  for (int64_t unit = 0; unit < p.units; ++unit) {
    EXPECT_FALSE(std::isfinite(y[p.units + unit])) << unit;
    EXPECT_EQ(y[2 * p.units + unit], 0.25F) << unit;
    EXPECT_EQ(y[3 * p.units + unit], 0.25F) << unit;
  }
  const auto finite = std::count_if(y.begin(), y.begin() + p.units,
                                    [](float v) { return std::isfinite(v) && v != 0; });
  EXPECT_EQ(finite, 0);  // relu makes zero of minus infinity
}

// The target is this machine without the dot products of bytes that it may have.
TEST(NarrowWeights, GiveWhatFloatsGiveAsFloats) {
  CpuTarget target = HostTarget();
  std::erase_if(target.features, [](const std::string& f) {
    return f.find("vnni") != f.npos || f.find("i8mm") != f.npos;
  });
  uint64_t seed = 1;
  for (const ScaledProduct& product : kProducts) {
    for (int data = 0; data < 2; ++data) Check(product, target, seed++);
  }
}

}  // namespace
}  // namespace hone::driver
