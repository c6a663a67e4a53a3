#include "compiler/loop/builder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone::loop {
namespace {

TEST(Builder, ShowsStagesAsLaunchesWithNamedLoops) {
  NestBuilder builder("dense_relu");
  const Buffer data = builder.AddInput("data", DataType::kFloat32, {2, 8});
  const Buffer weight = builder.AddConstant("weight", DataType::kFloat32, {4, 8});
  const Buffer dense =
      builder.Reduce("dense", DataType::kFloat32, {2, 4}, {8}, NestBuilder::Combiner::kAdd,
                     FloatConst(0, DataType::kFloat32),
                     [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
                       return Load(data, {i[0], r[0]}) * Load(weight, {i[1], r[0]});
                     });
  const Buffer relu =
      builder.Compute("relu", DataType::kFloat32, {2, 4}, [&](const std::vector<Expr>& i) {
        return Max(Load(dense, i), FloatConst(0, DataType::kFloat32));
      });
  EXPECT_EQ(ToText(builder.Finish({relu})), R"(nest @dense_relu {
  input %data: float32[2, 8] NC
  constant %weight: float32[4, 8] NC
  workspace %dense: float32[2, 4] NC
  output %relu: float32[2, 4] NC
  run @dense {
    for dense.i0 in 0..2 {
      for dense.i1 in 0..4 {
        %dense[dense.i0, dense.i1] = 0.0
        for dense.r0 in 0..8 {
          %dense[dense.i0, dense.i1] = %dense[dense.i0, dense.i1] + %data[dense.i0, dense.r0] * %weight[dense.i1, dense.r0]
        }
      }
    }
  }
  run @relu {
    for relu.i0 in 0..2 {
      for relu.i1 in 0..4 {
        %relu[relu.i0, relu.i1] = max(%dense[relu.i0, relu.i1], 0.0)
      }
    }
  }
}
)");
}

TEST(Builder, MakesNamesUniqueAndCopiesOutputsThatAreInputs) {
  NestBuilder builder("k");
  const Buffer x = builder.AddInput("x", DataType::kInt32, {3});
  const auto copy = [&](const std::vector<Expr>& i) { return Load(x, i); };
  const Buffer a = builder.Compute("x", DataType::kInt32, {3}, copy);
  const Nest nest = builder.Finish({a, x, a});
  std::vector<std::string> names;
  for (const Buffer& buffer : nest.buffers) names.push_back(buffer->name);
  EXPECT_THAT(names, testing::ElementsAre("x", "x.1", "x.copy", "x.1.copy"));
  EXPECT_EQ(nest.buffers[1]->role, Role::kOutput);
  EXPECT_EQ(nest.buffers[3]->role, Role::kOutput);
}

TEST(Builder, RenamesLoopsAndBuffersOfHandWrittenStagesThatClash) {
  NestBuilder builder("k");
  std::vector<Buffer> outputs;
  for (int n = 0; n < 2; ++n) {
    const Buffer buffer = MakeBuffer("y", DataType::kFloat32, {4});
    const Expr i = Var("i");
    builder.AddStage(buffer, For(i, 0, 4, Store(buffer, {i}, FloatConst(n, DataType::kFloat32))));
    outputs.push_back(buffer);
  }
  const std::string text = ToText(builder.Finish(outputs));
  EXPECT_THAT(text, testing::HasSubstr("%y.1[i.1] = 1.0"));
  EXPECT_THAT(text, testing::HasSubstr("%y[i] = 0.0"));
}

}  // namespace
}  // namespace hone::loop
