// What code for devices behind a driver cannot be made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/codegen/codegen.h"
#include "compiler/loop/parser.h"

namespace hone::codegen {
namespace {

using ::testing::HasSubstr;

// Each thread has an array of so many floats for itself.
ModuleSpec WithArrayOf(int elements, const std::string& target) {
  const std::string n = std::to_string(elements);
  absl::StatusOr<loop::Nest> nest =
      loop::ParseNest("nest @k {\ninput %a: float32[" + n + "] C output %c: float32[4] C\n" +
                      "run @l {parallel m in 0..4 {alloc local %t: float32[" + n + "] C {\n" +
                      "  for i in 0.." + n + " {%t[i] = %a[i] + float32(1)} %c[m] = %t[m]}}}\n}");
  EXPECT_TRUE(nest.ok()) << nest.status();
  ModuleSpec spec;
  spec.target = *Target::Parse(target);
  spec.kernels.emplace_back();
  spec.kernels[0].name = "scores";
  if (nest.ok()) spec.kernels[0].nest = *std::move(nest);
  return spec;
}

TEST(DeviceCode, RefusesArraysThatNoThreadHasRoomForAndNamesTheKernel) {
  for (const char* const target : {"cuda -arch=sm_80", "opencl -device=pocl"}) {
    constexpr int kMost = (512 << 10) / 4;
    EXPECT_TRUE(BuildModule(WithArrayOf(kMost, target)).ok()) << target;
    const absl::Status refused = BuildModule(WithArrayOf(kMost + 1, target)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("at most 524288 bytes"));
    EXPECT_THAT(std::string(refused.message()), HasSubstr("scores"));
  }
}

}  // namespace
}  // namespace hone::codegen
