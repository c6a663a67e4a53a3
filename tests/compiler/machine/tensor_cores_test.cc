#include "compiler/machine/tensor_cores.h"

#include "gtest/gtest.h"

namespace hone::machine {
namespace {

TensorCores CoresOf(const std::string& target) { return TensorCores::Of(*Target::Parse(target)); }

TEST(TensorCores, AreUsedFromAmpereOn) {
  for (const char* const target : {"cuda -arch=sm_80", "cuda -arch=sm_90a", "cuda -arch=sm_120"}) {
    EXPECT_TRUE(CoresOf(target).Takes(DataType::kBFloat16)) << target;
    EXPECT_TRUE(CoresOf(target).Takes(DataType::kFloat16)) << target;
    EXPECT_FALSE(CoresOf(target).Takes(DataType::kFloat32)) << target;
    EXPECT_FALSE(CoresOf(target).Takes(DataType::kInt8)) << target;
  }
  for (const char* const target : {"cuda -arch=sm_70", "cuda -arch=sm_75", "opencl -device=any",
                                   "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids"}) {
    EXPECT_TRUE(CoresOf(target).TakeNothing()) << target;
  }
}

// Those of sm_86 and sm_89 multiply TF32 no faster than their threads multiply float32.
TEST(TensorCores, OfAmpereAndHopperServersMultiplyTf32Fast) {
  for (const char* const target : {"cuda -arch=sm_80", "cuda -arch=sm_90", "cuda -arch=sm_90a"}) {
    EXPECT_TRUE(CoresOf(target).has_fast_tf32) << target;
  }
  for (const char* const target : {"cuda -arch=sm_75", "cuda -arch=sm_86", "cuda -arch=sm_89"}) {
    EXPECT_FALSE(CoresOf(target).has_fast_tf32) << target;
  }
}

TEST(TensorCores, OfHopperAloneMultiplyByWarpgroups) {
  EXPECT_TRUE(CoresOf("cuda -arch=sm_90a").has_warpgroups);
  for (const char* const target : {"cuda -arch=sm_80", "cuda -arch=sm_90", "cuda -arch=sm_120"}) {
    EXPECT_FALSE(CoresOf(target).has_warpgroups) << target;
  }
}

}  // namespace
}  // namespace hone::machine
