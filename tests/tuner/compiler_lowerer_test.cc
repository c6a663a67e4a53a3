// What the daemon asks of the compiler.
#include "tuner/compiler_lowerer.h"

#include <gtest/gtest.h>

namespace hone::tuner {
namespace {

TEST(CompilerLowerer, ConfigsHoldWhereVectorsRegistersAndThreadsAreTheSame) {
  const CompilerLowerer lowerer;
  const std::string avx2 = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=2";
  const std::string avx512 = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2";
  const std::string zen3 = "llvm -mtriple=x86_64-linux-gnu -mcpu=znver3 -threads=2";
  const std::string single = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1";
  EXPECT_TRUE(lowerer.IsCompatible(avx2, zen3));
  EXPECT_FALSE(lowerer.IsCompatible(avx2, avx512));
  EXPECT_FALSE(lowerer.IsCompatible(avx2, single));
  EXPECT_FALSE(lowerer.IsCompatible(avx2, "nonsense"));
}

}  // namespace
}  // namespace hone::tuner
