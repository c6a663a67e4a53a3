// Kernels by the strategy of tensor cores, from the operator to the code: it gives what the
// interpreter does, and keeps its sums in registers.
#include <string>

#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/ptx/assembler.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"
#include "tests/compiler/codegen/ptx/strategy_kernel.h"

namespace hone::codegen {
namespace {

constexpr char kStrategy[] = "warp_tile";
// A step of bfloat16, to which a sum just beside the middle of two may be rounded otherwise.
constexpr double kBFloat16Step = 8e-3;

constexpr const char* kSmall[] = {
    "fn (p0: Tensor[(32, 32), bfloat16], const p1: Tensor[(32, 32), bfloat16]) { %0 = sigmoid(p0); "
    "nn.dense(%0, p1) }",
    "fn (p0: Tensor[(4, 8, 32), bfloat16], const p1: Tensor[(32, 32), bfloat16]) { %0 = "
    "reshape(p0, "
    "newshape=[32, 32]); nn.dense(%0, p1) }",
    "fn (p0: Tensor[(64, 64), bfloat16], const p1: Tensor[(48, 64), bfloat16], const p2: "
    "Tensor[(48,), bfloat16]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(2, 16, 32), bfloat16], p1: Tensor[(2, 32, 32), bfloat16]) { "
    "nn.batch_matmul(p0, p1) }",
    "fn (p0: Tensor[(1, 16, 8, 8), float16], const p1: Tensor[(32, 16, 1, 1), float16]) { %0 = "
    "nn.conv2d(p0, p1); sigmoid(%0) }",
    "fn (p0: Tensor[(1, 32, 4, 16), bfloat16], const p1: Tensor[(16, 32, 3, 3), bfloat16]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(2, 16, 8, 16), bfloat16], const p1: Tensor[(16, 16, 3, 3), bfloat16]) { "
    "nn.conv2d(p0, p1, strides=[2, 2], padding=[1, 1, 1, 1]) }",
    // Tiles do not divide the rows or columns of these.
    "fn (p0: Tensor[(2, 20, 32), float16], p1: Tensor[(2, 21, 32), float16]) { nn.batch_matmul(p0, "
    "p1) }",
    "fn (p0: Tensor[(1, 32, 7, 7), bfloat16], const p1: Tensor[(32, 32, 3, 3), bfloat16]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
};

// Float32 in rows of terms and in images, with what follows the sums, parts of them, and tails.
constexpr const char* kSmallFloat32[] = {
    "fn (p0: Tensor[(64, 64), float32], const p1: Tensor[(48, 64), float32], const p2: "
    "Tensor[(48,), float32]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(2, 20, 40), float32], p1: Tensor[(2, 21, 40), float32]) { nn.batch_matmul(p0, "
    "p1) }",
    "fn (p0: Tensor[(16, 256), float32], const p1: Tensor[(24, 256), float32]) { %0 = sigmoid(p0); "
    "nn.dense(%0, p1) }",
    "fn (p0: Tensor[(1, 24, 8, 8), float32], const p1: Tensor[(32, 24, 1, 1), float32]) { %0 = "
    "nn.conv2d(p0, p1); sigmoid(%0) }",
    "fn (p0: Tensor[(1, 16, 7, 7), float32], const p1: Tensor[(16, 16, 3, 3), float32]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(2, 16, 8, 16), float32], const p1: Tensor[(16, 16, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, strides=[2, 2], padding=[1, 1, 1, 1]) }",
};

constexpr const char* kLargeFloat32[] = {
    "fn (p0: Tensor[(1024, 1024), float32], const p1: Tensor[(1024, 1024), float32]) { "
    "nn.dense(p0, p1) }",
    "fn (p0: Tensor[(8, 128, 28, 28), float32], const p1: Tensor[(128, 128, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }",
};

constexpr const char* kLarge[] = {
    "fn (p0: Tensor[(1024, 1024), bfloat16], const p1: Tensor[(1024, 1024), bfloat16]) { "
    "nn.dense(p0, p1) }",
    "fn (p0: Tensor[(8, 64, 56, 56), bfloat16], const p1: Tensor[(64, 64, 3, 3), bfloat16]) { "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }",
    "fn (p0: Tensor[(1, 256, 14, 14), bfloat16], const p1: Tensor[(256, 256, 3, 3), bfloat16]) { "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }",
};

// Whole vectors of both factors, and nothing else, go to shared memory without registers.
void ExpectCopiesAhead(const loop::Nest& nest, const std::string& target) {
  const std::string ptx = PtxOf(nest, target);
  EXPECT_GT(Count(ptx, "cp.async.cg.shared.global"), 0) << ptx;
  EXPECT_EQ(Count(ptx, "st.shared.v4"), 0) << ptx;
  EXPECT_GT(Count(ptx, "cp.async.wait_group"), 0) << ptx;
}

