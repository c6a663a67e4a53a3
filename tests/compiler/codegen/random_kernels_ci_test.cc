// Random shapes of kernels that are not convolutions, each with random configs of its template:
// what is compiled equals the interpreter.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compiler/ops/lower.h"
#include "compiler/schedule/template.h"
#include "support/random.h"
#include "tests/compiler/codegen/harness.h"

namespace hone::codegen {
namespace {

const char* const kTargets[] = {"native",
                                "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2",
                                "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1",
                                "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=2"};

// Degenerate ones, primes, and one to either side of a vector.
int64_t Extent(Random& random) {
  static constexpr int64_t kExtents[] = {1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 37, 64};
  return kExtents[random.Below(std::size(kExtents))];
}

std::string Floats(const std::vector<int64_t>& shape) {
  return fmt::format("Tensor[({},), float32]", fmt::join(shape, ", "));
}

void CheckConfigs(const std::string& text, const char* target_text, Random& random, int configs,
                  int* checked) {
  SCOPED_TRACE(text + " " + target_text);
  const auto def = ops::LowerWorkload(text + " accumulate=float32 numerics=default");
  ASSERT_TRUE(def.ok()) << def.status().ToString();
  const schedule::Template& chosen = schedule::TemplateFor(*def);
  schedule::Task task;
  task.def = &*def;
  task.target = TestTarget(target_text);
  const std::vector<ir::LayoutSignature> signatures = chosen.Signatures(*def, task.target);
  for (int i = 0; i < configs; ++i) {
    task.signature = signatures[random.Below(signatures.size())];
    const schedule::Config config =
        i == 0 ? chosen.Default(task) : chosen.MakeSpace(task).Sample(random);
    SCOPED_TRACE(config.ToText() + " " + task.signature.ToString());
    const auto nest = chosen.Schedule(task, config);
    ++*checked;
    ASSERT_TRUE(nest.ok()) << nest.status().ToString();
    ExpectSameAsInterpreter(*nest, 1e-4, target_text);
    if (testing::Test::HasFailure()) return;
  }
}

void CheckRandom(uint64_t seed, int kernels, const std::function<std::string(Random&)>& make) {
  Random random(seed);
  int checked = 0;
  for (int i = 0; i < kernels; ++i) {
    const std::string text = make(random);
    CheckConfigs(text, kTargets[random.Below(std::size(kTargets))], random, 3, &checked);
    if (testing::Test::HasFailure()) return;
  }
  fmt::print("checked {} configs\n", checked);
}

TEST(RandomKernels, Transposes) {
  CheckRandom(1, 60, [](Random& random) {
    const std::vector<int64_t> shape = {1 + static_cast<int64_t>(random.Below(3)), Extent(random),
                                        Extent(random)};
    const char* const orders[] = {"0, 2, 1", "1, 0, 2", "2, 0, 1", "2, 1, 0", "1, 2, 0"};
    const std::string type = random.Below(4) == 0
                                 ? fmt::format("Tensor[({},), int32]", fmt::join(shape, ", "))
                                 : Floats(shape);
    return fmt::format("fn (p0: {}) {{ %0 = transpose(p0, axes=[{}]); add(%0, %0) }}", type,
                       orders[random.Below(std::size(orders))]);
  });
}

TEST(RandomKernels, CopiesBetweenLayouts) {
  CheckRandom(2, 60, [](Random& random) {
    const int64_t block = 4 << random.Below(3);
    const std::string blocked = fmt::format("NCHW{}c", block);
    const bool back = random.Below(2) == 0;
    const std::string type = Floats({1 + static_cast<int64_t>(random.Below(2)), Extent(random),
                                     Extent(random) / 2 + 1, Extent(random)});
    return fmt::format(
        "fn (p0: {}) {{ layout_transform(p0, dst_layout=\"{}\", src_layout=\"{}\") }}", type,
        back ? "NCHW" : blocked, back ? blocked : "NCHW");
  });
}

// Plain, and with the transposes, slices and reshapes that models have before them.
TEST(RandomKernels, ProductsOfStacks) {
  CheckRandom(3, 80, [](Random& random) {
    const int64_t b = 1 + static_cast<int64_t>(random.Below(3));
    const int64_t m = Extent(random), n = Extent(random), k = Extent(random);
    const bool one = random.Below(4) == 0;
    const std::string constant = random.Below(4) == 0 ? "const " : "";
    const std::string tail = random.Below(2) == 0 ? "multiply(%9, 0.5f32)" : "nn.relu(%9)";
    switch (random.Below(4)) {
      case 0:
        return fmt::format("fn (p0: {}, {}p1: {}) {{ %9 = nn.batch_matmul(p0, p1); {} }}",
                           Floats({b, m, k}), constant, Floats({one ? 1 : b, n, k}), tail);
      case 1:
        return fmt::format(
            "fn (p0: {}, {}p1: {}) {{ %0 = transpose(p1, axes=[0, 2, 1]); %9 = "
            "nn.batch_matmul(p0, %0); {} }}",
            Floats({b, m, k}), constant, Floats({one ? 1 : b, k, n}), tail);
      case 2:
        return fmt::format(
            "fn (p0: {}, p1: {}) {{ %0 = transpose(p1, axes=[0, 2, 1]); %1 = transpose(p0, "
            "axes=[0, 2, 1]); %9 = nn.batch_matmul(%1, %0); {} }}",
            Floats({one ? 1 : b, k, m}), Floats({b, k, n}), tail);
      default: {  // heads of attention: both operands are parts of one matrix
        const std::string part =
            "%{0} = strided_slice(p0, axes=[1], begin=[{1}], end=[{2}]); %{0}1 = reshape(%{0}, "
            "newshape=[{3}, {4}, {5}]); %{0}2 = transpose(%{0}1, axes=[{6}]); ";
        const int64_t width = b * k;
        return "fn (p0: " + Floats({m, 2 * width}) + ") { " +
               fmt::format(fmt::runtime(part), 3, 0, width, m, b, k, "1, 0, 2") +
               fmt::format(fmt::runtime(part), 4, width, 2 * width, m, b, k, "1, 0, 2") +
               "%9 = nn.batch_matmul(%32, %42); " + tail + " }";
      }
    }
  });
}

TEST(RandomKernels, ReductionsOfRows) {
  CheckRandom(4, 100, [](Random& random) {
    const int64_t a = 1 + static_cast<int64_t>(random.Below(3));
    const int64_t b = Extent(random);
    const int64_t c = random.Below(3) == 0 ? 100 + 7 * Extent(random) : Extent(random);
    const char* const reductions[] = {"sum", "mean", "max", "min", "prod"};
    switch (random.Below(5)) {
      case 0:
        return fmt::format("fn (p0: {}) {{ nn.softmax(p0, axis=-1) }}", Floats({a, b, c}));
      case 1:
        return fmt::format(
            "fn (p0: {}, p1: {}) {{ %0 = multiply(p0, 0.5f32); %1 = add(%0, p1); "
            "nn.log_softmax(%1, axis=-1) }}",
            Floats({b, c}), Floats({1, c}));
      case 2:
        return fmt::format(
            "fn (p0: {}, const p1: {}, const p2: {}) {{ nn.layer_norm(p0, p1, p2, axis=[{}]) }}",
            Floats({a, b, c}), Floats({c}), Floats({c}), 2);
      case 3:
        return fmt::format("fn (p0: {}) {{ nn.layer_norm(p0, axis=[1, 2]) }}", Floats({a, b, c}));
      default:
        return fmt::format("fn (p0: {}) {{ %0 = nn.relu(p0); {}(%0, axis={}, keepdims={}) }}",
                           Floats({a, b, c}), reductions[random.Below(std::size(reductions))],
                           random.Below(2) == 0 ? "[2]" : "[1, 2]",
                           random.Below(2) == 0 ? "true" : "false");
    }
  });
}

TEST(RandomKernels, ProductsWithSparseMatrices) {
  CheckRandom(5, 40, [](Random& random) {
    const int64_t nonzeros = 3 * Extent(random), rows = Extent(random);
    const std::string constant = random.Below(2) == 0 ? "const " : "";
    return fmt::format(
        "fn ({0}p0: {1}, {0}p1: Tensor[({2},), int32], {0}p2: Tensor[({3},), int32], p3: {4}) {{ "
        "%0 = nn.sparse_dense(p0, p1, p2, p3); nn.relu(%0) }}",
        constant, Floats({nonzeros}), nonzeros, rows + 1, Floats({Extent(random), Extent(random)}));
  });
}

TEST(RandomKernels, ProductsWithMatrices) {
  CheckRandom(6, 60, [](Random& random) {
    const int64_t m = Extent(random), n = Extent(random), k = Extent(random);
    const char* const constant = random.Below(3) == 0 ? "" : "const ";
    return fmt::format(
        "fn (p0: {}, {}p1: {}, const p2: {}) {{ %0 = nn.dense(p0, p1); %1 = add(%0, "
        "p2); {}(%1) }}",
        Floats({m, k}), constant, Floats({n, k}), Floats({n}),
        random.Below(2) == 0 ? "erf" : "nn.relu");
  });
}

}  // namespace
}  // namespace hone::codegen
