// What follows the product of a stack by one matrix is of its kernel.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/printer.h"
#include "compiler/passes/evaluator.h"
#include "compiler/passes/pipeline.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

constexpr char kRowsHead[] =
    "def @main(%x: Tensor[(2, 8, 64), float32], %w: Tensor[(64, 64), float32], %b: Tensor[(64,), "
    "float32], %c: Tensor[(1, 1, 64), float32], %m: Tensor[(8, 64), float32]) { %0 = reshape(%x, "
    "newshape=[16, 64]); %1 = nn.dense(%0, %w); %2 = reshape(%1, newshape=[2, 8, 64]); ";

ir::Module RowsAfter(const std::string& body, const std::string& pass) {
  PassContext context = TestContext();
  context.evaluator = DefaultEvaluator();
  const ir::Module model = Typed(kRowsHead + body + "}");
  const auto result = RunPipeline(model, context, {.after = pass, .on_pass = nullptr});
  EXPECT_TRUE(result.ok()) << result.status();
  const std::vector<float> expected = InterpretOnRandom(model)[0];
  const std::vector<float> found = InterpretOnRandom(*result)[0];
  EXPECT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-5 * (1 + std::abs(expected[i])));
  }
  return *result;
}

// The primitive function with the product.
std::string KernelOf(const ir::Module& module) {
  for (const ir::Expr& node : ir::PostOrder(module.functions.at("main"))) {
    if (node->kind != ir::ExprKind::kFunction) continue;
    const std::string text = ir::ToText(ir::Module{{{"main", node}}});
    const bool primitive = ir::GetAttr<bool>(node->attrs, "primitive", false);
    if (primitive && text.find("nn.dense") != std::string::npos) return text;
  }
  return "";
}

TEST(ProductRows, TakeBiasesFunctionsAndResidualsIntoTheProduct) {
  for (const auto& [body, last] :
       {std::pair{"add(%2, %b)", "add("}, std::pair{"%3 = add(%2, %c); nn.relu(%3)", "nn.relu("},
        std::pair{"%3 = nn.bias_add(%2, %b, axis=-1); add(%x, %3)", "add("},
        std::pair{"%3 = add(%2, %b); %4 = erf(%3); %5 = add(%4, 1f32); multiply(%3, %5)",
                  "multiply("}}) {
    const std::string kernel = KernelOf(RowsAfter(body, "FuseOps"));
    EXPECT_NE(kernel.find(last), std::string::npos) << body << kernel;
    EXPECT_EQ(kernel.find("reshape"), std::string::npos) << body << kernel;
  }
}

// A residual whose elements are moved is read in place by a kernel of its own.
TEST(ProductRows, LeaveMovedResidualsAlone) {
  const std::string text = ir::ToText(
      RowsAfter("%3 = transpose(%x, axes=[0, 1, 2]); %4 = transpose(%x, axes=[1, 0, 2]); %5 = "
                "reshape(%4, newshape=[2, 8, 64]); %6 = add(%2, %3); add(%6, %5)",
                "CanonicalizeOps"));
  EXPECT_NE(text.find("add(%2, %3)"), std::string::npos) << text;
}

// What is added differs from matrix to matrix of the stack.
TEST(ProductRows, LeaveWhatIsNoneOfARowAlone) {
  const std::string text = ir::ToText(RowsAfter("add(%2, %m)", "CanonicalizeOps"));
  EXPECT_NE(text.find("add(%2, %m)"), std::string::npos) << text;
}

}  // namespace
}  // namespace hone::passes
