// What the driver that stands in for NVIDIA's says of kernels that may start early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/cuda/cuda_device.h"
#include "tests/runtime/cuda/driver/cuda_driver.h"

namespace hone {
namespace {

using ::testing::HasSubstr;

// Runs a kernel of these statements, of one thread, whose parameter is in %rd1. Returns the
// device's error.
std::string ErrorOf(const std::string& statements) {
  std::string error;
  const std::shared_ptr<cuda::CudaDevice> device = cuda::CudaDevice::Make(0, &error);
  if (device == nullptr) return error;
  const std::string ptx =
      ".version 7.8\n.target sm_90\n.address_size 64\n"
      ".visible .entry go(.param .u64 a) {\n.reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd1, [a];\n" +
      statements + " ret; }\n";
  const std::unique_ptr<DeviceMemory> memory = device->Allocate(4);
  const int one = 1;
  device->CopyIn(memory->data(), &one, sizeof(one));
  const cuda::CudaApi& api = device->api();
  const cuda::InContext in_context(*device);
  cuda::DriverModule module = nullptr;
  cuda::Function function = nullptr;
  if (device->Check(api.ModuleLoadDataEx(&module, ptx.c_str(), 0, nullptr, nullptr), "load") &&
      device->Check(api.ModuleGetFunction(&function, module, "go"), "find")) {
    void* value = memory->data();
    void* parameters[] = {&value};
    device->Check(
        api.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, device->stream(), parameters, nullptr),
        "launch");
    device->Synchronize("run");
  }
  if (module != nullptr) api.ModuleUnload(module);
  cuda_driver_recover();
  return device->error();
}

TEST(EarlyStart, AKernelWaitsBeforeItTouchesGlobalMemory) {
  EXPECT_EQ(ErrorOf("griddepcontrol.wait; ld.global.u32 %r1, [%rd1]; "
                    "griddepcontrol.launch_dependents; st.global.u32 [%rd1], %r1;"),
            "");
  for (const char* const statements : {
           "ld.global.u32 %r1, [%rd1]; griddepcontrol.wait;",
           "ld.global.nc.u32 %r1, [%rd1]; griddepcontrol.wait;",
           "st.global.u32 [%rd1], 1; griddepcontrol.wait;",
           "st.u32 [%rd1], 1; griddepcontrol.wait;",
       }) {
    EXPECT_THAT(ErrorOf(statements), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)")) << statements;
  }
  // One that does not wait is not started early.
  EXPECT_EQ(ErrorOf("ld.global.u32 %r1, [%rd1];"), "");
}

TEST(EarlyStart, AKernelWaitsBeforeItLetsOthersStart) {
  EXPECT_THAT(ErrorOf("griddepcontrol.launch_dependents; griddepcontrol.wait;"),
              HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  EXPECT_THAT(ErrorOf("griddepcontrol.launch_dependents;"),
              HasSubstr("CUDA_ERROR_INVALID_PTX (218)"));
}

}  // namespace
}  // namespace hone
