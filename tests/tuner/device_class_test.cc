#include "tuner/farm/device_class.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using ::testing::HasSubstr;

v1::Device Device(const std::string& target, const std::string& fingerprint = "0123456789abcdef") {
  v1::Device device;
  device.set_target(target);
  device.set_fingerprint(fingerprint);
  return device;
}

TEST(DeviceClass, AllConditionsHoldOfADevice) {
  const v1::Device cpu = Device("llvm -mtriple=x86_64-linux-gnu -mcpu=znver5 -threads=2");
  for (const char* text : {"", "kind=cpu", "name=znver5", "fingerprint=01234567",
                           "fingerprint=0123456789abcdef", "kind=cpu,name=znver5"}) {
    EXPECT_TRUE(IsOfClass(cpu, text)) << text;
    EXPECT_TRUE(CheckDeviceClass(text).ok()) << text;
  }
  for (const char* text : {"kind=cuda", "name=znver", "fingerprint=11234567",
                           "fingerprint=0123456789abcdef0", "kind=cpu,name=znver4"}) {
    EXPECT_FALSE(IsOfClass(cpu, text)) << text;
    EXPECT_TRUE(CheckDeviceClass(text).ok()) << text;
  }
}

TEST(DeviceClass, ProcessorsOfEveryKindHaveNames) {
  EXPECT_TRUE(IsOfClass(Device("cuda -arch=sm_90"), "kind=cuda,name=sm_90"));
  EXPECT_TRUE(IsOfClass(Device("opencl -device=arm-mali-g78"), "name=arm-mali-g78"));
}

TEST(DeviceClass, WhatIsNoneIsRefusedAndNoDeviceIsOfIt) {
  const v1::Device cpu = Device("llvm -mtriple=x86_64-linux-gnu -mcpu=znver5 -threads=2");
  for (const std::string& text :
       {std::string("cpu"), std::string("kind=tpu"), std::string("name="), std::string(","),
        std::string("kind=cpu,"), std::string("fingerprint=0123456"),
        std::string("fingerprint=0123456G"), std::string("colour=red"),
        "name=" + std::string(2000, 'a')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckDeviceClass(text))) << text;
    EXPECT_FALSE(IsOfClass(cpu, text)) << text;
  }
  EXPECT_THAT(CheckDeviceClass("zen").message(), HasSubstr("found 'zen'"));
}

}  // namespace
}  // namespace hone::tuner
