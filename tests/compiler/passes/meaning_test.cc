// Passes keep the meaning of graphs: the interpreter gives the same before and after each.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compiler/ir/printer.h"
#include "compiler/passes/evaluator.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/rewriting.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

// The outputs of main, one after the other.
std::vector<float> Interpret(const ir::Module& module, const std::vector<Expr>& inputs) {
  std::vector<float> all;
  for (const Expr& output : InterpretMain(module, inputs)) {
    const auto* values = reinterpret_cast<const float*>(output->data.bytes());
    all.insert(all.end(), values, values + output->type->tensor.ElementCount());
  }
  return all;
}

void ExpectClose(const std::vector<float>& a, const std::vector<float>& b,
                 const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  float scale = 1;
  for (float value : a) scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4 * scale) << what << " " << i;
}

TEST(Meaning, EveryPassKeepsWhatRandomNetsCompute) {
  PassContext context = TestContext();
  context.evaluator = DefaultEvaluator();
  for (uint64_t seed = 0; seed < 25; ++seed) {
    Random random(seed);
    const ir::Module model = RandomNet(random, 2 + static_cast<int>(seed % 7));
    const std::vector<Expr> inputs{RandomConstant(random, {1, 16, 8, 8})};
    std::vector<float> expected;
    PipelineOptions options;
    options.on_pass = [&](const std::string& pass, const ir::Module& module, int64_t) {
      const std::vector<float> values = Interpret(module, inputs);
      if (pass == "import") expected = values;
      ExpectClose(expected, values, pass + " seed " + std::to_string(seed));
    };
    ASSERT_TRUE(RunPipeline(model, context, options).ok());
  }
}

TEST(Meaning, ResidualNetsComputeTheSameAsKernels) {
  PassContext context = TestContext();
  context.evaluator = DefaultEvaluator();
  Random random(5);
  const ir::Module model = ResidualNet(random, 2, 4, 16);
  const std::vector<Expr> inputs{RandomConstant(random, {1, 3, 16, 16})};
  const auto imported = RunPipeline(model, context, {.after = "import", .on_pass = nullptr});
  const auto kernels = RunPipeline(model, context);
  ASSERT_TRUE(imported.ok() && kernels.ok()) << kernels.status();
  ExpectClose(Interpret(*imported, inputs), Interpret(*kernels, inputs), "kernels");
}

// A float32 constant with `nonzeros` elements, at most, that are not 0.
Expr SparseConstant(Random& random, const std::vector<int64_t>& shape, int nonzeros) {
  std::vector<float> values(static_cast<size_t>(shape[0] * shape[1]), 0);
  for (int i = 0; i < nonzeros; ++i) {
    values[random.Below(values.size())] = static_cast<float>(random.Uniform() - 0.5);
  }
  return ir::ConstantFromBytes({shape, DataType::kFloat32}, values.data());
}

TEST(Meaning, SparseMatricesOnEitherSideComputeWhatDenseOnesDo) {
  PassContext context = TestContext();
  context.evaluator = DefaultEvaluator();
  int sparse = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const auto extent = [&] { return 1 + static_cast<int64_t>(random.Below(70)); };
    const int64_t rows = extent();
    const int64_t columns = extent();
    const int64_t others = extent();
    const Expr x = ir::TensorVar("x", {others, columns}, DataType::kFloat32);
    const Expr matrix =
        SparseConstant(random, {rows, columns}, static_cast<int>(random.Below(200)));
    const bool left = seed % 2 == 0;
    const Expr product = ir::Call("nn.dense", {left ? matrix : x, left ? x : matrix});
    const ir::Module model{{{"main", ir::Function({x}, ir::Call("nn.relu", {product}))}}};
    const std::vector<Expr> inputs{RandomConstant(random, {others, columns})};
    std::vector<float> expected;
    PipelineOptions options;
    options.on_pass = [&](const std::string& pass, const ir::Module& module, int64_t) {
      const std::vector<float> values = Interpret(module, inputs);
      if (pass == "import") expected = values;
      ExpectClose(expected, values, pass + " seed " + std::to_string(seed));
      const bool found = ir::ToText(module).find("nn.sparse_dense") != std::string::npos;
      if (pass == "SparsifyConstants" && found) ++sparse;
    };
    ASSERT_TRUE(RunPipeline(model, context, options).ok());
  }
  EXPECT_GT(sparse, 8);
  EXPECT_LT(sparse, 32);
}

TEST(Meaning, ScalesThatBroadcastAChannelStayWhereTheyAre) {
  Random random(1);
  const Expr x = ir::TensorVar("x", {1, 2, 3, 3}, DataType::kFloat32);
  const Expr conv = ir::Call("nn.conv2d", {x, RandomConstant(random, {1, 2, 1, 1})});
  const Expr sum = ir::Call("add", {conv, RandomConstant(random, {4, 1, 1})});
  const Expr scaled = ir::Call("multiply", {sum, RandomConstant(random, {4, 1, 1})});
  const ir::Module model{{{"main", ir::Function({x}, scaled)}}};
  PassContext context = TestContext();
  context.evaluator = DefaultEvaluator();
  const std::vector<Expr> inputs{RandomConstant(random, {1, 2, 3, 3})};
  const auto imported = RunPipeline(model, context, {.after = "import", .on_pass = nullptr});
  const auto kernels = RunPipeline(model, context);
  ASSERT_TRUE(imported.ok() && kernels.ok()) << kernels.status();
  ExpectClose(Interpret(*imported, inputs), Interpret(*kernels, inputs), "kernels");
}

TEST(Evaluator, FoldsTuplesViewsAndIntegers) {
  const ir::Module module = Typed(R"(
def @main() {
  %0 = (meta[Constant][0], meta[Constant][0]);
  %1 = concatenate(%0, axis=0);
  %2 = reshape(%1, newshape=[2, 2]);
  add(%2, 1i64)
}
meta[Constant][0] = Tensor[(2), int64] "AQAAAAAAAAACAAAAAAAAAA==";)");
  PassContext context;
  context.evaluator = DefaultEvaluator();
  const auto folded = RunPipeline(module, context, {.after = "FoldConstant", .on_pass = nullptr});
  ASSERT_TRUE(folded.ok()) << folded.status();
  const Expr& body = ir::Body(*folded->functions.at("main"));
  ASSERT_EQ(body->kind, ExprKind::kConstant) << ir::ToText(*folded);
  int64_t values[4];
  std::memcpy(values, body->data.bytes(), sizeof(values));
  EXPECT_EQ(std::vector<int64_t>(values, values + 4), (std::vector<int64_t>{2, 3, 2, 3}));
}

}  // namespace
}  // namespace hone::passes
