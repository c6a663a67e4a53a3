// Modules for devices of OpenCL, on the first device of this machine, whatever it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/c_api.h"
#include "runtime/device.h"
#include "runtime/device_match/device_match.h"
#include "runtime/find_device.h"
#include "runtime/kernel_runner.h"
#include "runtime/listed_device.h"
#include "runtime/module.h"
#include "runtime/opencl/list_devices.h"
#include "runtime/target_text.h"
#include "tests/runtime/c_module.h"
#include "tests/runtime/sample_modules.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class OpenClDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string error;
    if (!FindDevice("opencl:0", "", 1, &error)) GTEST_SKIP() << error;
  }
  ~OpenClDeviceTest() override { hone_close(model_); }

  std::string Compiled(const std::string& macros) {
    const std::string path = CompileC(folder_, "device", macros + OpenClModule());
    const float parameters[4] = {2, 3, 5, 7};
    AppendParameters(path, {reinterpret_cast<const char*>(parameters), sizeof(parameters)});
    return path;
  }
  // The sentence of the refusal; "" where it opens.
  std::string Open(const std::string& macros = "", const char* device = nullptr) {
    hone_close(model_);
    const std::string path = Compiled(macros);
    return hone_open_on(path.c_str(), device, 0, 0, &model_) == HONE_OK ? "" : hone_last_error();
  }
  void Give(std::vector<float> x) {
    ASSERT_EQ(hone_set_input(model_, 0, x.data(), 4 * x.size()), HONE_OK) << hone_last_error();
  }
  std::vector<float> Output() const {
    const auto* data = static_cast<const float*>(hone_output(model_, 0));
    return data == nullptr ? std::vector<float>() : std::vector<float>(data, data + 4);
  }

  TestFolder folder_;
  hone_model* model_ = nullptr;
};

TEST_F(OpenClDeviceTest, RunsCallsAndRepeatsOnParametersOfItsOwn) {
  ASSERT_EQ(Open(), "");
  for (const float first : {1.0f, 10.0f}) {
    Give({first, 2, 3, 4});
    ASSERT_EQ(hone_run(model_), HONE_OK) << hone_last_error();
    EXPECT_THAT(Output(), ElementsAre(2 * first + 6, 12, 21, 34));
  }
}

TEST_F(OpenClDeviceTest, RunsRepeatsOfFewAndManyTrips) {
  for (const int trips : {1, 3, 7}) {
    ASSERT_EQ(Open("#define TRIPS " + std::to_string(trips) + "\n", "opencl:0"), "");
    Give({1, 1, 1, 1});
    ASSERT_EQ(hone_run(model_), HONE_OK) << hone_last_error();
    EXPECT_EQ(Output()[0], 2.0f + static_cast<float>(trips) + 1);
  }
}

TEST_F(OpenClDeviceTest, TimesAndProfiles) {
  ASSERT_EQ(Open(), "");
  Give({1, 2, 3, 4});
  double seconds = 0;
  ASSERT_EQ(hone_time(model_, 3, &seconds), HONE_OK) << hone_last_error();
  EXPECT_THAT(seconds, Gt(0));
  ASSERT_EQ(hone_time_executor(model_, 3, &seconds), HONE_OK) << hone_last_error();
  ASSERT_EQ(hone_time_call(model_, 1, 3, &seconds), HONE_OK) << hone_last_error();
  EXPECT_THAT(seconds, Gt(0));
  double call_ns[3] = {0, 0, 0};
  ASSERT_EQ(hone_profile(model_, 3, call_ns), HONE_OK) << hone_last_error();
  EXPECT_THAT(call_ns[1], Gt(0));
  EXPECT_THAT(Output(), ElementsAre(8, 12, 21, 34)) << "a profiled run is a run";
}

TEST_F(OpenClDeviceTest, DoesNotBindMemoryOfTheHost) {
  ASSERT_EQ(Open(), "");
  alignas(64) float x[16] = {};
  EXPECT_EQ(hone_bind_input(model_, 0, x), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), AllOf(HasSubstr("opencl:0"), HasSubstr("hone_set_input")));
  EXPECT_EQ(hone_bind_output(model_, 0, x), HONE_BAD_INPUT);
}

TEST_F(OpenClDeviceTest, SaysWhatTheDriverRefuses) {
  EXPECT_THAT(
      Open("#define CODE \"kernel void scale(\"\n"),
      AllOf(HasSubstr("to build the module's code"), HasSubstr("CL_BUILD_PROGRAM_FAILURE")));
  EXPECT_THAT(Open("#define ENTRY \"stop\"\n"),
              HasSubstr("expected the module's code to have stop"));
  EXPECT_THAT(Open("#define THREADS 100000000\n"), HasSubstr("100000000 work items"));
  EXPECT_THAT(Open("", "opencl:999"), HasSubstr("expected a device opencl:999, found"));
}

