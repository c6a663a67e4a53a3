// Kernels by the strategy of warpgroups, from the operator to the code: it gives what the
// interpreter does, and keeps its sums in registers.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/ptx/assembler.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"
#include "tests/compiler/codegen/ptx/strategy_kernel.h"

namespace hone::codegen {
namespace {

constexpr char kGroupStrategy[] = "warpgroup_tile";
constexpr char kHopperArch[] = "sm_90a";

constexpr const char* kSmallProducts[] = {
    "fn (p0: Tensor[(128, 256), bfloat16], const p1: Tensor[(64, 256), bfloat16], const p2: "
    "Tensor[(64,), bfloat16]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(2, 64, 64), float16], p1: Tensor[(2, 96, 64), float16]) { "
    "nn.batch_matmul(p0, p1) }",
    "fn (p0: Tensor[(50, 152), bfloat16], const p1: Tensor[(100, 152), bfloat16], const p2: "
    "Tensor[(100,), bfloat16]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
};

TEST(WarpgroupTile, CodeGivesWhatTheInterpreterDoes) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const char* const function : kSmallProducts) {
    const StrategyKernel kernel(function, kHopperArch, kGroupStrategy);
    for (const schedule::Config& config : kernel.Configs(3)) {
      SCOPED_TRACE(function + config.ToText());
      const loop::Nest nest = kernel.NestOf(config);
      const std::string ptx = PtxOf(nest, kernel.target());
      EXPECT_EQ(Count(ptx, fmt::format("m64n{}k16", config.Int("tile_columns"))), 4) << ptx;
      EXPECT_EQ(Count(ptx, "mma.sync"), 0) << ptx;
      if (config.Int("slots") > 1) EXPECT_GT(Count(ptx, "cp.async.cg.shared.global"), 0) << ptx;
      constexpr double kStepOfBFloat16 = 8e-3;
      ExpectCudaSameAsInterpreter(nest, kernel.target(), kStepOfBFloat16);
      if (HasFailure()) return;
    }
  }
}

TEST(WarpgroupTile, BlocksShareSums) {
  HONE_SKIP_WITHOUT_CUDA();
  const StrategyKernel kernel(kSmallProducts[0], kHopperArch, kGroupStrategy);
  const auto config = schedule::Config::Parse(
      R"({"parts":2,"slots":2,"strategy":"warpgroup_tile","tile_columns":64,"warpgroups":1})");
  ASSERT_TRUE(config.ok()) << config.status();
  const loop::Nest nest = kernel.NestOf(*config);
  EXPECT_EQ(Count(PtxOf(nest, kernel.target()), "m64n64k16"), 4);
  constexpr double kStepOfBFloat16 = 8e-3;
  ExpectCudaSameAsInterpreter(nest, kernel.target(), kStepOfBFloat16);
}

TEST(WarpgroupTile, ProductsAreWaitedForOneStepLater) {
  HONE_SKIP_WITHOUT_CUDA();
  const StrategyKernel kernel(
      "fn (p0: Tensor[(64, 320), bfloat16], const p1: Tensor[(64, 320), bfloat16]) { "
      "nn.dense(p0, p1) }",
      kHopperArch, kGroupStrategy);
  for (const int slots : {3, 5}) {
    const auto config = schedule::Config::Parse(
        fmt::format(R"({{"slots":{},"strategy":"warpgroup_tile","tile_columns":64,)"
                    R"("wait_later":1,"warpgroups":1}})",
                    slots));
    ASSERT_TRUE(config.ok()) << config.status();
    const loop::Nest nest = kernel.NestOf(*config);
    const std::string ptx = PtxOf(nest, kernel.target());
    EXPECT_EQ(Count(ptx, "wgmma.wait_group.sync.aligned 1"), 1) << ptx;
    EXPECT_EQ(Count(ptx, "wgmma.wait_group.sync.aligned 0"), 1) << ptx;
    constexpr double kStepOfBFloat16 = 8e-3;
    ExpectCudaSameAsInterpreter(nest, kernel.target(), kStepOfBFloat16);
  }
}

