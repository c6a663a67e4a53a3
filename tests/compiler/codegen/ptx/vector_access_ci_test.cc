// Threads store whole vectors of 16 bytes to global memory, and load such from there, in kernels of
// all strategies whose results have long enough rows.
#include <string>

#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"
#include "tests/compiler/codegen/ptx/strategy_kernel.h"

namespace hone::codegen {
namespace {

struct VectorCase {
  const char* strategy;
  const char* arch;
  const char* function;
  bool channels_last = false;
};

// Each with an epilogue that loads a bias, a residual or both.
constexpr VectorCase kVectorCases[] = {
    {"warp_tile", "sm_80",
     "fn (p0: Tensor[(64, 64), bfloat16], const p1: Tensor[(48, 64), bfloat16], const p2: "
     "Tensor[(48,), bfloat16], p3: Tensor[(64, 48), bfloat16]) { %0 = nn.dense(p0, p1); %1 = "
     "add(%0, p2); %2 = add(%1, p3); nn.relu(%2) }"},
    {"warp_tile", "sm_80",
     "fn (p0: Tensor[(64, 64), float16], const p1: Tensor[(48, 64), float16], const p2: "
     "Tensor[(48,), float16]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); sigmoid(%1) }"},
    {"warp_tile", "sm_80",
     "fn (p0: Tensor[(64, 64), float32], const p1: Tensor[(48, 64), float32], const p2: "
     "Tensor[(48,), float32], p3: Tensor[(64, 48), float32]) { %0 = nn.dense(p0, p1); %1 = "
     "add(%0, p2); %2 = add(%1, p3); nn.relu(%2) }"},
    {"warp_tile", "sm_80",
     "fn (p0: Tensor[(1, 32, 4, 16), bfloat16], const p1: Tensor[(16, 32, 3, 3), bfloat16], p2: "
     "Tensor[(1, 16, 4, 16), bfloat16]) { %0 = nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); %1 = "
     "add(%0, p2); nn.relu(%1) }"},
    // Sums whose columns are pixels, stored along channels.
    {"warp_tile", "sm_80",
     "fn (p0: Tensor[(1, 32, 7, 7), bfloat16], const p1: Tensor[(32, 32, 3, 3), bfloat16], const "
     "p2: Tensor[(32, 1, 1), bfloat16]) { %0 = nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); %1 = "
     "add(%0, p2); nn.relu(%1) }",
     /*channels_last=*/true},
    // The last rows and columns are no whole tiles.
    {"warpgroup_tile", "sm_90a",
     "fn (p0: Tensor[(50, 128), bfloat16], const p1: Tensor[(104, 128), bfloat16], const p2: "
     "Tensor[(104,), bfloat16]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }"},
    {"warpgroup_tile", "sm_90a",
     "fn (p0: Tensor[(2, 64, 7, 7), bfloat16], const p1: Tensor[(64, 64, 1, 1), bfloat16], p2: "
     "Tensor[(2, 64, 7, 7), bfloat16]) { %0 = nn.conv2d(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
     /*channels_last=*/true},
};

int NarrowStores(const std::string& ptx) {
  return Count(ptx, "st.global.") - Count(ptx, "st.global.v4.b32") - Count(ptx, "st.global.v4.f32");
}

int NarrowLoads(const std::string& ptx) {
  int loads = Count(ptx, "ld.global.");
  for (const char* const cache : {"", "nc."}) {
    for (const char* const type : {"u32", "b32", "f32"}) {
      loads -= Count(ptx, std::string("ld.global.") + cache + "v4." + type);
    }
  }
  return loads;
}

// The part of the code in which threads compute what follows the sums.
std::string EpilogueOf(const std::string& ptx) {
  const size_t last_product = ptx.rfind("mma");
  return last_product == std::string::npos ? ptx : ptx.substr(last_product);
}

TEST(VectorAccess, EpiloguesLoadAndStoreSixteenBytes) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const VectorCase& c : kVectorCases) {
    const StrategyKernel kernel(c.function, c.arch, c.strategy, c.channels_last);
    for (const schedule::Config& config : kernel.Configs(2)) {
      if (config.Has("parts") && config.Int("parts") > 1) continue;
      SCOPED_TRACE(c.function + config.ToText());
      const loop::Nest nest = kernel.NestOf(config);
      const std::string ptx = EpilogueOf(PtxOf(nest, kernel.target()));
      EXPECT_GT(Count(ptx, "st.global.v4"), 0) << ptx;
      EXPECT_EQ(NarrowStores(ptx), 0) << ptx;
      EXPECT_EQ(NarrowLoads(ptx), 0) << ptx;
      constexpr double kStepOfBFloat16 = 8e-3;
      ExpectCudaSameAsInterpreter(nest, kernel.target(), kStepOfBFloat16);
      if (HasFailure()) return;
    }
  }
}

