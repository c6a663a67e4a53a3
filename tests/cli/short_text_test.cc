#include "cli/short_text.h"

#include "gtest/gtest.h"

namespace hone::cli {
namespace {

TEST(ShortText, NamesAKernelByItsOperatorsAndItsFirstOperand) {
  EXPECT_EQ(ShortKernel("fn (p0: Tensor[(1, 64, 56, 56), float32], p1: Tensor[(64), float32]) { "
                        "%0 = nn.conv2d(p0, strides=(1, 1)); nn.relu(%0) }"),
            "nn.conv2d+nn.relu 1x64x56x56");
  EXPECT_EQ(ShortKernel("fn (p0: Tensor[(7), float32]) { e(d(c(b(a(p0))))) }"), "e+d+c+... 7");
  EXPECT_EQ(ShortKernel(""), "");
}

TEST(ShortText, NamesATargetByItsProcessorAndItsThreads) {
  EXPECT_EQ(ShortTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=znver5 -mattr=+avx -threads=4"),
            "znver5/4");
  EXPECT_EQ(ShortTarget("cuda -arch=sm_90"), "sm_90");
  EXPECT_EQ(ShortTarget("opencl -device=arm-mali-g78"), "arm-mali-g78");
  EXPECT_EQ(ShortTarget("llvm"), "llvm/1");
  EXPECT_EQ(ShortDevice("3fa9c0d2e1"), "3fa9c0d2");
}

}  // namespace
}  // namespace hone::cli
