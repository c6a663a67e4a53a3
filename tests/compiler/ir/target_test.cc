#include "compiler/ir/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/compatible_targets.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "rapidcheck/gtest.h"
#include "runtime/cpus.h"
#include "runtime/host_cpu.h"
#include "runtime/target_text.h"

namespace hone {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

TEST(CpuTarget, TextIsCanonicalAndComesBack) {
  const auto target = CpuTarget::Parse(
      "llvm -threads=2 -mattr=+fma,+avx2 -mcpu=znver5 -caches=49152,1048576,33554432 "
      "-mtriple=x86_64-linux-gnu");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->ToString(),
            "llvm -mtriple=x86_64-linux-gnu -mcpu=znver5 -mattr=+avx2,+fma "
            "-caches=49152,1048576,33554432 -threads=2");
  EXPECT_EQ(*CpuTarget::Parse(target->ToString()), *target);
  EXPECT_EQ(target->VectorBytes(), 32);  // what the text says, not what a znver5 could
}

TEST(CpuTarget, CpusBringTheirFeatures) {
  EXPECT_EQ(CpuTarget::Parse("llvm -mcpu=x86-64-v4 -mtriple=x86_64-linux-gnu")->VectorLanes(), 16);
  EXPECT_EQ(CpuTarget::Parse("llvm -mcpu=haswell")->VectorLanes(), 8);
  EXPECT_EQ(CpuTarget::Parse("llvm -mcpu=x86-64-v2")->VectorLanes(), 4);
  EXPECT_TRUE(CpuTarget::Parse("llvm -mcpu=cascadelake")->Has("avx512vnni"));
  const CpuTarget arm = *CpuTarget::Parse("llvm -mcpu=neoverse-n1");
  EXPECT_TRUE(arm.IsAArch64());
  EXPECT_EQ(arm.VectorLanes(), 4);
  EXPECT_EQ(arm.VectorRegisters(), 32);
}

TEST(CpuTarget, TilesAreOfNarrowElementsAndAsWideAsVectors) {
  const auto multiplies = [](const char* features, DataType dtype) {
    const std::string text = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -mattr=";
    return CpuTarget::Parse(text + features)->MultipliesInTiles(dtype);
  };
  const char* const bytes = "+amx-int8,+amx-tile,+avx512f";
  EXPECT_TRUE(multiplies(bytes, DataType::kInt8));
  EXPECT_TRUE(multiplies(bytes, DataType::kUInt8));
  EXPECT_FALSE(multiplies(bytes, DataType::kBFloat16));
  EXPECT_FALSE(multiplies(bytes, DataType::kFloat32));
  EXPECT_TRUE(multiplies("+amx-bf16,+amx-tile,+avx512f", DataType::kBFloat16));
  EXPECT_FALSE(multiplies("+amx-bf16,+amx-tile,+avx2", DataType::kBFloat16));
  EXPECT_FALSE(multiplies("+amx-bf16,+avx512f", DataType::kBFloat16));
}

TEST(CpuTarget, SaysThatItsDevicesAreEmulated) {
  const std::string real = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -threads=2";
  const CpuTarget emulated = *CpuTarget::Parse(real + " -emulated=yes");
  EXPECT_TRUE(emulated.facts.is_emulated);
  EXPECT_EQ(emulated.ToString(), AsEmulated(CpuTarget::Parse(real)->ToString()));
  EXPECT_EQ(*CpuTarget::Parse(emulated.ToString()), emulated);
  EXPECT_THAT(std::string(CpuTarget::Parse(real + " -emulated=no").status().message()),
              HasSubstr("expected -emulated=yes"));
}

// An x86 machine that has every feature whose registers are saved.
HostCpu X86WithAll(const char* vendor, uint32_t family, uint32_t model, uint64_t enabled_state) {
  const auto word = [&](int n) {
    uint32_t word = 0;
    for (int byte = 3; byte >= 0; --byte)
      word = word << 8 | static_cast<uint8_t>(vendor[4 * n + byte]);
    return word;
  };
  const uint32_t base = std::min<uint32_t>(family, 0xF);
  const uint32_t version =
      (family - base) << 20 | (model & 0xF0) << 12 | base << 8 | (model & 0xF) << 4;
  return DescribeX86({[&](uint32_t leaf, uint32_t) -> CpuidRegisters {
                        constexpr uint32_t kAll = ~uint32_t{0};
                        if (leaf == 0) return {1, word(0), word(2), word(1)};
                        if (leaf == 4 || leaf == 0x8000001D) return {};
                        return {leaf == 1 ? version : kAll, kAll, kAll, kAll};
                      },
                      enabled_state, /*lends_tiles=*/true});
}

