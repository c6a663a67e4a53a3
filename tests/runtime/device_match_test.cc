#include "runtime/device_match/device_match.h"

#include <string>

#include "gtest/gtest.h"

namespace hone {
namespace {

struct Case {
  std::string device;
  std::string target;
  bool matches = false;
};

void Check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(CanMeasure({.target = c.device}, c.target), c.matches)
        << "device: " << c.device << "\ntarget: " << c.target;
  }
}

constexpr char kCpu[] =
    "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4 -mattr=+avx2,+fma -caches=32768,1048576,33554432 "
    "-threads=2";

std::string With(std::string text, const std::string& old, const std::string& by) {
  const size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), by);
}

TEST(DeviceMatch, CpusAreTheSameMachineWithEnoughCores) {
  Check({{kCpu, kCpu, true},
         {kCpu, With(kCpu, "-threads=2", "-threads=1"), true},
         {kCpu, With(kCpu, "-threads=2", "-threads=3"), false},
         {kCpu, With(kCpu, " -threads=2", ""), true},
         {kCpu, With(kCpu, "+avx2,+fma", "+fma,+avx2"), true},  // a set
         {kCpu, With(kCpu, "+avx2,+fma", "+avx2"), false},      // its times are of a lesser CPU
         {kCpu, With(kCpu, "znver4", "znver5"), false},
         {kCpu, With(kCpu, "x86_64-linux", "aarch64-linux"), false},
         {kCpu, With(kCpu, "33554432", "16777216"), false},
         {kCpu, With(kCpu, " -caches=32768,1048576,33554432", ""), true},
         {kCpu, "", false},
         {"", kCpu, false}});
}

TEST(DeviceMatch, EmulatedDevicesMeasureForEmulatedTargetsAlone) {
  const std::string emulated = With(kCpu, " -threads=2", " -emulated=yes -threads=2");
  Check({{emulated, emulated, true},
         {emulated, With(emulated, "-threads=2", "-threads=1"), true},
         {emulated, kCpu, false},
         {kCpu, emulated, false}});
}

TEST(DeviceMatch, CoresOfADeviceCountMoreThanItsTarget) {
  const std::string four = With(kCpu, "-threads=2", "-threads=4");
  EXPECT_FALSE(CanMeasure({.target = kCpu}, four));
  EXPECT_TRUE(CanMeasure({.target = kCpu, .cores = 4}, four));
  EXPECT_FALSE(CanMeasure({.target = kCpu, .cores = 3}, four));
  EXPECT_FALSE(CanMeasure({.target = kCpu, .cores = 1}, kCpu));
}

TEST(DeviceMatch, CudaDevicesHaveTheComputeCapability) {
  const std::string h100 = "cuda -arch=sm_90a -multiprocessors=132 -l2=52428800";
  Check({{h100, h100, true},
         {h100, "cuda -arch=sm_90", true},  // what the target does not say speaks against nothing
         {"cuda -arch=sm_90", h100, true},
         {"cuda -arch=sm_90", "cuda -arch=sm_90a", true},
         {h100, "cuda -arch=sm_80", false},  // would run its PTX, but as another machine
         {h100, "cuda -arch=sm_100a", false},
         {h100, "cuda -arch=sm_90a -multiprocessors=114 -l2=52428800", false},
         {h100, "cuda -arch=sm_90a -multiprocessors=132", true},
         {h100, "cuda -arch=sm_90a -l2=1", false},
         {h100, "cuda", false},
         {"cuda", "cuda", false}});
}

TEST(DeviceMatch, OpenClDevicesHaveTheFamilyAndRoomForItsWorkGroups) {
  const std::string mali = "opencl -device=arm-mali-g78 -max-threads=256 -local=32768";
  Check({{mali, mali, true},
         {mali, "opencl -device=arm-mali-g78", true},
         {mali, "opencl -device=arm-mali-g78 -max-threads=128 -local=16384", true},
         {mali, "opencl -device=arm-mali-g78 -max-threads=512", false},
         {mali, "opencl -device=arm-mali-g78 -local=32769", false},
         {"opencl -device=arm-mali-g78", mali, false},  // it does not say that it has as much
         {mali, "opencl -device=arm-mali-g7", false},
         {mali + " -compute-units=14", mali + " -compute-units=20", false},
         {mali + " -compute-units=14", mali, true},
         {mali, "opencl", false}});
}

TEST(DeviceMatch, KindsDoNotMatchEachOther) {
  const std::string texts[] = {kCpu, "cuda -arch=sm_90", "opencl -device=nvidia-h100"};
  for (const std::string& device : texts) {
    for (const std::string& target : texts) {
      EXPECT_EQ(CanMeasure({.target = device}, target), device == target) << device << target;
    }
  }
  Check({{"vulkan -device=x", "vulkan -device=x", false}});
}

}  // namespace
}  // namespace hone
