// Which weights that are stored as narrow integers are folded to the numbers that they stand for.
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "compiler/ir/printer.h"
#include "compiler/passes/evaluator.h"
#include "compiler/passes/pipeline.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

// 160 x 160 bytes: as floats more than what is small, and four times as much.
ir::Module WeightsModel(const std::string& body) {
  const std::string bytes(160 * 160, 4);
  return Typed("def @main(%x: Tensor[(2, 160), float32], %i: Tensor[(2,), int64]) {" + body +
               "}\nmeta[Constant][0] = Tensor[(160, 160), int8] \"" + absl::Base64Escape(bytes) +
               "\";");
}

std::string Folded(const std::string& body) {
  PassContext context = TestContext();
  context.evaluator = DefaultEvaluator();
  const auto result = RunOne(WeightsModel(body), context, "FoldConstant");
  EXPECT_TRUE(result.ok()) << result.status();
  return ir::ToText(*result);
}

TEST(FoldWeights, OfProductsAreKnown) {
  for (const char* body :
       {"%0 = qnn.dequantize(meta[Constant][0], 0.5f32, 3i8); nn.dense(%x, %0)",
        "%0 = cast(meta[Constant][0], dtype=float32); %1 = multiply(%0, 0.5f32); %2 = "
        "transpose(%1, axes=[1, 0]); nn.dense(%x, %2)"}) {
    const std::string text = Folded(body);
    EXPECT_NE(text.find("nn.dense(%x, meta[Constant][0])"), std::string::npos)
        << text.substr(0, 1000);
  }
}

// A scale for every 16 rows, which is repeated for them.
TEST(FoldWeights, WithRepeatedScalesAreKnown) {
  const std::string text = Folded(
      "%0 = cast(meta[Constant][0], dtype=float32); %1 = strided_slice(%0, begin=[0, 0], end=[10, "
      "160], strides=[1, 1]); %2 = reshape(%1, newshape=[10, 1, 160]); %3 = "
      "broadcast_to(%2, shape=[10, 16, 160]); %4 = reshape(%3, newshape=[160, 160]); %5 = "
      "multiply(%0, %4); nn.dense(%x, %5)");
  EXPECT_NE(text.find("nn.dense(%x, meta[Constant][0])"), std::string::npos)
      << text.substr(0, 1000);
}

// Both products read one constant, and one product a transposition of it.
TEST(FoldWeights, ThatSeveralProductsReadAreEvaluatedOnce) {
  int evaluated = 0;
  PassContext context = TestContext();
  context.evaluator = [&](const ir::Expr& call) {
    if (ir::IsCall(call, "qnn.dequantize")) ++evaluated;
    return DefaultEvaluator()(call);
  };
  const auto result =
      RunOne(WeightsModel(
                 "%0 = qnn.dequantize(meta[Constant][0], 0.5f32, 3i8); %1 = nn.dense(%x, %0); %2 = "
                 "nn.dense(%1, %0); %3 = transpose(%0, axes=[1, 0]); nn.dense(%2, %3)"),
             context, "FoldConstant");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(evaluated, 1);
  const ir::Expr last = ir::Body(*result->functions.at("main"));
  const ir::Expr second = last->args[0];
  EXPECT_EQ(second->args[1], second->args[0]->args[1]);
  EXPECT_EQ(last->args[1]->kind, ir::ExprKind::kConstant);
}

TEST(FoldWeights, OfAGatherStayBytes) {
  const std::string text =
      Folded("%0 = qnn.dequantize(meta[Constant][0], 0.5f32, 3i8); take(%0, %i, axis=0)");
  EXPECT_NE(text.find("qnn.dequantize"), std::string::npos) << text.substr(0, 1000);
}

}  // namespace
}  // namespace hone::passes