TEST(VectorAccess, PartsOfSumsAreVectors) {
  HONE_SKIP_WITHOUT_CUDA();
  const StrategyKernel kernel(
      "fn (p0: Tensor[(128, 256), bfloat16], const p1: Tensor[(64, 256), bfloat16], const p2: "
      "Tensor[(64,), bfloat16]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
      "sm_90a", "warpgroup_tile");
  const auto config = schedule::Config::Parse(
      R"({"parts":2,"slots":2,"strategy":"warpgroup_tile","tile_columns":64,"warpgroups":1})");
  ASSERT_TRUE(config.ok()) << config.status();
  const std::string ptx = PtxOf(kernel.NestOf(*config), kernel.target());
  EXPECT_GT(Count(ptx, "st.global.v4.f32"), 0) << ptx;
  EXPECT_EQ(Count(ptx, "ld.global.v4.f32"), 2) << ptx;
  EXPECT_EQ(Count(ptx, "st.global.v4.b16"), 1) << ptx;
  EXPECT_EQ(Count(ptx, "st.global.f32") + Count(ptx, "st.global.b16"), 0) << ptx;
}

// Without sums a thread has one vector of results where the machine gets threads enough.
TEST(VectorAccess, ElementsAreComputedByVectors) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const char* const type : {"float32", "bfloat16", "float16"}) {
    const std::string function = std::string("fn (p0: Tensor[(64, 256), ") + type +
                                 "], p1: Tensor[(256,), " + type +
                                 "]) { %0 = add(p0, p1); %1 = sigmoid(%0); multiply(%1, p0) }";
    SCOPED_TRACE(function);
    const StrategyKernel kernel(function, "sm_80", "thread_tile");
    const loop::Nest nest = kernel.NestOf(schedule::DefaultOfTask(kernel.task()));
    const std::string ptx = PtxOf(nest, kernel.target());
    EXPECT_EQ(Count(ptx, "st.global.v4"), 1) << ptx;
    EXPECT_EQ(NarrowStores(ptx), 0) << ptx;
    EXPECT_EQ(NarrowLoads(ptx), 0) << ptx;
    ExpectCudaSameAsInterpreter(nest, kernel.target(), 8e-3);
  }
}

// What each operator and type comes to as vectors.
TEST(VectorAccess, VectorsOfAnyTypeAndOperatorAreRight) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const char* const function :
       {"fn (p0: Tensor[(64, 2048), int8], p1: Tensor[(2048,), int8]) { %0 = add(p0, p1); "
        "maximum(%0, p0) }",
        "fn (p0: Tensor[(64, 2048), uint8]) { cast(p0, dtype=\"float32\") }",
        "fn (p0: Tensor[(64, 2048), float32]) { cast(p0, dtype=\"int8\") }",
        "fn (p0: Tensor[(64, 2048), int64], p1: Tensor[(64, 2048), int64]) { multiply(p0, p1) }",
        "fn (p0: Tensor[(64, 2048), float64]) { exp(p0) }",
        "fn (p0: Tensor[(64, 2048), float32], p1: Tensor[(64, 2048), float32]) { less(p0, p1) }",
        "fn (p0: Tensor[(64, 2048), bool], p1: Tensor[(64, 2048), bfloat16], p2: Tensor[(2048,), "
        "bfloat16]) { where(p0, p1, p2) }",
        "fn (p0: Tensor[(64, 2048), float32]) { %0 = sin(p0); %1 = tan(%0); erf(%1) }",
        "fn (p0: Tensor[(64, 2048), bfloat16]) { %0 = sin(p0); tanh(%0) }",
        "fn (p0: Tensor[(64, 2048), float32], p1: Tensor[(64, 2048), float32]) { %0 = abs(p0); "
        "power(%0, p1) }"}) {
    SCOPED_TRACE(function);
    const StrategyKernel kernel(function, "sm_80", "thread_tile");
    const loop::Nest nest = kernel.NestOf(schedule::DefaultOfTask(kernel.task()));
    ExpectCudaSameAsInterpreter(nest, kernel.target(), 8e-3);
    if (HasFailure()) return;
  }
}

// Each result takes hundreds of instructions.
TEST(VectorAccess, EpiloguesOfFunctionsAreNotWrittenOutForEachResult) {
  HONE_SKIP_WITHOUT_CUDA();
  const StrategyKernel kernel(
      "fn (p0: Tensor[(128, 128), bfloat16], const p1: Tensor[(256, 128), bfloat16]) { %0 = "
      "nn.dense(p0, p1); %1 = erf(%0); multiply(%1, %0) }",
      "sm_90a", "warpgroup_tile");
  const auto config = schedule::Config::Parse(
      R"({"slots":2,"strategy":"warpgroup_tile","tile_columns":256,"warpgroups":1})");
  ASSERT_TRUE(config.ok()) << config.status();
  const std::string ptx = EpilogueOf(PtxOf(kernel.NestOf(*config), kernel.target()));
  EXPECT_LE(Count(ptx, "st.global.v4"), 2) << ptx;
}

// Rows that no vector divides, and neighbours that are apart where they are loaded.
TEST(VectorAccess, OtherElementsAreComputedOneByOne) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const char* const function :
       {"fn (p0: Tensor[(256, 255), float32]) { nn.relu(p0) }",
        "fn (p0: Tensor[(64, 512), float32]) { strided_slice(p0, axes=[1], begin=[0], end=[512], "
        "strides=[2]) }"}) {
    SCOPED_TRACE(function);
    const StrategyKernel kernel(function, "sm_80", "thread_tile");
    const loop::Nest nest = kernel.NestOf(schedule::DefaultOfTask(kernel.task()));
    const std::string ptx = PtxOf(nest, kernel.target());
    EXPECT_EQ(Count(ptx, "st.global.f32"), 1) << ptx;
    ExpectCudaSameAsInterpreter(nest, kernel.target());
  }
}

}  // namespace
}  // namespace hone::codegen
