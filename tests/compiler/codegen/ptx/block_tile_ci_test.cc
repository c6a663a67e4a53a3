// Kernels by the strategy of blocks that share what they load: their code gives what the
// interpreter does, also where copies run ahead in the background.
#include <string>

#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"
#include "tests/compiler/codegen/ptx/strategy_kernel.h"

namespace hone::codegen {
namespace {

constexpr const char* kSharing[] = {
    "fn (p0: Tensor[(32, 64), float32], const p1: Tensor[(32, 64), float32]) { nn.dense(p0, p1) }",
    "fn (p0: Tensor[(2, 16, 64), float32], p1: Tensor[(2, 24, 64), float32]) { "
    "nn.batch_matmul(p0, p1) }",
    "fn (p0: Tensor[(1, 16, 8, 16), float32], const p1: Tensor[(16, 16, 3, 3), float32]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(2, 8, 8, 16), float32], const p1: Tensor[(16, 8, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, strides=[2, 2], padding=[1, 1, 1, 1]) }",
    // Tiles do not divide the columns.
    "fn (p0: Tensor[(1, 8, 55, 55), float32], const p1: Tensor[(16, 8, 1, 1), float32]) { "
    "nn.conv2d(p0, p1) }",
};

TEST(BlockTile, CopiesInSlotsGiveWhatTheInterpreterDoes) {
  HONE_SKIP_WITHOUT_CUDA();
  int ahead = 0;
  for (const char* const function : kSharing) {
    const StrategyKernel kernel(function, "sm_80", "block_tile");
    int left = 3;
    for (const schedule::Config& config : kernel.Configs(24)) {
      if (!config.Has("slots") || config.Int("slots") < 2 || left-- <= 0) continue;
      SCOPED_TRACE(function + config.ToText());
      const loop::Nest nest = kernel.NestOf(config);
      EXPECT_GT(Count(PtxOf(nest, kernel.target()), "cp.async.wait_group"), 0);
      EXPECT_GT(Count(PtxOf(nest, kernel.target()), ".shared.global ["), 0);
      ExpectCudaSameAsInterpreter(nest, kernel.target(), 1e-5);
      if (HasFailure()) return;
      ++ahead;
    }
  }
  EXPECT_GE(ahead, 10);
}

TEST(BlockTile, OldTargetsAndComputedFactorsHaveNoSlots) {
  const auto has_slots = [](const std::string& function, const std::string& arch) {
    for (const schedule::Config& config :
         StrategyKernel(function, arch, "block_tile").Configs(12)) {
      if (config.Has("slots")) return true;
    }
    return false;
  };
  EXPECT_TRUE(has_slots(kSharing[0], "sm_80"));
  EXPECT_FALSE(has_slots(kSharing[0], "sm_75"));
  EXPECT_FALSE(
      has_slots("fn (p0: Tensor[(32, 64), float16], const p1: Tensor[(32, 64), float16]) "
                "{ nn.dense(p0, p1) }",
                "sm_80"))
      << "a thread copies no element of two bytes by itself";
}

}  // namespace
}  // namespace hone::codegen
