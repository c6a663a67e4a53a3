#include <gtest/gtest.h>

#include "compiler/ops/lower.h"
#include "compiler/ops/op.h"

namespace hone::ops {
namespace {

using ir::Expr;

TEST(AnchorTest, OperatorsThatEndAFusionAreAnchors) {
  const ir::Type type{.tensor = {{4}, DataType::kFloat32}};
  const auto call = [&](const std::string& op, const Expr& arg) {
    return ir::WithType(ir::Call(op, {arg}), type);
  };
  for (const std::string& name : OpNames()) {
    const bool ends = FindOp(name)->kind >= FuseKind::kReduction;
    const Expr x = ir::Var("x", type);
    const Expr prologue = call("negative", x);
    const Expr op = call(name, prologue);
    const Expr whole = ir::Function({x}, call("negative", op));
    const Expr cut = ir::Function({x}, ends ? op : prologue);
    EXPECT_EQ(WorkloadOf(whole, {false}).anchor_digest, WorkloadOf(cut, {false}).digest) << name;
  }
}

}  // namespace
}  // namespace hone::ops
