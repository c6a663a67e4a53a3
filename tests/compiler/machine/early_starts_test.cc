#include "compiler/machine/early_starts.h"

#include "gtest/gtest.h"

namespace hone::machine {
namespace {

TEST(EarlyStarts, AreThoseOfHopperAndLaterGpus) {
  for (const char* const target :
       {"cuda -arch=sm_90", "cuda -arch=sm_90a", "cuda -arch=sm_100", "cuda -arch=sm_120"}) {
    EXPECT_TRUE(StartsEarly(*Target::Parse(target))) << target;
  }
  for (const char* const target :
       {"cuda -arch=sm_75", "cuda -arch=sm_80", "cuda -arch=sm_89", "opencl -device=any",
        "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids"}) {
    EXPECT_FALSE(StartsEarly(*Target::Parse(target))) << target;
  }
}

}  // namespace
}  // namespace hone::machine
