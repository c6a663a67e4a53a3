#include "tests/compiler/codegen/opencl/grid_pairs.h"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

#include "compiler/machine/machine.h"
#include "compiler/schedule/template.h"
#include "gtest/gtest.h"
#include "support/random.h"
#include "tests/compiler/codegen/opencl/same_results.h"
#include "tests/compiler/codegen/pair_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::codegen {
namespace {

constexpr char kGridTarget[] = "opencl -device=any -max-threads=256 -local=32768 -compute-units=4";
constexpr char kNumerics[] = " accumulate=float32 numerics=default";
constexpr int kConfigsOfPair = 4;  // of a workload

// What results may differ by, of the largest: sums come out in another order, and are rounded to
// the type of the results.
double PairTolerance(const loop::Nest& nest) {
  double tolerance = 1e-4;
  for (const loop::Buffer& buffer : nest.buffers) {
    if (buffer->role != loop::Role::kOutput) continue;
    if (buffer->dtype == DataType::kFloat16) tolerance = 0x1p-9;
    if (buffer->dtype == DataType::kBFloat16) tolerance = 0x1p-6;
  }
  return tolerance;
}

template <size_t count>
int64_t Any(const int64_t (&values)[count], Random& random) {
  return values[random.Below(count)];
}

// The kernel's last line, or an operator on its results.
std::string After(const std::string& kernel, Random& random) {
  if (random.Below(2) == 0) return kernel;
  return fmt::format("%0 = {}; {}(%0)", kernel, random.Below(2) == 0 ? "nn.relu" : "tanh");
}

std::string AnyProduct(Random& random) {
  const int64_t rows = Any({8, 14, 16, 32}, random);
  const int64_t columns = Any({8, 16, 28, 64}, random);
  const int64_t terms = Any({1, 4, 6, 16}, random);
  if (random.Below(2) == 0) {
    return fmt::format(
        "fn (p0: Tensor[({0}, {2}), float32], const p1: Tensor[({1}, {2}), "
        "float32]) {{ {3} }}",
        rows, columns, terms, After("nn.dense(p0, p1)", random));
  }
  return fmt::format(
      "fn (p0: Tensor[({4}, {0}, {2}), float32], p1: Tensor[({4}, {1}, {2}), "
      "float32]) {{ {3} }}",
      rows, columns, terms, After("nn.batch_matmul(p0, p1)", random), Any({1, 2, 3}, random));
}

std::string AnyConvolution(Random& random) {
  const int64_t kernel = Any({1, 3}, random);
  const int64_t dilation = kernel == 1 ? 1 : Any({1, 1, 2}, random);
  const int64_t padding = Any({0, 1}, random) * (kernel / 2) * dilation;
  const std::string convolution = fmt::format(
      "nn.conv2d(p0, p1, strides=[{0}, {0}], padding=[{1}, {1}, {1}, {1}], dilation=[{2}, {2}])",
      Any({1, 1, 2}, random), padding, dilation);
  const int64_t channels = Any({3, 4, 8}, random);
  return fmt::format(
      "fn (p0: Tensor[({0}, {1}, {2}, {2}), float32], const p1: Tensor[({3}, {1}, "
      "{4}, {4}), float32]) {{ {5} }}",
      Any({1, 2}, random), channels, Any({7, 8, 14, 16}, random), Any({8, 16}, random), kernel,
      After(convolution, random));
}

// Rows of few and of odd numbers of elements, of each type that kernels have.
std::string AnyRows(Random& random) {
  const int64_t rows = Any({1, 3, 4, 8, 32}, random);
  const int64_t columns = Any({8, 21, 49, 64, 197, 256, 1000}, random);
  constexpr std::string_view kFloats[] = {"float32", "float32", "float16", "bfloat16"};
  const std::string_view type = kFloats[random.Below(std::size(kFloats))];
  const std::string data = fmt::format("Tensor[({}, {}), {}]", rows, columns, type);
  const std::string across = fmt::format("Tensor[(2, {}, {}), {}]", columns, rows, type);
  const std::string weights = fmt::format("Tensor[({},), {}]", columns, type);
  switch (random.Below(8)) {
    case 0:
      return fmt::format("fn (p0: {}) {{ {} }}", data, After("nn.softmax(p0)", random));
    case 1:
      return fmt::format("fn (p0: {}) {{ nn.log_softmax(p0, axis=1) }}", across);
    case 2:
      return fmt::format(
          "fn (p0: {0}, p1: {0}, const p2: {1}, const p3: {1}) {{ %0 = add(p0, p1); "
          "nn.layer_norm(%0, p2, p3) }}",
          data, weights);
    case 3:
      return fmt::format(
          "fn (p0: {}) {{ {} }}", data,
          After(random.Below(2) == 0 ? "mean(p0, axis=[1])" : "max(p0, axis=[1])", random));
    case 4:
      return fmt::format("fn (p0: {}) {{ sum(p0, axis=[1], keepdims=true) }}", across);
    case 5:
      return fmt::format("fn (p0: Tensor[({}, {}), {}]) {{ sum(p0, axis=[1]) }}", rows, columns,
                         random.Below(2) == 0 ? "int32" : "int64");
    case 6:
      return fmt::format("fn (p0: {}) {{ argmax(p0, axis=1) }}", data);
    default:
      return fmt::format(
          "fn (p0: Tensor[(1, {0}), float32], const p1: Tensor[({1}, {0}), float32]) {{ {2} }}",
          columns, 4 * rows, After("nn.dense(p0, p1)", random));
  }
}

// Changes of layout, alone and with another operand.
std::string AnyTranspose(Random& random) {
  constexpr std::string_view kTypes[] = {"float32", "float16", "int32", "int8"};
  const std::string_view type = kTypes[random.Below(std::size(kTypes))];
  const int64_t rows = Any({8, 14, 33, 64}, random), columns = Any({9, 16, 40, 64}, random);
  if (random.Below(2) == 0) {
    return fmt::format(
        "fn (p0: Tensor[({0}, {1}), {2}], p1: Tensor[({1}, {0}), {2}]) {{ %0 = transpose(p0); "
        "add(%0, p1) }}",
        rows, columns, type);
  }
  return fmt::format("fn (p0: Tensor[(2, {}, 3, {}), {}]) {{ transpose(p0, axes=[0, {}]) }}", rows,
                     columns, type, random.Below(2) == 0 ? "2, 3, 1" : "3, 1, 2");
}

// Products with the reductions of a softmax between them, as attention has them.
std::string AnyAttention(Random& random) {
  return fmt::format(
      "fn (p0: Tensor[(2, {0}, {2}), float32], p1: Tensor[(2, {1}, {2}), float32], p2: Tensor[(2, "
      "{2}, {1}), float32]) {{ %0 = nn.batch_matmul(p0, p1); %1 = nn.softmax(%0); "
      "nn.batch_matmul(%1, p2) }}",
      Any({4, 14, 32}, random), Any({32, 64, 100, 128}, random), Any({8, 16}, random));
}

std::string AnyKernel(Random& random) {
  switch (random.Below(6)) {
    case 3:
      return AnyAttention(random);
    case 0:
      return AnyProduct(random);
    case 1:
      return AnyConvolution(random);
    case 2:
      return AnyTranspose(random);
    default:
      return AnyRows(random);
  }
}

}  // namespace

