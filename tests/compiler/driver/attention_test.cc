// Attention as one kernel computes what it does as three.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ir/parser.h"
#include "support/random.h"
#include "tests/compiler/driver/compiled.h"

namespace hone::driver {
namespace {

using frontend::TensorData;

TensorData Draw(Random& random, std::vector<int64_t> shape, bool mask) {
  TensorData tensor{DataType::kFloat32, std::move(shape), ""};
  int64_t count = 1;
  for (const int64_t extent : tensor.shape) count *= extent;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    const double drawn = random.Uniform();
    value = mask ? (drawn < 0.3 ? -1e9F : 0.0F) : static_cast<float>(4 * drawn - 2);
  }
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return tensor;
}

struct Sizes {
  int64_t batch, heads, rows, keys, depth;
};

// With `all`, the scores are a result too: then they are computed apart.
std::string Model(const Sizes& n, bool all) {
  return fmt::format(
      "def @main(%q: Tensor[({5}, {2}, {4}), float32], %k: Tensor[({5}, {4}, {3}), float32], %v: "
      "Tensor[({5}, {3}, {4}), float32], %m: Tensor[({0}, 1, 1, {3}), float32]) {{\n"
      "%0 = nn.batch_matmul(%q, transpose(%k, axes=[0, 2, 1]));\n"
      "%1 = multiply(reshape(%0, newshape=[{0}, {1}, {2}, {3}]), 0.3f32);\n"
      "%2 = nn.softmax(add(%1, %m), axis=-1);\n"
      "%3 = nn.batch_matmul(reshape(%2, newshape=[{5}, {2}, {3}]), transpose(%v, axes=[0, 2, "
      "1]));\n{6} }}",
      n.batch, n.heads, n.rows, n.keys, n.depth, n.batch * n.heads, all ? "(%3, %0)" : "%3");
}

TEST(AttentionKernel, ComputesWhatThreeKernelsDo) {
  Random random(7);
  CompileOptions options;
  options.target = HostTarget();
  for (const Sizes& n : {Sizes{1, 2, 40, 64, 32}, Sizes{2, 3, 33, 65, 17}, Sizes{3, 1, 1, 7, 5}}) {
    const int64_t stacks = n.batch * n.heads;
    const std::vector<TensorData> inputs = {Draw(random, {stacks, n.rows, n.depth}, false),
                                            Draw(random, {stacks, n.depth, n.keys}, false),
                                            Draw(random, {stacks, n.keys, n.depth}, false),
                                            Draw(random, {n.batch, 1, 1, n.keys}, true)};
    std::vector<TensorData> results;
    size_t kernels[2];
    for (const bool all : {false, true}) {
      const auto module = ir::ParseModule(Model(n, all));
      ASSERT_TRUE(module.ok()) << module.status();
      auto compiled = Compiled::Make(*module, options);
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      kernels[all] = compiled->report().kernels.size();
      const auto outputs = compiled->Run(inputs, 1);
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      results.push_back((*outputs)[0]);
    }
    EXPECT_EQ(kernels[0], 1u);
    EXPECT_GE(kernels[1], 3u);
    EXPECT_EQ(FirstDifference(results[0], results[1], 1e-4, 1e-5), "");
  }
}

}  // namespace
}  // namespace hone::driver