TEST(CpuTarget, NamesAndFeaturesOfX86HostsAreKnown) {
  constexpr uint64_t kYmm = 0x7, kZmm = 0xE7, kTiles = 0x600E7;
  std::set<std::string> names;
  for (const auto& [vendor, families] : std::map<const char*, std::vector<uint32_t>>{
           {"GenuineIntel", {6}}, {"AuthenticAMD", {0x17, 0x19, 0x1A}}}) {
    for (const uint32_t family : families) {
      for (uint32_t model = 0; model < 0x100; ++model) {
        for (const uint64_t state : {uint64_t{0}, kYmm, kZmm, kTiles}) {
          const HostCpu host = X86WithAll(vendor, family, model, state);
          names.insert(host.cpu);
          const std::string text = fmt::format("llvm -mtriple={} -mcpu={} -mattr=+{}", host.triple,
                                               host.cpu, fmt::join(host.features, ",+"));
          ASSERT_TRUE(CpuTarget::Parse(text).ok()) << text;
        }
      }
    }
  }
  EXPECT_THAT(names, IsSupersetOf({"emeraldrapids", "haswell", "icelake-client", "sapphirerapids",
                                   "skylake", "tigerlake", "x86-64-v2", "znver3", "znver5"}));
}

TEST(CpuTarget, EveryFeatureIsLookedFor) {
  EXPECT_EQ(X86WithAll("AuthenticAMD", 0x1A, 0, 0x600E7).features, KnownFeatures("x86_64"));
  EXPECT_EQ(DescribeArm({~uint64_t{0}, ~uint64_t{0}, 0}).features, KnownFeatures("aarch64"));
}

TEST(CpuTarget, NamesAndFeaturesOfArmHostsAreKnown) {
  constexpr uint64_t kAll = ~uint64_t{0};
  for (const uint64_t midr :
       {0x410FD034, 0x410FD0C1, 0x410FD401, 0x410FD4F0, 0x410FD840, 0x460F0010, 0x6D0FD490}) {
    const HostCpu host = DescribeArm({kAll, kAll, midr});
    EXPECT_NE(host.cpu, "generic");
    const std::string text = fmt::format("llvm -mtriple={} -mcpu={} -mattr=+{}", host.triple,
                                         host.cpu, fmt::join(host.features, ",+"));
    EXPECT_TRUE(CpuTarget::Parse(text).ok()) << text;
  }
}

TEST(CpuTarget, NativeIsThisMachine) {
  const auto native = CpuTarget::Parse("native");
  ASSERT_TRUE(native.ok()) << native.status();
  EXPECT_GE(native->threads, 1);
  EXPECT_EQ(CpuTarget::Parse("native -threads=3")->threads, 3);
}

std::string Canonical(const std::string& text) {
  const auto target = Target::Parse(text);
  return target.ok() ? target->ToString() : std::string(target.status().message());
}

// Keys of databases: each of these texts stands for records, and is found by them alone.
TEST(Target, TextsThatDatabasesHaveStayAsTheyAre) {
  for (const std::string text : {
           "llvm -mtriple=x86_64-linux-gnu -mcpu=znver5 -mattr=+avx2,+avx512f,+fma "
           "-caches=49152,1048576,33554432 -threads=2",
           "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64 -mattr= -caches=0,0,0 -threads=1024",
           "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -mattr=+dotprod,+neon "
           "-caches=65536,1048576,33554432 -threads=64",
       }) {
    EXPECT_EQ(Canonical(text), text);
  }
}

TEST(Target, GpusHaveCanonicalTexts) {
  EXPECT_EQ(Canonical("cuda -arch=sm_90"), "cuda -arch=sm_90");
  EXPECT_EQ(Canonical("cuda  -l2=52428800 -multiprocessors=132 -arch=sm_90a"),
            "cuda -arch=sm_90a -multiprocessors=132 -l2=52428800");
  EXPECT_EQ(Canonical("opencl -device=ARM-Mali-G78"), "opencl -device=arm-mali-g78");
  EXPECT_EQ(Canonical("opencl -compute-units=14 -local=32768 -max-threads=256 "
                      "-device=amd-gfx90a:sramecc+"),
            "opencl -device=amd-gfx90a:sramecc+ -max-threads=256 -local=32768 -compute-units=14");
}