constexpr const char* kConvolutionsOfWarpgroups[] = {
    "fn (p0: Tensor[(2, 128, 7, 7), bfloat16], const p1: Tensor[(64, 128, 1, 1), bfloat16], p2: "
    "Tensor[(2, 64, 7, 7), bfloat16]) { %0 = nn.conv2d(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(1, 64, 14, 14), float16], const p1: Tensor[(96, 64, 1, 1), float16]) { "
    "nn.conv2d(p0, p1, strides=[2, 2]) }",
    "fn (p0: Tensor[(1, 64, 7, 7), bfloat16], const p1: Tensor[(64, 64, 3, 3), bfloat16], const "
    "p2: "
    "Tensor[(64, 1, 1), bfloat16]) { %0 = nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); %1 = add(%0, "
    "p2); nn.relu(%1) }",
    "fn (p0: Tensor[(2, 24, 13, 10), bfloat16], const p1: Tensor[(64, 24, 3, 2), bfloat16]) { "
    "nn.conv2d(p0, p1, strides=[2, 1], dilation=[1, 2], padding=[1, 0, 2, 1]) }",
};

// Threads copy 16 bytes of channels ahead, or zeros.
TEST(WarpgroupTile, CopiesPatchesOfImagesInTheBackground) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const char* const function : kConvolutionsOfWarpgroups) {
    const StrategyKernel kernel(function, kHopperArch, kGroupStrategy, /*channels_last=*/true);
    for (const schedule::Config& config : kernel.Configs(3)) {
      SCOPED_TRACE(function + config.ToText());
      const loop::Nest nest = kernel.NestOf(config);
      const std::string ptx = PtxOf(nest, kernel.target());
      EXPECT_EQ(Count(ptx, fmt::format("m64n{}k16", config.Int("tile_columns"))), 4) << ptx;
      if (config.Int("slots") > 1) EXPECT_GT(Count(ptx, "cp.async.cg.shared.global"), 0) << ptx;
      EXPECT_EQ(Count(ptx, "st.shared.b16"), 0) << ptx;
      constexpr double kStepOfBFloat16 = 8e-3;
      ExpectCudaSameAsInterpreter(nest, kernel.target(), kStepOfBFloat16);
      if (HasFailure()) return;
    }
  }
}

void ExpectGroupSumsInRegisters(const StrategyKernel& kernel, const schedule::Config& config) {
  SCOPED_TRACE(config.ToText());
  const std::string ptx = PtxOf(kernel.NestOf(config), kernel.target());
  EXPECT_EQ(Count(ptx, fmt::format("m64n{}k16", config.Int("tile_columns"))), 4);
  const std::string log = AssemblerLog(ptx, kHopperArch);
  EXPECT_EQ(SpilledBytes(log), 0);
  EXPECT_EQ(log.find("serialized"), std::string::npos) << log;
}

TEST(WarpgroupTile, GroupsKeepTheirSumsInRegisters) {
  if (!HasAssembler()) GTEST_SKIP() << kNoAssembler;
  const StrategyKernel kernel(
      "fn (p0: Tensor[(1536, 1536), bfloat16], const p1: Tensor[(1536, 1536), bfloat16]) { "
      "nn.dense(p0, p1) }",
      kHopperArch, kGroupStrategy);
  std::vector<schedule::Config> configs = kernel.Configs(24);
  configs.push_back(schedule::DefaultOfTask(kernel.task()));
  EXPECT_EQ(configs.back().String("strategy"), kGroupStrategy);
  EXPECT_EQ(configs.back().Int("wait_later"), 1);
  for (const schedule::Config& config : configs) ExpectGroupSumsInRegisters(kernel, config);
}

// Beside the sums, threads have the pixels whose patches they copy.
TEST(WarpgroupTile, GroupsKeepTheirSumsOfPatchesInRegisters) {
  if (!HasAssembler()) GTEST_SKIP() << kNoAssembler;
  for (const char* const function :
       {"fn (p0: Tensor[(8, 256, 14, 14), bfloat16], const p1: Tensor[(256, 256, 3, 3), bfloat16]) "
        "{ nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }",
        "fn (p0: Tensor[(8, 1024, 14, 14), bfloat16], const p1: Tensor[(512, 1024, 1, 1), "
        "bfloat16], p2: Tensor[(8, 512, 7, 7), bfloat16]) { %0 = nn.conv2d(p0, p1, strides=[2, "
        "2]); "
        "%1 = add(%0, p2); nn.relu(%1) }"}) {
    const StrategyKernel kernel(function, kHopperArch, kGroupStrategy, /*channels_last=*/true);
    for (const schedule::Config& config : kernel.Configs(10)) {
      ExpectGroupSumsInRegisters(kernel, config);
    }
  }
}

}  // namespace
}  // namespace hone::codegen
