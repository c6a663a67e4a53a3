#include "compiler/lower/grain.h"

#include <fmt/format.h>

#include "compiler/ops/lower.h"
#include "compiler/schedule/template.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::lower {
namespace {

// Whether the last launch of a kernel is, as it is by default, or with another value of the knob
// "share".
bool IsLastBelow(const std::string& function, const std::string& share = "") {
  const CpuTarget target =
      CpuTarget::Parse("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads=2").value();
  const auto def = ops::LowerWorkload(function + " accumulate=float32 numerics=default");
  EXPECT_TRUE(def.ok()) << def.status();
  const schedule::Task task{
      &*def, schedule::TemplateFor(*def).Signatures(*def, machine::Machine::For(target))[0],
      target};
  schedule::Config config = schedule::DefaultOfTask(task);
  if (!share.empty()) config.Set("share", share);
  const auto nest = schedule::NestOfConfig(task, config);
  EXPECT_TRUE(nest.ok()) << nest.status();
  return AreBelowGrain(nest->launches, machine::Machine::For(target)).back();
}

// The launch that multiplies.
bool IsProductBelow(int rows, const std::string& share) {
  return IsLastBelow(
      fmt::format("fn (const p0: Tensor[(9000,), float32], const p1: Tensor[(9000,), int32], const "
                  "p2: Tensor[({},), int32], p3: Tensor[(50, 16), float32]) {{ "
                  "nn.sparse_dense(p0, p1, p2, p3) }}",
                  rows + 1),
      share);
}

// 200 KB read and written in few operations. On one thread they take longer, and leave the result
// in one core's cache, from which the next kernel's other threads have to fetch it.
TEST(Grain, WhatMovesMuchIsForSeveralThreads) {
  const auto transform = [](int channels) {
    return IsLastBelow(
        fmt::format("fn (p0: Tensor[(1, {}, 7, 7), float32]) {{ layout_transform(p0, "
                    "dst_layout=\"NCHW16c\", src_layout=\"NCHW\") }}",
                    channels));
  };
  EXPECT_FALSE(transform(1024));
  EXPECT_TRUE(transform(64));
}

// Its operands are read over and over, from the first cache.
TEST(Grain, WhatIsReadAgainIsNotMovedAgain) {
  EXPECT_TRUE(
      IsLastBelow("fn (p0: Tensor[(16, 16), float32], const p1: Tensor[(64, 16), "
                  "float32]) { nn.dense(p0, p1) }"));
}

// What is taken of a table counts, not all that it has.
TEST(Grain, FewRowsOfALargeTableAreForOneThread) {
  const auto rows = [](int count) {
    return IsLastBelow(
        fmt::format("fn (p0: Tensor[(30000, 768), float32], p1: Tensor[({},), int64]) {{ take(p0, "
                    "p1, axis=0) }}",
                    count));
  };
  EXPECT_TRUE(rows(2));
  EXPECT_FALSE(rows(128));
}

// However few shares there are: their rows are counted, by what is known of all shares together.
TEST(Grain, SharesOfManyRowsAreForSeveralThreads) {
  for (const char* share : {"rows", "nonzeros"}) {
    EXPECT_FALSE(IsProductBelow(2700, share)) << share;
    EXPECT_TRUE(IsProductBelow(20, share)) << share;
  }
}

}  // namespace
}  // namespace hone::lower
