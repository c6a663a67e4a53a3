// Subnormal numbers in a compiled model: zero by default, exact where its numerics are strict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "compiler/ir/parser.h"
#include "compiler/passes/numerics.h"
#include "tests/compiler/driver/compiled.h"

namespace hone::driver {
namespace {

constexpr int kCount = 1 << 16;  // enough for several threads to have a part
constexpr float kInfinity = std::numeric_limits<float>::infinity();

frontend::TensorData Filled(float value) {
  const std::vector<float> values(kCount, value);
  frontend::TensorData tensor{.dtype = DataType::kFloat32, .shape = {kCount}, .bytes = {}};
  tensor.bytes.resize(kCount * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

std::vector<float> Products(const std::string& numerics, int threads, float a, float b) {
  auto module = ir::ParseModule(
      "def @main(%a: Tensor[(65536), float32], %b: Tensor[(65536), float32]) { "
      "multiply(%a, %b) }");
  EXPECT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  CpuTarget target = HostTarget();
  target.threads = threads;
  options.target = target;
  auto compiled = Compiled::Make(passes::WithNumerics(*module, numerics), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  const auto outputs = compiled->Run({Filled(a), Filled(b)}, threads);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<float> result(kCount);
  std::memcpy(result.data(), outputs->at(0).bytes.data(), result.size() * sizeof(float));
  return result;
}

TEST(SubnormalsTest, AreZeroUnlessNumericsAreStrict) {
  const auto subnormal = static_cast<float>(1e-30 * 1e-10);
  for (const int threads : {1, 2}) {
    EXPECT_THAT(Products("default", threads, 1e-30f, 1e-10f), testing::Each(0.0f));
    EXPECT_THAT(Products("fast", threads, 1e-30f, 1e-10f), testing::Each(0.0f));
    EXPECT_THAT(Products("strict", threads, 1e-30f, 1e-10f), testing::Each(subnormal));
  }
}

TEST(SubnormalsTest, InfinitiesAndNaNsAreWhatTheyAre) {
  EXPECT_THAT(Products("default", 1, kInfinity, -2), testing::Each(-kInfinity));
  EXPECT_THAT(Products("default", 1, kInfinity, 0), testing::Each(testing::IsNan()));
}

}  // namespace
}  // namespace hone::driver
