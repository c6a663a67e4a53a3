// The zoo at full size: that it is the networks of the papers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/frontend/zoo/zoo.h"

namespace hone::frontend {
namespace {

// The number of parameters that are trained: batch norm's mean and variance are not counted.
int64_t Parameters(const ir::Module& module) {
  int64_t count = 0;
  for (const ir::Expr& e : ir::PostOrder(ir::Body(*module.functions.at("main")))) {
    if (e->kind != ir::ExprKind::kCall) continue;
    for (size_t i = 0; i < e->args.size(); ++i) {
      const bool statistic = ir::IsCall(e, "nn.batch_norm") && i >= 3;
      const ir::Expr& arg = e->args[i];
      if (arg->kind == ir::ExprKind::kConstant && !arg->type->tensor.shape.empty() && !statistic) {
        count += arg->type->tensor.ElementCount();
      }
    }
  }
  return count;
}

struct FullSize {
  const char* name;
  int64_t parameters;  // as torchvision, transformers or the paper's own code have them
  std::vector<int64_t> output;
};

void PrintTo(const FullSize& model, std::ostream* out) { *out << model.name; }

class FullSizeZoo : public testing::TestWithParam<FullSize> {};

TEST_P(FullSizeZoo, HasThePapersParametersAndResult) {
  const auto module = ZooModel(GetParam().name);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Parameters(*module), GetParam().parameters);
  EXPECT_EQ(module->functions.at("main")->type->tensor.shape, GetParam().output);
}

const std::vector<int64_t> kClasses = {1, 1000};

INSTANTIATE_TEST_SUITE_P(
    Names, FullSizeZoo,
    testing::Values(
        FullSize{"bert", 108891648, {1, 128, 768}}, FullSize{"densenet121", 7978856, kClasses},
        FullSize{"inception_v3", 23834568, kClasses}, FullSize{"mobilenet", 4231976, kClasses},
        FullSize{"mobilenet_v2", 3504872, kClasses}, FullSize{"resnet18", 11689512, kClasses},
        FullSize{"resnet34", 21797672, kClasses}, FullSize{"resnet50", 25557032, kClasses},
        FullSize{"resnet101", 44549160, kClasses}, FullSize{"resnet152", 60192808, kClasses},
        FullSize{"squeezenet", 1235496, kClasses}, FullSize{"vgg16", 138357544, kClasses}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone::frontend
