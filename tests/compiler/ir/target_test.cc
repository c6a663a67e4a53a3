#include "compiler/ir/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using ::testing::HasSubstr;

TEST(Target, TextIsCanonicalAndComesBack) {
  const auto target = Target::Parse(
      "llvm -threads=2 -mattr=+fma,+avx2 -mcpu=znver5 -caches=49152,1048576,33554432 "
      "-mtriple=x86_64-linux-gnu");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->ToString(),
            "llvm -mtriple=x86_64-linux-gnu -mcpu=znver5 -mattr=+avx2,+fma "
            "-caches=49152,1048576,33554432 -threads=2");
  EXPECT_EQ(*Target::Parse(target->ToString()), *target);
  EXPECT_EQ(target->VectorBytes(), 32);  // what the text says, not what a znver5 could
}

TEST(Target, CpusBringTheirFeatures) {
  EXPECT_EQ(Target::Parse("llvm -mcpu=x86-64-v4 -mtriple=x86_64-linux-gnu")->VectorLanes(), 16);
  EXPECT_EQ(Target::Parse("llvm -mcpu=haswell")->VectorLanes(), 8);
  EXPECT_EQ(Target::Parse("llvm -mcpu=x86-64-v2")->VectorLanes(), 4);
  EXPECT_TRUE(Target::Parse("llvm -mcpu=cascadelake")->Has("avx512vnni"));
  const Target arm = *Target::Parse("llvm -mcpu=neoverse-n1");
  EXPECT_TRUE(arm.IsAArch64());
  EXPECT_EQ(arm.VectorLanes(), 4);
  EXPECT_EQ(arm.VectorRegisters(), 32);
}

TEST(Target, TilesAreOfNarrowElementsAndAsWideAsVectors) {
  const auto multiplies = [](const char* features, DataType dtype) {
    const std::string text = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -mattr=";
    return Target::Parse(text + features)->MultipliesInTiles(dtype);
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

TEST(Target, NativeIsThisMachine) {
  const auto native = Target::Parse("native");
  ASSERT_TRUE(native.ok()) << native.status();
  EXPECT_GE(native->threads, 1);
  EXPECT_EQ(Target::Parse("native -threads=3")->threads, 3);
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
  EXPECT_THAT(message("cuda"), HasSubstr("unknown target kind 'cuda'; known: native llvm"));
  EXPECT_THAT(message("llvm -threads=0"), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(message("llvm -mtriple=sparc-sun"), HasSubstr("known: x86_64 aarch64"));
  EXPECT_THAT(message(""), HasSubstr("empty"));
}

}  // namespace
}  // namespace hone