TEST(WarpTile, CopiesOfNeighbouringTermsRunAhead) {
  const StrategyKernel product(kLarge[0], "sm_80", kStrategy);
  bool has_slots = false;
  for (const schedule::Config& config : product.Configs(8)) {
    ASSERT_TRUE(config.Has("slots")) << config.ToText();
    if (config.Int("slots") == 1) continue;
    SCOPED_TRACE(config.ToText());
    ExpectCopiesAhead(product.NestOf(config), product.target());
    has_slots = true;
  }
  EXPECT_TRUE(has_slots);
}

void ExpectCodeOfInterpreter(const StrategyKernel& kernel, const std::string& function) {
  for (const schedule::Config& config : kernel.Configs(3)) {
    SCOPED_TRACE(function + config.ToText());
    const loop::Nest nest = kernel.NestOf(config);
    EXPECT_GT(Count(PtxOf(nest, kernel.target()), "mma.sync"), 0);
    EXPECT_GT(Count(PtxOf(nest, kernel.target()), "ldmatrix"), 0);
    if (config.Has("slots") && config.Int("slots") > 1) ExpectCopiesAhead(nest, kernel.target());
    ExpectCudaSameAsInterpreter(nest, kernel.target(), kBFloat16Step);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(WarpTile, CodeGivesWhatTheInterpreterDoes) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const char* const function : kSmall) {
    ExpectCodeOfInterpreter({function, "sm_80", kStrategy}, function);
    if (HasFailure()) return;
  }
}

// Few results are far below the largest term, and sums of some hundred terms differ in their order.
constexpr double kFloat32Step = 1e-5;

TEST(WarpTile, CodeOfFloat32GivesWhatTheInterpreterDoes) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const char* const function : kSmallFloat32) {
    const StrategyKernel kernel(function, "sm_80", kStrategy);
    for (const schedule::Config& config : kernel.Configs(3)) {
      SCOPED_TRACE(function + config.ToText());
      const loop::Nest nest = kernel.NestOf(config);
      const std::string ptx = PtxOf(nest, kernel.target());
      EXPECT_GT(Count(ptx, "mma.sync.aligned.m16n8k8"), 0) << ptx;
      EXPECT_GT(Count(ptx, "ldmatrix"), 0) << ptx;
      if (config.Has("slots") && config.Int("slots") > 1) EXPECT_GT(Count(ptx, "cp.async.c"), 0);
      ExpectCudaSameAsInterpreter(nest, kernel.target(), kFloat32Step);
      if (HasFailure()) return;
    }
  }
}

TEST(WarpTile, CodeOfChannelsThatComeLast) {
  HONE_SKIP_WITHOUT_CUDA();
  int kernels = 0;
  for (const char* const function : kSmall) {
    if (!StrategyKernel(function, "sm_80", kStrategy).CanBeChannelsLast()) continue;
    ExpectCodeOfInterpreter({function, "sm_80", kStrategy, /*channels_last=*/true}, function);
    if (HasFailure()) return;
    ++kernels;
  }
  EXPECT_GE(kernels, 4);
}

// A few values, where the assembler would have a thread of few registers.
constexpr int kMostSpilledBytes = 64;

void ExpectSumsInRegisters(const StrategyKernel& kernel, const std::string& function,
                           const std::string& arch) {
  std::vector<schedule::Config> configs = kernel.Configs(4);
  configs.push_back(schedule::DefaultOfTask(kernel.task()));
  EXPECT_EQ(configs.back().String("strategy"), kStrategy) << function;
  for (const schedule::Config& config : configs) {
    SCOPED_TRACE(function + config.ToText());
    const std::string ptx = PtxOf(kernel.NestOf(config), kernel.target());
    EXPECT_LE(SpilledBytes(AssemblerLog(ptx, arch)), kMostSpilledBytes);
  }
}

TEST(WarpTile, SumsOfFloat32StayInRegisters) {
  if (!HasAssembler()) GTEST_SKIP() << kNoAssembler;
  for (const char* const arch : {"sm_80", "sm_90a"}) {
    for (const char* const function : kLargeFloat32) {
      ExpectSumsInRegisters({function, arch, kStrategy}, function, arch);
    }
  }
}

TEST(WarpTile, SumsStayInRegisters) {
  if (!HasAssembler()) GTEST_SKIP() << kNoAssembler;
  for (const char* const arch : {"sm_80", "sm_90"}) {
    for (const char* const function : kLarge) {
      for (const bool channels_last : {false, true}) {
        const StrategyKernel kernel(function, arch, kStrategy, channels_last);
        if (channels_last && !kernel.CanBeChannelsLast()) continue;
        ExpectSumsInRegisters(kernel, function, arch);
      }
    }
  }
}

}  // namespace
}  // namespace hone::codegen