TEST(Target, WhatIsOfProcessorsAloneRefusesOtherKinds) {
  const absl::Status cuda = CpuTarget::Parse("cuda -arch=sm_90").status();
  EXPECT_EQ(cuda.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(cuda.message(),
            "expected a target of kind llvm, such as 'native', found 'cuda -arch=sm_90'");
  EXPECT_THAT(std::string(CpuTarget::Parse("cuda -arch=sm_1").status().message()),
              HasSubstr("known: sm_70"));
}

TEST(Target, ConfigsHoldOnTheSameKindOfMachine) {
  const std::string avx2 = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=2";
  const std::string h100 = "cuda -arch=sm_90a -multiprocessors=132";
  const std::string mali = "opencl -device=arm-mali-g78 -local=32768";
  EXPECT_TRUE(AreCompatible(avx2, avx2 + " -caches=1,2,3"));
  EXPECT_TRUE(AreCompatible(h100, "cuda -arch=sm_90a -multiprocessors=114"));
  EXPECT_FALSE(AreCompatible(h100, "cuda -arch=sm_90"));
  EXPECT_TRUE(AreCompatible(mali, "opencl -device=arm-mali-g78"));
  EXPECT_FALSE(AreCompatible(mali, "opencl -device=arm-mali-g77"));
  EXPECT_FALSE(AreCompatible(avx2, avx2 + " -emulated=yes"));
  EXPECT_TRUE(AreCompatible(avx2 + " -emulated=yes", avx2 + " -emulated=yes -caches=1,2,3"));
  EXPECT_FALSE(AreCompatible(avx2, h100));
  EXPECT_FALSE(AreCompatible(h100, mali));
  EXPECT_FALSE(AreCompatible(h100, "cuda -arch=sm_1"));
}

template <class Number>
Number UpTo(int64_t most) {
  return static_cast<Number>(*rc::gen::inRange<int64_t>(0, most));
}

CpuTarget AnyCpu() {
  const std::string triple =
      *rc::gen::element<std::string>("x86_64-linux-gnu", "aarch64-linux-gnu");
  CpuTarget target;
  target.triple = triple;
  target.cpu = *rc::gen::elementOf(KnownCpus(triple));
  for (const std::string& feature : KnownFeatures(triple)) {
    if (*rc::gen::arbitrary<bool>()) target.features.push_back("+" + feature);
  }
  target.threads = 1 + UpTo<int>(1024);
  target.facts = {UpTo<int64_t>(1 << 20), UpTo<int64_t>(1 << 30), UpTo<int64_t>(1LL << 40)};
  return target;
}

CudaTarget AnyCuda() {
  const std::string arch = *rc::gen::element<std::string>("sm_70", "sm_86", "sm_90", "sm_90a");
  return {arch, {UpTo<int>(200), UpTo<int64_t>(1LL << 30)}};
}

OpenClTarget AnyOpenCl() {
  const auto name = rc::gen::nonEmpty(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("abcxyz0189._+:-"))));
  return {(*name).substr(0, 64), UpTo<int>(1 << 16), UpTo<int64_t>(1 << 20), {UpTo<int>(200)}};
}

RC_GTEST_PROP(Target, ReadsWhatItPrints, ()) {
  Target target;
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      target.kind = AnyCpu();
      break;
    case 1:
      target.kind = AnyCuda();
      break;
    default:
      target.kind = AnyOpenCl();
  }
  const auto again = Target::Parse(target.ToString());
  RC_ASSERT(again.ok());
  RC_ASSERT(*again == target);
}

TEST(Target, MistakesNameWhatIsKnown) {
  const auto message = [](const char* text) {
    return std::string(Target::Parse(text).status().message());
  };
  EXPECT_THAT(message("llvm -mcpu=z80 -mtriple=x86_64-linux-gnu"), HasSubstr("known: alderlake"));
  EXPECT_THAT(message("llvm -march=x"), HasSubstr("unknown target flag '-march'; known: -mtriple"));
  EXPECT_THAT(message("llvm -mattr=+foo"), HasSubstr("unknown feature '+foo'"));
  EXPECT_THAT(message("llvm -mtriple=x86_64-linux-gnu -mattr=+dotprod"),
              HasSubstr("unknown feature '+dotprod'"));
  EXPECT_THAT(message("llvm -mattr=+avx2 -mtriple=aarch64-linux-gnu"),
              HasSubstr("known for aarch64-linux-gnu: bf16 crc dotprod"));
  EXPECT_THAT(message("cuda"), HasSubstr("expected the flag -arch in a target of kind cuda"));
  EXPECT_THAT(message("vulkan"),
              HasSubstr("unknown target kind 'vulkan'; known: native llvm cuda opencl"));
  EXPECT_THAT(message("llvm -threads=0"), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(message("llvm -mtriple=sparc-sun"), HasSubstr("known: x86_64 aarch64"));
  EXPECT_THAT(message(""), HasSubstr("empty"));
  EXPECT_THAT(message("cuda -arch=sm_91"), HasSubstr("known: sm_70"));
  EXPECT_THAT(message("cuda -arch=sm_90 -threads=2"),
              HasSubstr("unknown target flag '-threads'; known: -arch"));
  EXPECT_THAT(message("cuda -arch=sm_90 -multiprocessors=0"), HasSubstr("from 1 to"));
  EXPECT_THAT(message("opencl"), HasSubstr("expected the flag -device"));
  EXPECT_THAT(message("opencl -device=arm/mali"), HasSubstr("found 'arm/mali'"));
  EXPECT_THAT(message("opencl -device=arm-mali-g78 -local=x"), HasSubstr("-local, found 'x'"));
  EXPECT_THAT(message("opencl -device=arm-mali-g78 -arch=sm_90"), HasSubstr("known: -device"));
}

}  // namespace
}  // namespace hone
