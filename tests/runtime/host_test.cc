#include "runtime/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "runtime/host_cpu.h"
#include "runtime/target_text.h"

namespace hone {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Leaves = std::map<std::pair<uint32_t, uint32_t>, CpuidRegisters>;

constexpr uint64_t kVectorState = 0xE7;
constexpr uint64_t kTileState = 0x60000;

CpuidSource Machine(const Leaves& leaves, uint64_t enabled_state) {
  return {[leaves](uint32_t leaf, uint32_t subleaf) {
            const auto found = leaves.find({leaf, subleaf});
            return found == leaves.end() ? CpuidRegisters{} : found->second;
          },
          enabled_state, /*lends_tiles=*/true};
}

// A Zen 5 server, as it describes itself.
Leaves Zen5() {
  return {
      {{0, 0}, {0x1C, 0x68747541, 0x444D4163, 0x69746E65}},
      {{1, 0}, {0x00B00F21, 0, 0xFFFFFFFF, 0xFFFFFFFF}},
      {{7, 0}, {1, 0xF1BF07AB, 0x405FCE, 0x10}},
      {{7, 1}, {0x30, 0, 0, 0}},
      {{0x80000001, 0}, {0, 0, 0x20, 0}},
      {{0x8000001D, 0}, {0x121, (11 << 22) | 63, 63, 0}},
      {{0x8000001D, 1}, {0x122, (7 << 22) | 63, 63, 0}},
      {{0x8000001D, 2}, {0x143, (15 << 22) | 63, 1023, 0}},
      {{0x8000001D, 3}, {0x163, (15 << 22) | 63, 32767, 0}},
  };
}

TEST(HostTest, NamesAKnownProcessorAndItsCaches) {
  const HostCpu host = DescribeX86(Machine(Zen5(), kVectorState));
  EXPECT_EQ(host.cpu, "znver5");
  EXPECT_THAT(host.features, Contains("avx512bf16"));
  EXPECT_THAT(host.features, Not(Contains("amx-tile")));
  EXPECT_EQ(host.cache_bytes, (std::array<int64_t, 3>{49152, 1 << 20, 32 << 20}));
}

TEST(HostTest, LeavesOutWhatTheSystemDoesNotSave) {
  const HostCpu host = DescribeX86(Machine(Zen5(), 0x7));
  EXPECT_THAT(host.features, Not(Contains(HasSubstr("avx512"))));
  EXPECT_EQ(host.cpu, "x86-64-v3");
  EXPECT_EQ(DescribeX86(Machine(Zen5(), 0)).cpu, "x86-64-v2");
}

TEST(HostTest, TakesALevelWhereFeaturesOfTheNameAreHidden) {
  Leaves leaves = Zen5();
  leaves[{7, 1}] = {};  // no bf16, no avxvnni
  EXPECT_EQ(DescribeX86(Machine(leaves, kVectorState)).cpu, "x86-64-v4");
  leaves[{7, 1}] = {0x20, 0, 0, 0};  // bf16 alone
  EXPECT_EQ(DescribeX86(Machine(leaves, kVectorState)).cpu, "znver4");
}

// An Intel server core behind a hypervisor that gives it the number of a Rocket Lake.
Leaves SapphireRapids() {
  Leaves leaves = Zen5();
  leaves[{0, 0}] = {0x1C, 0x756E6547, 0x6C65746E, 0x49656E69};
  leaves[{1, 0}].eax = 0x000A0671;
  leaves[{7, 0}].edx |= 1 << 22 | 1 << 23 | 1 << 24 | 1 << 25;
  return leaves;
}

TEST(HostTest, TakesAnOlderServerCoreWhereFeaturesOfTheNameAreHidden) {
  Leaves leaves = SapphireRapids();
  leaves[{1, 0}].eax = 0x000C06F2;  // an Emerald Rapids
  leaves[{7, 0}].edx &= ~(1u << 22 | 1u << 23 | 1u << 24 | 1u << 25);
  EXPECT_EQ(DescribeX86(Machine(leaves, kVectorState)).cpu, "icelake-server");
  leaves[{7, 0}].ecx &= ~(1u << 14);  // no population count of vectors
  EXPECT_EQ(DescribeX86(Machine(leaves, kVectorState)).cpu, "cascadelake");
  leaves[{7, 0}].ecx &= ~(1u << 11);  // no VNNI
  EXPECT_EQ(DescribeX86(Machine(leaves, kVectorState)).cpu, "skylake-avx512");
}

TEST(HostTest, NamesAServerCoreByWhatItHas) {
  const Leaves leaves = SapphireRapids();
  EXPECT_EQ(DescribeX86(Machine(leaves, kVectorState | kTileState)).cpu, "sapphirerapids");
  EXPECT_EQ(DescribeX86(Machine(leaves, kVectorState)).cpu, "rocketlake");
}

TEST(HostTest, LeavesOutTilesThatTheSystemSavesButDoesNotLend) {
  CpuidSource machine = Machine(SapphireRapids(), kVectorState | kTileState);
  EXPECT_THAT(DescribeX86(machine).features, Contains("amx-tile"));
  machine.lends_tiles = false;
  const HostCpu host = DescribeX86(machine);
  EXPECT_THAT(host.features, Not(Contains(HasSubstr("amx"))));
  EXPECT_THAT(host.features, Contains("avx512bf16"));
}

// Values of AT_HWCAP, as a kernel on an Ampere Altra (Neoverse N1) and on a Graviton 3 (Neoverse
// V1) tells them.
constexpr uint64_t kAltra = 0x119FFF;
constexpr uint64_t kGraviton3 = 0x7BFFFFFF;
constexpr uint64_t kGraviton3More = 0x41F000;  // of AT_HWCAP2: i8mm, bf16
constexpr uint64_t kNeoverseN1 = 0x413FD0C1;
constexpr uint64_t kNeoverseV1 = 0x411FD401;
constexpr uint64_t kNeoverseV2 = 0x410FD4F0;
constexpr uint64_t kNeoverseV3 = 0x410FD840;
constexpr uint64_t kCobalt100 = 0x6D0FD490;  // a Neoverse N2 with Microsoft as its implementer
constexpr uint64_t kSve2 = 0x2;              // of AT_HWCAP2

TEST(HostTest, NamesFeaturesOfArm) {
  EXPECT_THAT(DescribeArm({.hwcap = 0x1 | 0x2}).features, ElementsAre("fp-armv8", "neon"));
  EXPECT_THAT(DescribeArm({kAltra, 0, kNeoverseN1}).features,
              ElementsAre("crc", "dotprod", "fp-armv8", "fullfp16", "lse", "neon"));
  EXPECT_THAT(
      DescribeArm({kGraviton3, kGraviton3More, kNeoverseV1}).features,
      ElementsAre("bf16", "crc", "dotprod", "fp-armv8", "fullfp16", "i8mm", "lse", "neon", "sve"));
  EXPECT_THAT(DescribeArm({.hwcap2 = 0x2}).features, ElementsAre("sve2"));
}

TEST(HostTest, NamesArmCoresOfWhichAllIsThere) {
  EXPECT_EQ(DescribeArm({kAltra, 0, kNeoverseN1}).cpu, "neoverse-n1");
  EXPECT_EQ(DescribeArm({kGraviton3, kGraviton3More, kNeoverseV1}).cpu, "neoverse-v1");
  EXPECT_EQ(DescribeArm({kGraviton3, kGraviton3More | kSve2, kNeoverseV2}).cpu, "neoverse-v2");
  EXPECT_EQ(DescribeArm({kGraviton3, kGraviton3More | kSve2, kNeoverseV3}).cpu, "neoverse-v3");
  EXPECT_EQ(DescribeArm({kGraviton3, kGraviton3More | kSve2, kCobalt100}).cpu, "neoverse-n2");
  // A system without SVE: code for the name would use it.
  for (const uint64_t midr : {kNeoverseV1, kNeoverseV3, kCobalt100}) {
    EXPECT_EQ(DescribeArm({kAltra, kGraviton3More, midr}).cpu, "neoverse-n1");
  }
  EXPECT_EQ(DescribeArm({0x3, 0, kNeoverseV1}).cpu, "generic");
  EXPECT_EQ(DescribeArm({0x83, 0, 0x410FD083}).cpu, "cortex-a72");
  EXPECT_EQ(DescribeArm({kAltra, 0, 0x000F0510}).cpu, "generic");  // qemu's own
  EXPECT_EQ(DescribeArm({kAltra, 0, 0}).cpu, "generic");
  EXPECT_EQ(DescribeArm({kAltra, 0, kNeoverseN1}).triple, "aarch64-linux-gnu");
}

TEST(HostTest, FeaturesAloneAreThoseOfTheDescription) {
  EXPECT_EQ(HostFeatures(), DescribeHost().features);
}

TEST(HostTest, SaysWhatCodeOfOthersItCannotRun) {
  const std::string own = HostTargetText(1);
  EXPECT_EQ(MissingOnHost(own), "");
  EXPECT_EQ(MissingOnHost("llvm -mtriple=s390x-linux-gnu -mcpu=z14"), "s390x-linux-gnu");
  EXPECT_EQ(MissingOnHost(own, !IsEmulated()), IsEmulated() ? "emulator" : "processor of its own");
  EXPECT_EQ(MissingOnHost(AsEmulated(own), /*is_emulated=*/true), "");
  EXPECT_EQ(MissingOnHost(AsEmulated(own), /*is_emulated=*/false), "emulator");
  EXPECT_EQ(MissingOnHost("cuda -arch=sm_90"), "cuda");
  EXPECT_EQ(MissingOnHost("x86-64-v3"), "-mtriple");
  EXPECT_EQ(MissingOnHost(own.substr(0, own.find(" -mattr="))), "-mattr");
}

TEST(HostTest, TextIsCanonicalAndRepeats) {
  const std::string text = HostTargetText(3);
  EXPECT_EQ(text, HostTargetText(3));
  EXPECT_THAT(text, HasSubstr("llvm -mtriple="));
  EXPECT_THAT(text, HasSubstr(" -mcpu="));
  EXPECT_THAT(text, HasSubstr(" -mattr=+"));
  EXPECT_THAT(text, HasSubstr(" -caches="));
  EXPECT_TRUE(text.ends_with(" -threads=3"));
  EXPECT_GE(HostCoreCount(), 1);
}

}  // namespace
}  // namespace hone
