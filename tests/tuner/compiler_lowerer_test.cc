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
  EXPECT_FALSE(lowerer.IsCompatible(avx2, zen3 + " -emulated=yes")) << "no figure of a real one";
  EXPECT_FALSE(lowerer.IsCompatible(avx2, "nonsense"));
}

TEST(CompilerLowerer, TasksOfEveryKindOfTargetAreOpened) {
  CompilerLowerer lowerer;
  for (const char* target : {"llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1",
                             "cuda -arch=sm_90", "opencl -device=pocl"}) {
    const auto context = lowerer.Open(
        "fn (p0: Tensor[(32, 64), float32]) { nn.relu(p0) } accumulate=float32 numerics=default",
        "NC->NC", Target::Parse(target)->ToString());
    EXPECT_TRUE(context.ok()) << context.status();
  }
}

TEST(CompilerLowerer, AnOpenTaskServesOthersAsLongAsMicroKernelsAreTheSame) {
  using schedule::MicroKernelTimes;
  const std::string target =
      CpuTarget::Parse("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3")->ToString();
  std::shared_ptr<const MicroKernelTimes> measured;
  CompilerLowerer lowerer([&](const CpuTarget&) { return measured; });
  const auto open = [&] {
    return lowerer
        .Open(
            "fn (p0: Tensor[(32, 64), float32], const p1: Tensor[(96, 64), float32]) { "
            "nn.dense(p0, p1) } accumulate=float32 numerics=default",
            "NC->NC", target)
        .value();
  };
  const auto before = open();
  EXPECT_EQ(open(), before);
  const MicroKernelTimes::ByTile tiles = {{{1, 4}, 4.0}, {{2, 4}, 4.0}};
  measured = std::make_shared<const MicroKernelTimes>(tiles);
  const auto with_tiles = open();
  EXPECT_NE(with_tiles, before);
  measured = std::make_shared<const MicroKernelTimes>(tiles);  // read again
  EXPECT_EQ(open(), with_tiles);
  measured = std::make_shared<const MicroKernelTimes>(tiles, 5);
  EXPECT_NE(open(), with_tiles);
}

}  // namespace
}  // namespace hone::tuner
