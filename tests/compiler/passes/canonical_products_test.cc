// Which softmaxes lose axes of one index, which products become stacks, and that nothing changes by
// it.
#include <gtest/gtest.h>

#include "compiler/ir/printer.h"
#include "compiler/passes/pipeline.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

ir::Module ProductsModel(const std::string& body) {
  return Typed(
      "def @main(%x: Tensor[(3, 4, 1, 1), float32], %a: Tensor[(2, 3), float32], "
      "%b: Tensor[(3, 2), float32]) {" +
      body +
      "}\nmeta[Constant][0] = Tensor[(3, 1), float32] \"AACAPwAAAEAAAEBA\";\n"
      "meta[Constant][1] = Tensor[(2, 2), float32] \"AACAPwAAAEAAAEBAAACAQA==\";");
}

std::string CanonicalText(const std::string& body) {
  const ir::Module model = ProductsModel(body);
  const auto result = RunOne(model, TestContext(), "CanonicalizeOps");
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(InterpretOnRandom(*result), InterpretOnRandom(model)) << body;
  return ir::ToText(*result);
}

TEST(UnitAxes, BehindASoftmaxAreLeftOut) {
  for (const char* op : {"nn.softmax", "nn.log_softmax"}) {
    for (const char* axis : {"1", "-3"}) {
      const std::string text = CanonicalText(std::string(op) + "(%x, axis=" + axis + ")");
      EXPECT_NE(text.find(std::string(op) + "(%0, axis=-1)"), std::string::npos) << text;
      EXPECT_NE(text.find("newshape=[3, 4]"), std::string::npos) << text;
    }
  }
}

TEST(UnitAxes, OfOthersStay) {
  EXPECT_EQ(CanonicalText("nn.softmax(%x, axis=0)").find("reshape"), std::string::npos);
  EXPECT_EQ(CanonicalText("nn.softmax(%x)").find("reshape"), std::string::npos);
}

TEST(VariableColumns, AreReadInPlace) {
  for (const char* body : {"%0 = transpose(%b, axes=[1, 0]); nn.dense(%a, %0)",
                           "%0 = nn.relu(%b); %1 = transpose(%0); nn.dense(%a, %1)",
                           "%0 = transpose(cast(%b, dtype=int32)); %1 = nn.dense(cast(%a, "
                           "dtype=int32), %0); cast(%1, dtype=float32)"}) {
    const std::string text = CanonicalText(body);
    EXPECT_EQ(text.find("nn.dense"), std::string::npos) << text;
    EXPECT_NE(text.find("nn.batch_matmul"), std::string::npos) << text;
  }
}

TEST(VariableColumns, OthersStay) {
  for (const char* body :
       {"%0 = transpose(meta[Constant][0], axes=[1, 0]); nn.dense(%a, %0)", "nn.dense(%a, %a)",
        "%0 = transpose(%a, axes=[1, 0]); nn.dense(meta[Constant][1], %0)"}) {
    EXPECT_NE(CanonicalText(body).find("nn.dense"), std::string::npos) << body;
  }
}

}  // namespace
}  // namespace hone::passes
