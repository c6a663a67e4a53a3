// compiler/ir names the anchors of workloads without seeing compiler/ops: the two must agree.
#include <gtest/gtest.h>

#include "compiler/ir/workload.h"
#include "compiler/ops/op.h"

namespace hone::passes {
namespace {

using ir::Expr;

TEST(Anchor, OperatorsThatEndAFusionAreAnchors) {
  const ir::Type type{.tensor = {{4}, DataType::kFloat32}};
  const auto call = [&](const std::string& op, const Expr& arg) {
    return ir::WithType(ir::Call(op, {arg}), type);
  };
  for (const std::string& name : ops::OpNames()) {
    const bool ends = ops::FindOp(name)->kind >= ops::FuseKind::kReduction;
    const Expr x = ir::Var("x", type);
    const Expr prologue = call("negative", x);
    const Expr op = call(name, prologue);
    const Expr whole = ir::Function({x}, call("negative", op));
    const Expr cut = ir::Function({x}, ends ? op : prologue);
    EXPECT_EQ(ir::MakeWorkload(whole, {false}).anchor_digest, ir::MakeWorkload(cut, {false}).digest)
        << name << ": add it to AnchorRank in compiler/ir/workload.cc, or take it out";
  }
}

}  // namespace
}  // namespace hone::passes
