#include "compiler/machine/cpus.h"

#include "gtest/gtest.h"
#include "runtime/cpus.h"

namespace hone::machine {
namespace {

TEST(CpuQuirks, EveryRowIsOfACpuThatTargetsMayName) {
  for (const CpuQuirks& row : AllQuirks()) {
    EXPECT_TRUE(FindCpu("x86_64-linux-gnu", row.cpu) || FindCpu("aarch64-linux-gnu", row.cpu))
        << row.cpu;
  }
}

TEST(CpuQuirks, EveryCpuHasAtMostOneRow) {
  for (const CpuQuirks& row : AllQuirks()) {
    int rows = 0;
    for (const CpuQuirks& other : AllQuirks()) rows += other.cpu == row.cpu ? 1 : 0;
    EXPECT_EQ(rows, 1) << row.cpu;
  }
}

TEST(CpuQuirks, OfACpuWithoutARowAreNone) {
  const CpuQuirks quirks = QuirksOf("x86-64-v3");
  EXPECT_EQ(quirks.cpu, "x86-64-v3");
  EXPECT_EQ(quirks.l3_stream_bytes_a_cycle, std::nullopt);
  EXPECT_EQ(quirks.bfloat16_dot_rate, 1);
  EXPECT_FALSE(quirks.adds_beside_multiplies);
}

TEST(CpuQuirks, OfZen4AreThoseMeasured) {
  EXPECT_TRUE(QuirksOf("znver4").adds_beside_multiplies);
  EXPECT_FALSE(QuirksOf("znver5").adds_beside_multiplies) << "not measured";
}

}  // namespace
}  // namespace hone::machine
