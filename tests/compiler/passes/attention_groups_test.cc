// Which graphs FuseOps makes one kernel of attention, and that they keep their meaning.
#include "compiler/passes/attention_groups.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/printer.h"
#include "compiler/passes/evaluator.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/rewriting.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

using ir::Expr;

PassContext Evaluating() {
  PassContext context = TestContext();
  context.evaluator = DefaultEvaluator();
  return context;
}

ir::Module Fused(const std::string& text) {
  const auto fused = RunPipeline(Typed(text), Evaluating(), {.after = "FuseOps", .on_pass = {}});
  EXPECT_TRUE(fused.ok()) << fused.status();
  return *fused;
}

// Products of stacks in the kernel that has most of them.
int MostProducts(const ir::Module& module) {
  int most = 0;
  for (const Expr& call : ir::PostOrderOutside(ir::Body(*module.functions.at("main")))) {
    if (!call->callee) continue;
    int products = 0;
    for (const Expr& node : ir::PostOrder(ir::Body(*call->callee))) {
      products += ir::IsCall(node, "nn.batch_matmul") ? 1 : 0;
    }
    most = std::max(most, products);
  }
  return most;
}

constexpr char kParams[] =
    "def @main(%q: Tensor[(6, 5, 4), float32], %k: Tensor[(6, 7, 4), float32], %v: Tensor[(6, 3, "
    "7), float32], %m: Tensor[(2, 1, 1, 7), float32], %f: Tensor[(1), float32]) {\n"
    "%0 = nn.batch_matmul(%q, %k);\n";

// By batch and head, scaled and masked on either side.
constexpr char kMasked[] = R"(
%1 = reshape(%0, newshape=[2, 3, 5, 7]);
%2 = divide(%1, 2f32);
%3 = add(%m, %2);
%4 = nn.softmax(%3, axis=-1);
%5 = reshape(%4, newshape=[6, 5, 7]);
nn.relu(nn.batch_matmul(%5, %v)) })";

TEST(Attention, IsOneKernel) {
  const char* const bodies[] = {
      "nn.batch_matmul(nn.softmax(%0), %v) }", "nn.batch_matmul(nn.softmax(%0, axis=2), %v) }",
      "%1 = add(multiply(%0, 0.5f32), %f); nn.batch_matmul(nn.softmax(%1), %v) }",
      // A mask that is computed in the kernel, as exporters of BERT do.
      "%1 = reshape(%0, newshape=[2, 3, 5, 7]); %2 = multiply(subtract(1f32, %m), -10000f32); "
      "%3 = nn.softmax(add(%1, %2)); nn.batch_matmul(reshape(%3, newshape=[6, 5, 7]), %v) }"};
  for (const char* body : bodies) {
    EXPECT_EQ(MostProducts(Fused(std::string(kParams) + body)), 2) << body;
  }
  EXPECT_EQ(MostProducts(Fused(std::string(kParams) + kMasked)), 2);
}

// A kernel of three sums would leave two of them to single threads.
TEST(Attention, StaysApartOnAGrid) {
  PassContext context = Evaluating();
  context.target = Target::Parse("cuda -arch=sm_80 -multiprocessors=8").value();
  const auto fused = RunPipeline(Typed(std::string(kParams) + kMasked), context,
                                 {.after = "FuseOps", .on_pass = {}});
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(MostProducts(*fused), 1);
}

TEST(Attention, IsNotWhatOnlyLooksLikeIt) {
  const char* const bodies[] = {
      // Scores or weights used twice.
      "%1 = nn.batch_matmul(nn.softmax(%0), %v); (%1, %0) }",
      "%1 = nn.softmax(%0); (nn.batch_matmul(%1, %v), nn.relu(%1)) }",
      "%1 = add(%0, exp(%0)); nn.batch_matmul(nn.softmax(%1), %v) }",
      // Another axis; other rows; weights changed in between.
      "%1 = nn.softmax(%0, axis=1); nn.batch_matmul(%1, %v) }",
      "%1 = nn.softmax(reshape(%0, newshape=[6, 35])); nn.batch_matmul(reshape(%1, newshape=[6, "
      "5, 7]), %v) }",
      "%1 = transpose(%0, axes=[0, 2, 1]); %2 = nn.softmax(transpose(%1, axes=[0, 2, 1])); "
      "nn.batch_matmul(nn.relu(%2), %v) }",
      "%1 = nn.softmax(%0); nn.batch_matmul(multiply(%1, %f), %v) }",
      // The weights are the right operand.
      "%1 = nn.softmax(%0); nn.batch_matmul(%1, %1) }",
      "%1 = nn.log_softmax(%0); nn.batch_matmul(%1, %v) }",
      // What no template takes: results of another type.
      "%1 = nn.softmax(%0); cast(nn.batch_matmul(%1, %v), dtype=\"float16\") }"};
  for (const char* body : bodies) {
    EXPECT_EQ(MostProducts(Fused(std::string(kParams) + body)), 1) << body;
  }
}

