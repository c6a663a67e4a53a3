#include "compiler/passes/skeleton.h"

#include <gtest/gtest.h>

#include "compiler/ir/printer.h"
#include "compiler/passes/pipeline.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

ir::Expr MainOf(const ir::Module& module) { return module.functions.at("main"); }

// The module as FuseOps leaves it.
std::string Skeleton(const ir::Module& module) {
  return SkeletonOf(
      MainOf(RunPipeline(module, TestContext(), {.after = "FuseOps", .on_pass = nullptr}).value()));
}

// What AlterOpLayout said that it chose, and the module that it made.
struct Altered {
  std::string skeleton;
  std::vector<std::string> layouts;
  std::string text;
};

Altered Alter(const ir::Module& module, PassContext context) {
  Altered altered;
  context.on_layouts = [&](const std::string& skeleton, std::vector<std::string> layouts) {
    altered.skeleton = skeleton;
    altered.layouts = std::move(layouts);
  };
  altered.text = ir::ToText(RunPipeline(module, context, {}).value());
  return altered;
}

TEST(Skeleton, IsTheSameWithOtherWeights) {
  Random one(1);
  Random other(2);
  EXPECT_EQ(Skeleton(ResidualNet(one, 2, 32, 14)), Skeleton(ResidualNet(other, 2, 32, 14)));
}

TEST(Skeleton, IsAnotherWithOtherKernelsOrShapes) {
  Random random(1);
  const std::string skeleton = Skeleton(ResidualNet(random, 2, 32, 14));
  EXPECT_NE(skeleton, Skeleton(ResidualNet(random, 3, 32, 14)));
  EXPECT_NE(skeleton, Skeleton(ResidualNet(random, 2, 64, 14)));
  EXPECT_NE(skeleton, Skeleton(ResidualNet(random, 2, 32, 7)));
}

// The same kernels, in another order.
TEST(Skeleton, IsAnotherWhereKernelsReadOtherValues) {
  const auto text = [](const std::string& last) {
    return "def @main(%x: Tensor[(4, 8), float32], %y: Tensor[(4, 8), float32]) {\n"
           "  %0 = nn.softmax(%x);\n  %1 = nn.softmax(%y);\n  nn.softmax(" +
           last + ")\n}";
  };
  EXPECT_NE(Skeleton(Typed(text("%0"))), Skeleton(Typed(text("%1"))));
}

TEST(KeptLayouts, AreTakenAsTheyWereChosen) {
  Random random(1);
  const ir::Module module = ResidualNet(random, 2, 32, 14);
  const Altered chosen = Alter(module, TestContext());
  ASSERT_FALSE(chosen.layouts.empty());
  EXPECT_EQ(chosen.skeleton, Skeleton(module));
  // Row-major everywhere is no choice that prices would make.
  PassContext row_major = TestContext();
  row_major.signatures = nullptr;
  const Altered other = Alter(module, row_major);
  ASSERT_NE(other.layouts, chosen.layouts);
  PassContext kept = TestContext();
  std::string asked;
  kept.kept_layouts = [&](const std::string& skeleton) {
    asked = skeleton;
    return std::optional(other.layouts);
  };
  const Altered altered = Alter(module, kept);
  EXPECT_EQ(asked, chosen.skeleton);
  EXPECT_EQ(altered.layouts, other.layouts);
  EXPECT_EQ(altered.text, other.text);
}

TEST(KeptLayouts, OfAnotherGraphAreChosenAnew) {
  Random random(1);
  const ir::Module module = ResidualNet(random, 2, 32, 14);
  const Altered chosen = Alter(module, TestContext());
  for (const std::vector<std::string>& odd :
       {std::vector<std::string>{}, std::vector<std::string>(chosen.layouts.size(), "NC->NC")}) {
    PassContext kept = TestContext();
    kept.kept_layouts = [&](const std::string&) { return std::optional(odd); };
    EXPECT_EQ(Alter(module, kept).text, chosen.text);
  }
}

}  // namespace
}  // namespace hone::passes
