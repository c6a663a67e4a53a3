// What the output check lets pass and what not, of kernels as they are built.
#include <gtest/gtest.h>

#include "compiler/loop/visit.h"
#include "support/random.h"
#include "tests/compiler/codegen/pair_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::codegen {
namespace {

constexpr char kConvBias[] =
    "fn (p0: Tensor[(1, 64, 8, 8), bfloat16], const p1: Tensor[(32, 64, 3, 3), bfloat16], const "
    "p2: Tensor[(32,), bfloat16]) { %0 = nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.bias_add(%0, "
    "p2) } accumulate=float32 numerics=strict";

// What outputs are made of, times a factor; inputs and constants are not.
class Scale : public loop::Mutator {
 public:
  explicit Scale(double factor) : factor_(factor) {}
  using loop::Mutator::Rewrite;
  loop::Stmt Rewrite(const loop::Stmt& s) override {
    if (s->kind != loop::StmtKind::kStore) return RewriteChildren(s);
    return s->buffer->role == loop::Role::kOutput ? RewriteChildren(s) : s;
  }
  loop::Expr Rewrite(const loop::Expr& e) override {
    if (e->kind != loop::ExprKind::kLoad || e->buffer->role != loop::Role::kWorkspace) {
      return RewriteChildren(e);
    }
    const loop::Expr scaled =
        loop::Cast(DataType::kFloat32, e) * loop::FloatConst(factor_, DataType::kFloat32);
    return loop::Cast(e->dtype, scaled);
  }

 private:
  const double factor_;
};

absl::StatusOr<std::string> BuildScaled(const TaskUnderTest& task, double factor) {
  const schedule::Task one = task.With(task.signatures()[0]);
  ModuleSpec module;
  module.target = one.target;
  KernelSpec& kernel = module.kernels.emplace_back();
  kernel.nest = task.def().naive;
  for (loop::Launch& launch : kernel.nest.launches) {
    launch.body = Scale(factor).Rewrite(launch.body);
  }
  kernel.name = kernel.nest.name;
  kernel.error_bound = schedule::LowerConfig(one, schedule::DefaultOfTask(one))->error_bound;
  return BuildModule(module);
}

TEST(OutputCheck, RefusesAnErrorOfAFewPercentInBFloat16AndTakesRoundings) {
  const auto task = TaskUnderTest::Of(kConvBias, "native");
  ASSERT_TRUE(task.ok()) << task.status();
  const auto check = PairCheck::Of((*task)->def());
  ASSERT_TRUE(check.ok()) << check.status();
  for (const double factor : {1.0, 1.05, 0.95}) {
    const auto artifact = BuildScaled(**task, factor);
    ASSERT_TRUE(artifact.ok()) << artifact.status();
    const absl::Status status = (*check)->Check(*artifact);
    EXPECT_EQ(status.ok(), factor == 1) << factor << " " << status;
  }
  LaunchCache cache;
  for (const ir::LayoutSignature& signature : (*task)->signatures()) {
    const schedule::Task one = (*task)->With(signature);
    const schedule::Space space = schedule::SpaceOfTask(one);
    Random random(3);
    for (int i = 0; i < 4; ++i) {
      const schedule::Config config = i == 0 ? schedule::DefaultOfTask(one) : space.Sample(random);
      const auto artifact = BuildArtifact(one, config, &cache);
      ASSERT_TRUE(artifact.ok()) << artifact.status();
      EXPECT_TRUE((*check)->Check(*artifact).ok())
          << config.ToText() << " " << (*check)->Check(*artifact);
    }
  }
}

// In a window that holds zeros alone, what the transforms round remains, which for so few products
// is much of the error bound.
TEST(OutputCheck, TakesWhatTransformsLeaveWhereAllProductsAreZero) {
  const auto task = TaskUnderTest::Of(
      "fn (p0: Tensor[(1, 1, 5, 9), float32], const p1: Tensor[(31, 1, 4, 1), float32]) { %0 = "
      "nn.conv2d(p0, p1, dilation=[1, 1], groups=1, padding=[3, 0, 3, 0], strides=[2, 2]); "
      "nn.relu(%0) } accumulate=float32 numerics=default",
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -threads=2");
  ASSERT_TRUE(task.ok()) << task.status();
  const auto config = schedule::Config::Parse(
      R"({"strategy":"winograd4","block_w":5,"block_h":1,"tile_v":4,"tile_h":1,"tile_w":1,)"
      R"("unroll":1,"pad":"copy","parts":2,"prefetch":1,"chunk":0})");
  ASSERT_TRUE(config.ok()) << config.status();
  const auto signature = ir::LayoutSignature::Parse("NCHW->NCHW", {4}, {4});
  ASSERT_TRUE(signature.ok()) << signature.status();
  LaunchCache cache;
  const auto artifact = BuildArtifact((*task)->With(*signature), *config, &cache);
  ASSERT_TRUE(artifact.ok()) << artifact.status();
  const auto check = PairCheck::Of((*task)->def());
  ASSERT_TRUE(check.ok()) << check.status();
  const absl::Status status = (*check)->Check(*artifact);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace hone::codegen