// A pool keeps elements too, but templates pack no windows.
TEST(Attention, LeavesWindowsOverValuesOut) {
  const ir::Module fused = Fused(
      "def @main(%q: Tensor[(6, 5, 4), float32], %k: Tensor[(6, 7, 4), float32], %v: Tensor[(6, 3, "
      "9), float32]) {\n%0 = nn.softmax(nn.batch_matmul(%q, %k));\n"
      "nn.batch_matmul(%0, nn.max_pool1d(%v, pool_size=[3], strides=[1])) }");
  EXPECT_EQ(MostProducts(fused), 2);
  for (const Expr& call : ir::PostOrderOutside(ir::Body(*fused.functions.at("main")))) {
    if (!call->callee) continue;
    const std::vector<Expr> nodes = ir::PostOrder(ir::Body(*call->callee));
    const auto count = [&](const char* op) {
      return std::count_if(nodes.begin(), nodes.end(),
                           [&](const Expr& node) { return ir::IsCall(node, op); });
    };
    EXPECT_TRUE(count("nn.max_pool1d") == 0 || count("nn.batch_matmul") == 0);
  }
}

// Biases of keys and values are added as they are packed; others' values stay where they are.
TEST(Attention, TakesWhatMakesKeysAndValues) {
  const auto kernels = [](const std::string& values, const std::string& also) {
    const ir::Module fused = Fused(
        "def @main(%q: Tensor[(2, 5, 4), float32], %x: Tensor[(7, 8), float32], %b: Tensor[(8), "
        "float32]) {\n%0 = transpose(reshape(add(%x, %b), newshape=[7, 2, 4]), axes=[1, 0, 2]);\n"
        "%1 = reshape(multiply(%x, %b), newshape=[7, 2, 4]);\n%2 = " +
        values + ";\n%3 = nn.batch_matmul(nn.softmax(nn.batch_matmul(%q, %0)), %2);\n" + also +
        " }");
    EXPECT_EQ(MostProducts(fused), 2);
    int count = 0;
    for (const Expr& call : ir::PostOrderOutside(ir::Body(*fused.functions.at("main")))) {
      count += call->callee ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(kernels("transpose(%1, axes=[1, 2, 0])", "%3"), 1);
  EXPECT_EQ(kernels("transpose(%1, axes=[1, 2, 0])", "(%3, %2)"), 2);
  EXPECT_EQ(kernels("nn.softmax(transpose(%1, axes=[1, 2, 0]))", "%3"), 2);
}

TEST(Attention, GoldenKernel) {
  ExpectGolden("FuseOps_attention.relay", ir::ToText(Fused(std::string(kParams) + kMasked)));
}

TEST(Attention, KeepsItsMeaningInEveryPass) {
  std::vector<Expr> inputs;
  Random random(1);
  const std::vector<std::vector<int64_t>> shapes = {
      {6, 5, 4}, {6, 7, 4}, {6, 3, 7}, {2, 1, 1, 7}, {1}};
  for (const auto& shape : shapes) inputs.push_back(RandomConstant(random, shape));
  const auto outputs = [&](const ir::Module& module) {
    const Expr output = InterpretMain(module, inputs)[0];
    const auto* values = reinterpret_cast<const float*>(output->data.bytes());
    return std::vector<float>(values, values + output->type->tensor.ElementCount());
  };
  std::vector<float> expected;
  PipelineOptions options;
  options.on_pass = [&](const std::string& pass, const ir::Module& module, int64_t) {
    const std::vector<float> values = outputs(module);
    if (pass == "import") expected = values;
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], expected[i], 1e-5) << pass;
  };
  ASSERT_TRUE(RunPipeline(Typed(std::string(kParams) + kMasked), Evaluating(), options).ok());
}

}  // namespace
}  // namespace hone::passes
