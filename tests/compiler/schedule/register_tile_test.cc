// The price of register tiles.
#include "compiler/schedule/price/register_tile.h"

#include "compiler/machine/machine.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"

namespace hone::schedule {
namespace {

machine::IssueRates IssueOf(const char* target) {
  return machine::Machine::For(TestTarget(target)).issue;
}

// Priced as one multiply-add each, dot products of bfloat16 looked twice as fast as they are on
// Intel's cores, whose tiles in tile registers they are compared with.
TEST(RegisterTilePrice, DotProductsOfBFloat16TakeTheTimeThatTheMachineSays) {
  const auto of_bfloat16 = [](const char* target) {
    return StepMultiplyAdds(IssueOf(target), ProductKind::kBFloat16, 2);
  };
  EXPECT_EQ(of_bfloat16("llvm -mcpu=sapphirerapids"), 2);
  EXPECT_EQ(of_bfloat16("llvm -mcpu=znver4"), 1);
  EXPECT_EQ(of_bfloat16("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"), 1);
  const machine::IssueRates intel = IssueOf("llvm -mcpu=sapphirerapids");
  EXPECT_EQ(StepMultiplyAdds(intel, ProductKind::kBytes, 4), 1);
  EXPECT_EQ(StepMultiplyAdds(intel, ProductKind::kFloat, 1), 1);
  EXPECT_EQ(StepMultiplyAdds(intel, ProductKind::kBFloat16, 1), 1) << "no dot product";
}

TEST(RegisterTilePrice, SlowerProductsTakeLonger) {
  RegisterTileProblem problem;
  problem.vectors = 4;
  problem.columns = 24;
  problem.steps = 1000;
  const RegisterTile tile{.vectors = 4, .columns = 6};
  const double usual = TileCycles(problem, tile);
  problem.step_multiply_adds = 2;
  EXPECT_GT(TileCycles(problem, tile), 1.9 * usual);
}

}  // namespace
}  // namespace hone::schedule