void CheckGridPairs(int pairs, uint64_t seed) {
  Random random(seed);
  const Target target = *Target::Parse(kGridTarget);
  int checked = 0, with_blocks = 0;
  while (checked < pairs) {
    const std::string kernel = AnyKernel(random);
    SCOPED_TRACE(kernel);
    const auto under_test = TaskUnderTest::Of(kernel + kNumerics, "native");
    ASSERT_TRUE(under_test.ok()) << under_test.status();
    const ops::KernelDefinition& def = (*under_test)->def();
    const auto machine = machine::Machine::For(target);
    const auto signatures = schedule::TemplateFor(def, machine).Signatures(def, machine);
    const schedule::Task task{&def, signatures.at(0), target};
    for (int i = 0; i < kConfigsOfPair && checked < pairs; ++i, ++checked) {
      const schedule::Config config =
          i == 0 ? schedule::DefaultOfTask(task) : schedule::SpaceOfTask(task).Sample(random);
      SCOPED_TRACE(config.ToText());
      const auto nest = schedule::NestOfConfig(task, config);
      ASSERT_TRUE(nest.ok()) << nest.status();
      ExpectOpenClSameAsInterpreter(*nest, PairTolerance(*nest));
      if (testing::Test::HasFailure()) return;
      if (config.Has("threads_rows")) ++with_blocks;
    }
  }
  EXPECT_GE(with_blocks, pairs / 4);
}

}  // namespace hone::codegen
