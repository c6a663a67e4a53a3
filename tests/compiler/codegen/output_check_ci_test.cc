// What the output check lets pass of kernels that round to 16-bit floats within.
#include <gtest/gtest.h>

#include "compiler/loop/visit.h"
#include "support/random.h"
#include "tests/compiler/codegen/pair_check.h"

namespace hone::codegen {
namespace {

constexpr char kConvBias[] =
    "fn (p0: Tensor[(1, 64, 8, 8), bfloat16], const p1: Tensor[(32, 64, 3, 3), bfloat16], const "
    "p2: Tensor[(32,), bfloat16]) { %0 = nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.bias_add(%0, "
    "p2) } accumulate=float32 numerics=strict";

// Outputs times a factor.
class Scale : public loop::Mutator {
 public:
  explicit Scale(double factor) : factor_(factor) {}
  using loop::Mutator::Rewrite;
  loop::Stmt Rewrite(const loop::Stmt& s) override {
    if (s->kind != loop::StmtKind::kStore || s->buffer->role != loop::Role::kOutput) {
      return RewriteChildren(s);
    }
    const loop::Expr scaled =
        loop::Cast(DataType::kFloat32, s->value) * loop::FloatConst(factor_, DataType::kFloat32);
    return loop::Store(s->buffer, s->indices, loop::Cast(s->buffer->dtype, scaled));
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
  kernel.error_bound = schedule::ErrorBound(one, task.schedule().Default(one));
  return BuildModule(module);
}

TEST(HalfPrecisionCheck, RefusesAnErrorOfAFewPercentAndTakesRoundings) {
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
    const schedule::Space space = (*task)->schedule().MakeSpace(one);
    Random random(3);
    for (int i = 0; i < 4; ++i) {
      const schedule::Config config =
          i == 0 ? (*task)->schedule().Default(one) : space.Sample(random);
      const auto artifact = BuildArtifact(one, config, &cache);
      ASSERT_TRUE(artifact.ok()) << artifact.status();
      EXPECT_TRUE((*check)->Check(*artifact).ok())
          << config.ToText() << " " << (*check)->Check(*artifact);
    }
  }
}

}  // namespace
}  // namespace hone::codegen
