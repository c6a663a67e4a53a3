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
ir::Module ModelOf(const std::string& body) {
  const std::string bytes(160 * 160, 4);
  return Typed("def @main(%x: Tensor[(2, 160), float32], %i: Tensor[(2,), int64]) {" + body +
               "}\nmeta[Constant][0] = Tensor[(160, 160), int8] \"" + absl::Base64Escape(bytes) +
               "\";");
}

std::string Folded(const std::string& body) {
  PassContext context = TestContext();
  context.evaluator = DefaultEvaluator();
  const auto result = RunOne(ModelOf(body), context, "FoldConstant");
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

TEST(FoldWeights, OfAGatherStayBytes) {
  const std::string text =
      Folded("%0 = qnn.dequantize(meta[Constant][0], 0.5f32, 3i8); take(%0, %i, axis=0)");
  EXPECT_NE(text.find("qnn.dequantize"), std::string::npos) << text.substr(0, 1000);
}

}  // namespace
}  // namespace hone::passes
