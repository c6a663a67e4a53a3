#include "runtime/missing_device.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(MissingDeviceTest, SaysHowManyDevicesThereAre) {
  EXPECT_EQ(MissingDevice("cuda:0", 0, "CUDA"),
            "expected a device cuda:0, found 0 devices of CUDA on this machine");
  EXPECT_EQ(MissingDevice("cuda:1", 1, "CUDA"),
            "expected a device cuda:1, found 1 device of CUDA on this machine");
  EXPECT_EQ(MissingDevice("opencl:2", 2, "OpenCL"),
            "expected a device opencl:2, found 2 devices of OpenCL on this machine");
}

}  // namespace
}  // namespace hone