TEST_F(OpenClDeviceTest, IsTheDeviceOfModulesForItOnly) {
  EXPECT_THAT(Open("", "cpu"),
              HasSubstr("expected a module for this processor, found one for opencl"));
  EXPECT_THAT(Open("#define CODE_KIND HONE_CODE_PTX\n"),
              HasSubstr("expected a module for a device of OpenCL"));
  const std::string path = CompileC(folder_, "chain", ChainModule());
  EXPECT_EQ(hone_open_on(path.c_str(), "opencl:0", 0, 0, &model_), HONE_FAILED);
  EXPECT_THAT(hone_last_error(),
              HasSubstr("expected a module for a device of OpenCL, found one for llvm"));
}

TEST_F(OpenClDeviceTest, IsRefusedByAnotherName) {
  for (const char* name : {"opencl", "opencl:", "opencl:x", "opencl:-1", "gpu", "cuda:x"}) {
    const std::string refusal = Open("", name);
    if (std::string(name) == "opencl") {
      EXPECT_EQ(refusal, "");
    } else {
      EXPECT_THAT(refusal, HasSubstr("expected a device")) << name;
    }
  }
}

TEST_F(OpenClDeviceTest, RunsOneKernelOnBuffersOfTheCaller) {
  std::string error;
  const auto device = FindDevice("opencl:0", "", 1, &error);
  const auto module = Module::Open(Compiled(""), &error);
  ASSERT_NE(module, nullptr) << error;
  const auto loaded = device->Load(*module, &error);
  ASSERT_NE(loaded, nullptr) << error;
  KernelRunner step(module->table(), module->table().kernels[1], *loaded);
  ASSERT_TRUE(step.ok()) << step.error();
  const auto x = device->Allocate(16);
  const auto y = device->Allocate(16);
  const std::vector<float> values = {1, 2, 3, 4};
  device->CopyIn(x->data(), values.data(), 16);
  step.Bind({x->data(), y->data()});
  step.Run(HONE_PHASE_RUN);
  EXPECT_GT(step.Time(3), 0);
  step.Bind({y->data(), x->data()});
  step.Run(HONE_PHASE_RUN);
  std::vector<float> result(4);
  device->CopyOut(result.data(), x->data(), 16);
  EXPECT_THAT(result, ElementsAre(3, 4, 5, 6));
  EXPECT_EQ(device->error(), "");
}

TEST_F(OpenClDeviceTest, IsListedWithATargetThatItMeasuresFor) {
  // Devices of CUDA, where there are some, are listed first.
  const std::vector<ListedDevice> listed = ListDevices();
  const auto device = std::ranges::find(listed, "opencl:0", &ListedDevice::name);
  ASSERT_NE(device, listed.end());
  EXPECT_FALSE(device->identity.empty());
  EXPECT_THAT(device->target, StartsWith("opencl -device="));
  const std::string family(FlagOf(device->target, "-device"));
  EXPECT_TRUE(CanMeasure({device->target, 1}, "opencl -device=" + family));
}

TEST(ListDevicesTest, FamiliesAreNamedByVendorAndDevice) {
  using opencl::FamilyOf;
  EXPECT_EQ(FamilyOf("NVIDIA CUDA", "NVIDIA Corporation", "NVIDIA H100 80GB HBM3"),
            "nvidia-h100-80gb-hbm3");
  EXPECT_EQ(FamilyOf("ARM Platform", "ARM", "Mali-G78"), "arm-mali-g78");
  EXPECT_EQ(FamilyOf("Portable Computing Language", "GenuineIntel", "pthread-skylake"), "pocl");
  EXPECT_EQ(FamilyOf("p", "", "(R)"), "r");
  EXPECT_EQ(FamilyOf("p", "", ""), "unnamed");
}

// Tables are checked before any device is asked.
TEST(DeviceModuleTest, DamagedTablesAreRefused) {
  TestFolder folder;
  const auto refusal = [&](const std::string& macros) {
    const std::string path = CompileC(folder, "device", macros + OpenClModule());
    AppendParameters(path, std::string(16, '\1'));
    std::string error;
    EXPECT_EQ(Module::Open(path, &error), nullptr) << macros;
    return error;
  };
  EXPECT_THAT(refusal("#define CODE_KIND 7\n"), HasSubstr("a code of the module"));
  EXPECT_THAT(refusal("#define ENTRY 0\n"),
              HasSubstr("kernel step has a damaged table of device launches"));
  EXPECT_THAT(refusal("#define ARGUMENT 3\n"), HasSubstr("kernel scale has a damaged table"));
  EXPECT_THAT(refusal("#define DEVICE_LAUNCHES 1\n"), HasSubstr("table of device launches"));
  EXPECT_THAT(refusal("#define DEVICE_LAUNCHES 0\n"), HasSubstr("damaged launch table"));
  EXPECT_THAT(refusal("#include <stdint.h>\nstatic void f(void* const* b, int64_t i, int64_t e, "
                      "void* s) {}\n#define FUNCTION f\n"),
              HasSubstr("damaged launch table"));
}

}  // namespace
}  // namespace hone
