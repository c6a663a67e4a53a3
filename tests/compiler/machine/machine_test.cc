#include "compiler/machine/machine.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone::machine {
namespace {

Machine MachineOf(const std::string& flags) {
  return Machine::For(*CpuTarget::Parse("llvm " + flags));
}

TEST(Machine, TakesSizesAndThreadsFromTheTarget) {
  const Machine machine = MachineOf("-mcpu=znver5 -caches=49152,1048576,33554432 -threads=2");
  EXPECT_EQ(machine.memory.l1.size_bytes, 49152);
  EXPECT_EQ(machine.memory.l2.size_bytes, 1048576);
  EXPECT_EQ(machine.memory.l3.size_bytes, 33554432);
  EXPECT_EQ(machine.memory.dram.size_bytes, 0) << "no bound";
  EXPECT_EQ(machine.memory.l2.shared_by, SharedBy::kCore);
  EXPECT_EQ(machine.memory.l3.shared_by, SharedBy::kAllCores);
  EXPECT_THAT(machine.parallel,
              testing::ElementsAre(ParallelLevel{.kind = ParallelKind::kThreads, .width = 2}));
  EXPECT_EQ(machine.Threads(), 2);
}

TEST(Machine, VectorsFollowFromTheFeatures) {
  const Machine wide = MachineOf("-mcpu=znver4");
  EXPECT_EQ(wide.vector.size_bytes, 64);
  EXPECT_EQ(wide.vector.registers, 32);
  EXPECT_EQ(wide.vector.FloatLanes(), 16);
  EXPECT_EQ(wide.vector.Lanes(DataType::kBFloat16), 32);
  const Machine narrow = MachineOf("-mcpu=x86-64-v3");
  EXPECT_EQ(narrow.vector.FloatLanes(), 8);
  EXPECT_EQ(narrow.vector.registers, 16);
  const Machine arm = MachineOf("-mtriple=aarch64-linux-gnu -mcpu=neoverse-v1");
  EXPECT_EQ(arm.vector.FloatLanes(), 4);
  EXPECT_EQ(arm.vector.registers, 32);
  EXPECT_FALSE(arm.vector.is_scalable) << "code for AArch64 uses NEON";
}

TEST(Machine, OnlyTargetsWithAmxHaveAMatrixUnit) {
  const MatrixUnit amx = MachineOf("-mcpu=sapphirerapids").matrix;
  EXPECT_TRUE(amx.Takes(DataType::kBFloat16));
  EXPECT_TRUE(amx.Takes(DataType::kUInt8));
  EXPECT_FALSE(amx.Takes(DataType::kFloat32));
  EXPECT_EQ(amx.tile.SumLanes(), 16);
  const MatrixUnit none = MachineOf("-mcpu=znver5").matrix;
  EXPECT_FALSE(none.Takes(DataType::kBFloat16));
  EXPECT_FALSE(none.Takes(DataType::kInt8));
}

TEST(Machine, DotProductsOfBFloat16AreFasterWhereTheyWereMeasuredToBe) {
  EXPECT_EQ(MachineOf("-mcpu=znver4").issue.bfloat16_dot_rate, 2);
  EXPECT_EQ(MachineOf("-mcpu=znver5").issue.bfloat16_dot_rate, 2);
  EXPECT_EQ(MachineOf("-mcpu=znver3").issue.bfloat16_dot_rate, 1) << "has none";
  EXPECT_EQ(MachineOf("-mcpu=sapphirerapids").issue.bfloat16_dot_rate, 1);
  EXPECT_EQ(MachineOf("-mtriple=aarch64-linux-gnu -mcpu=neoverse-v1").issue.bfloat16_dot_rate, 2);
  EXPECT_EQ(MachineOf("-mtriple=aarch64-linux-gnu -mcpu=neoverse-n1").issue.bfloat16_dot_rate, 1);
}

TEST(Machine, SomeLastLevelCachesAreSlowerThanTheRule) {
  EXPECT_EQ(MachineOf("-mcpu=icelake-server").memory.l3.stream_bytes_a_cycle, 5);
  EXPECT_EQ(MachineOf("-mcpu=icelake-client").memory.l3.stream_bytes_a_cycle, std::nullopt);
  EXPECT_EQ(MachineOf("-mcpu=znver4").memory.l3.stream_bytes_a_cycle, std::nullopt);
}

TEST(Machine, OfGpusHasAGridOfScalarThreads) {
  const std::pair<const char*, int64_t> targets[] = {
      {"cuda -arch=sm_90 -multiprocessors=132", 48 << 10},
      {"opencl -device=arm-mali-g78 -max-threads=1024 -compute-units=132", 32 << 10},
      {"opencl -device=arm-mali-g78 -max-threads=1024 -local=65536 -compute-units=132", 65536}};
  for (const auto& [text, shared_bytes] : targets) {
    const Machine machine = Machine::For(*Target::Parse(text));
    EXPECT_TRUE(machine.HasGrid()) << text;
    EXPECT_THAT(machine.parallel,
                testing::ElementsAre(ParallelLevel{.kind = ParallelKind::kGrid, .width = 132},
                                     ParallelLevel{.kind = ParallelKind::kBlock,
                                                   .width = 1024,
                                                   .shared_bytes = shared_bytes}));
    EXPECT_EQ(machine.vector.FloatLanes(), 1) << text;
    EXPECT_FALSE(machine.matrix.Takes(DataType::kBFloat16)) << text;
  }
  const Machine cpu = Machine::For(*Target::Parse("llvm -mcpu=znver4 -threads=2"));
  EXPECT_FALSE(cpu.HasGrid());
  EXPECT_EQ(cpu.Threads(), 2);
}

TEST(Machine, ClockIsTheSameInBothUnits) {
  const Machine machine;
  EXPECT_EQ(machine.ClockHertz(), 3.5e9);
}

}  // namespace
}  // namespace hone::machine
