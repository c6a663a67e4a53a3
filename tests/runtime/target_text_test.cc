#include "runtime/target_text.h"

#include "gtest/gtest.h"

namespace hone {
namespace {

constexpr char kTarget[] = "llvm -mtriple=x86_64-linux-gnu -mattr=+avx,+avx2 -threads=12";

TEST(TargetText, FlagsHaveTheirValues) {
  EXPECT_EQ(FlagOf(kTarget, "-mtriple"), "x86_64-linux-gnu");
  EXPECT_EQ(FlagOf(kTarget, "-mattr"), "+avx,+avx2");
  EXPECT_EQ(FlagOf(kTarget, "-threads"), "12");
  EXPECT_EQ(FlagOf(kTarget, "-mcpu"), "");
  EXPECT_EQ(FlagOf("llvm -mattr= -threads=2", "-mattr"), "");
  EXPECT_EQ(FlagOf("", "-mattr"), "");
}

TEST(TargetText, KindsStandFirst) {
  EXPECT_EQ(KindOf(kTarget), "llvm");
  EXPECT_EQ(KindOf("cuda"), "cuda");
  EXPECT_EQ(KindOf(""), "");
}

TEST(TargetText, ThreadsAreAtLeastOne) {
  EXPECT_EQ(ThreadsOf(kTarget), 12);
  EXPECT_EQ(ThreadsOf("llvm -threads=3 -mcpu=znver5"), 3);
  for (const char* target : {"", "llvm", "llvm -threads=", "llvm -threads=0", "llvm -threads=-4"}) {
    EXPECT_EQ(ThreadsOf(target), 1) << target;
  }
}

TEST(TargetText, ThreadsMayBeLeftOut) {
  EXPECT_EQ(WithoutThreads(kTarget), "llvm -mtriple=x86_64-linux-gnu -mattr=+avx,+avx2");
  EXPECT_EQ(WithoutThreads("llvm -threads=3 -mcpu=znver5"), "llvm -mcpu=znver5");
  EXPECT_EQ(WithoutThreads("llvm"), "llvm");
}

}  // namespace
}  // namespace hone
