// What several specialisations of a model cost in memory before they are compiled.
#include <set>

#include "cli/model_options.h"
#include "compiler/ir/expr.h"
#include "gtest/gtest.h"
#include "tests/paths.h"

namespace hone::cli {
namespace {

std::set<const uint8_t*> WeightsOf(const ir::Module& module) {
  std::set<const uint8_t*> weights;
  for (const ir::Expr& node : ir::PostOrder(module.functions.at("main"))) {
    if (node->kind == ir::ExprKind::kConstant) weights.insert(node->data.bytes());
  }
  return weights;
}

TEST(LoadedSpecialisations, HaveTheWeightsOfTheModelOnce) {
  ModelOptions model;
  model.path = HONE_TEST_DATA "/onnx/symbolic.onnx";
  model.shapes = {"x=1,3", "x=4,3", "x=16,3", "bias=1,4"};
  const auto modules = LoadSpecialisations(model);
  ASSERT_TRUE(modules.ok()) << modules.status();
  ASSERT_EQ(modules->size(), 3U);
  EXPECT_FALSE(WeightsOf(modules->at(0)).empty());
  EXPECT_EQ(WeightsOf(modules->at(1)), WeightsOf(modules->at(0)));
  EXPECT_EQ(WeightsOf(modules->at(2)), WeightsOf(modules->at(0)));
}

}  // namespace
}  // namespace hone::cli
