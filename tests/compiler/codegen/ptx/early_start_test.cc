// Kernels that may start before those ahead of them have ended: they wait before they touch memory
// that those may write, and say when those behind them may start.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop/parser.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/ptx/assembler.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"
#include "tests/compiler/codegen/ptx/strategy_kernel.h"

namespace hone::codegen {
namespace {

constexpr char kWait[] = "griddepcontrol.wait;";
constexpr char kStart[] = "griddepcontrol.launch_dependents;";

// Weights are laid out anew before the first run; a product follows, and then what has no sums.
loop::Nest NestOfThreeLaunches() {
  const auto nest = loop::ParseNest(R"(nest @layer {
input %x: float32[12, 40] NC
constant %w: float32[16, 40] NC
prepared %p: float32[40, 16] NC
workspace %s: float32[12, 16] NC
output %y: float32[12, 16] NC
prepare @pack {parallel k in 0..40 {for n in 0..16 {%p[k, n] = %w[n, k]}}}
run @product {parallel m in 0..3 {
  alloc register %t: float32[4, 16] NC {
    thread i in 0..4 {thread n in 0..16 {%t[i, n] = 0.0}}
    for r in 0..5 {alloc shared %a: float32[4, 8] NC {
      thread i1 in 0..4 {thread k1 in 0..8 {%a[i1, k1] = %x[m * 4 + i1, r * 8 + k1]}}
      thread i2 in 0..4 {thread n2 in 0..16 {for k2 in 0..8 {
        %t[i2, n2] = %t[i2, n2] + %a[i2, k2] * %p[r * 8 + k2, n2]}}}}}
    thread i3 in 0..4 {thread n3 in 0..16 {%s[m * 4 + i3, n3] = %t[i3, n3]}}}}}
run @relu {parallel m in 0..12 {parallel n in 0..16 {%y[m, n] = max(%s[m, n], 0.0)}}}
})");
  EXPECT_TRUE(nest.ok()) << nest.status();
  return nest.value_or(loop::Nest());
}

// The code of one entry.
std::string EntryOf(const std::string& ptx, const std::string& launch) {
  const size_t begin = ptx.find(".entry", ptx.rfind(".visible", ptx.find(launch + "(")));
  EXPECT_NE(begin, std::string::npos) << ptx;
  return begin == std::string::npos ? "" : ptx.substr(begin, ptx.find("\n}", begin) - begin);
}

TEST(EarlyStart, KernelsWaitBeforeTheyTouchMemory) {
  const std::string ptx = PtxOf(NestOfThreeLaunches(), "cuda -arch=sm_90a");
  for (const char* const launch : {"product", "relu"}) {
    const std::string code = EntryOf(ptx, launch);
    EXPECT_EQ(Count(code, kWait), 1) << code;
    EXPECT_LT(code.find(kWait), code.find("ld.global")) << code;
    EXPECT_LT(code.find(kWait), code.find("st.global")) << code;
  }
  EXPECT_EQ(Count(EntryOf(ptx, "pack"), "griddepcontrol"), 0);
}

TEST(EarlyStart, DependentsStartBetweenTheSumsAndTheirStores) {
  const std::string ptx = PtxOf(NestOfThreeLaunches(), "cuda -arch=sm_90a");
  const std::string product = EntryOf(ptx, "product");
  EXPECT_EQ(Count(product, kStart), 1) << product;
  EXPECT_GT(product.find(kStart), product.rfind("fma.rn.f32")) << product;
  EXPECT_LT(product.find(kStart), product.find("st.global")) << product;
  EXPECT_EQ(Count(EntryOf(ptx, "relu"), kStart), 0);
}

TEST(EarlyStart, DependentsStartOnceInAProductOfAnyStrategy) {
  for (const auto& [strategy, type] : {std::pair("thread_tile", "float32"),
                                       {"block_tile", "float32"},
                                       {"warp_tile", "bfloat16"},
                                       {"warpgroup_tile", "bfloat16"}}) {
    const StrategyKernel kernel(
        fmt::format("fn (p0: Tensor[(128, 256), {0}], const p1: Tensor[(128, 256), {0}]) {{ "
                    "nn.dense(p0, p1) }}",
                    type),
        "sm_90a", strategy);
    for (const schedule::Config& config : kernel.Configs(3)) {
      const loop::Nest nest = kernel.NestOf(config);
      const std::string ptx = PtxOf(nest, kernel.target());
      // The second launch of a sum in parts adds few numbers, without a loop.
      EXPECT_EQ(Count(ptx, kStart), 1) << config.ToText() << ptx;
    }
  }
}

// What the launch ahead writes is no constant of the kernel, which may be loaded before the wait,
// by caches that do not see writes.
TEST(EarlyStart, OnlyParametersAreLoadedAsConstants) {
  const std::string ptx = PtxOf(NestOfThreeLaunches(), "cuda -arch=sm_90");
  const std::string product = EntryOf(ptx, "product");
  EXPECT_GT(Count(product, "ld.global.nc"), 0) << product;
  EXPECT_GT(Count(product, "ld.global.f32"), 0) << product;
  EXPECT_EQ(Count(EntryOf(ptx, "relu"), "ld.global.nc"), 0) << ptx;
  EXPECT_GT(Count(EntryOf(PtxOf(NestOfThreeLaunches(), kAmpere), "relu"), "ld.global.nc"), 0);
}

TEST(EarlyStart, IsSaidInTheTableAndKnownSinceHopper) {
  const auto flags_of = [](const std::string& target) {
    const auto elf = BuildModule(ArtifactOf(NestOfThreeLaunches(), *Target::Parse(target)));
    EXPECT_TRUE(elf.ok()) << elf.status();
    const LoadedModule module(elf.value_or(""));
    std::vector<uint32_t> flags;
    for (uint32_t i = 0; i < 3; ++i) flags.push_back(module->kernels[0].launches[i].flags);
    return flags;
  };
  const std::vector<uint32_t> wait = {0, HONE_LAUNCH_WAITS, HONE_LAUNCH_WAITS};
  EXPECT_EQ(flags_of("cuda -arch=sm_90a"), wait);
  EXPECT_EQ(flags_of("cuda -arch=sm_120"), wait);
  EXPECT_EQ(flags_of("cuda -arch=sm_80"), std::vector<uint32_t>(3, 0));
  EXPECT_EQ(Count(PtxOf(NestOfThreeLaunches(), "cuda -arch=sm_80"), "griddepcontrol"), 0);
}

TEST(EarlyStart, CodeAssemblesAndGivesWhatTheInterpreterDoes) {
  if (HasAssembler()) {
    for (const char* const arch : {"sm_90", "sm_90a"}) {
      AssemblerLog(PtxOf(NestOfThreeLaunches(), std::string("cuda -arch=") + arch), arch);
    }
  }
  HONE_SKIP_WITHOUT_CUDA();
  ExpectCudaSameAsInterpreter(NestOfThreeLaunches(), "cuda -arch=sm_90a", 1e-5);
}

}  // namespace
}  // namespace hone::codegen
