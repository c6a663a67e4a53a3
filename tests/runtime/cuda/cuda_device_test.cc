// Modules for devices of CUDA, on a driver that stands in for NVIDIA's (driver/cuda_driver.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/c_api.h"
#include "runtime/cuda/list_cuda_devices.h"
#include "runtime/find_device.h"
#include "tests/runtime/c_module.h"
#include "tests/runtime/cuda/driver/cuda_driver.h"
#include "tests/runtime/sample_modules.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;

constexpr char kCuda[] =
    "#define TARGET \"cuda -arch=sm_80\"\n"
    "#define CODE_KIND HONE_CODE_PTX\n";
// y = x * p; b = a + 1; a fault; an instruction of a warp, which half of it comes to. Of as many
// threads as there are elements.
constexpr char kPtx[] = R"(#define CODE \
  ".version 7.0\n.target sm_80\n.address_size 64\n" \
  ".visible .entry scale(.param .u64 x, .param .u64 p, .param .u64 y) {\n" \
  ".reg .b32 %r<5>; .reg .b64 %rd<8>; .reg .f32 %f<4>;\n" \
  "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [p]; ld.param.u64 %rd3, [y];\n" \
  "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n" \
  "mad.lo.s32 %r4, %r1, %r2, %r3; mul.wide.u32 %rd4, %r4, 4;\n" \
  "add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; add.s64 %rd7, %rd3, %rd4;\n" \
  "ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6]; mul.rn.f32 %f3, %f1, %f2;\n" \
  "st.global.f32 [%rd7], %f3; ret; }\n" \
  ".visible .entry advance(.param .u64 a, .param .u64 b) {\n" \
  ".reg .b32 %r<5>; .reg .b64 %rd<8>; .reg .f32 %f<3>;\n" \
  "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];\n" \
  "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n" \
  "mad.lo.s32 %r4, %r1, %r2, %r3; mul.wide.u32 %rd4, %r4, 4;\n" \
  "add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4;\n" \
  "ld.global.f32 %f1, [%rd5]; add.rn.f32 %f2, %f1, 0f3F800000;\n" \
  "st.global.f32 [%rd6], %f2; ret; }\n" \
  ".visible .entry fault(.param .u64 a, .param .u64 b) { trap; }\n" \
  ".visible .entry apart(.param .u64 a, .param .u64 b) {\n" \
  ".reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;\n" \
  "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16; @%p1 bra $L_end;\n" \
  "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%rd1];\n" \
  "$L_end: ret; }\n"
)";

class CudaDeviceTest : public testing::Test {
 protected:
  // All that a test opened is closed again, whether it went well or not.
  ~CudaDeviceTest() override {
    hone_close(model_);
    const CudaDriverCounts counts = cuda_driver_counts();
    EXPECT_EQ(counts.objects, 0);
    EXPECT_EQ(counts.contexts, 0);
    cuda_driver_recover();
  }

  // The sentence of the refusal; "" where it opens.
  std::string Open(const std::string& macros = "", const char* device = nullptr,
                   const std::string& code = kPtx) {
    hone_close(model_);
    const std::string path = CompileC(folder_, "device", kCuda + code + macros + OpenClModule());
    const float parameters[4] = {2, 3, 5, 7};
    AppendParameters(path, {reinterpret_cast<const char*>(parameters), sizeof(parameters)});
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

TEST_F(CudaDeviceTest, RunsCallsAndRepeatsOnParametersOfItsOwn) {
  ASSERT_EQ(Open(), "");
  for (const float first : {1.0f, 10.0f, 100.0f}) {
    Give({first, 2, 3, 4});
    ASSERT_EQ(hone_run(model_), HONE_OK) << hone_last_error();
    EXPECT_THAT(Output(), ElementsAre(2 * first + 6, 12, 21, 34));
  }
}

// Making a graph costs several runs: a model that is run once, or on other memory each time, has
// none.
TEST_F(CudaDeviceTest, MakesAGraphOfItsLaunchesInTheSecondRun) {
  ASSERT_EQ(Open(), "");
  const CudaDriverCounts before = cuda_driver_counts();
  Give({1, 1, 1, 1});
  ASSERT_EQ(hone_run(model_), HONE_OK);
  EXPECT_EQ(cuda_driver_counts().single_launches - before.single_launches, 7);
  EXPECT_EQ(cuda_driver_counts().graphs, before.graphs);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(hone_run(model_), HONE_OK);
  const CudaDriverCounts after = cuda_driver_counts();
  EXPECT_EQ(after.single_launches - before.single_launches, 7);
  EXPECT_EQ(after.graphs - before.graphs, 1);
  EXPECT_EQ(after.graph_launches - before.graph_launches, 3);
}

TEST_F(CudaDeviceTest, RunsRepeatsOfFewAndManyTrips) {
  for (const int trips : {1, 3, 7, 99999}) {
    ASSERT_EQ(Open("#define TRIPS " + std::to_string(trips) + "\n", "cuda:0"), "");
    for (int run = 0; run < 3; ++run) {
      Give({1, 1, 1, 1});
      ASSERT_EQ(hone_run(model_), HONE_OK) << hone_last_error();
      EXPECT_EQ(Output()[0], 2.0f + static_cast<float>(trips) + 1);
    }
  }
}

TEST_F(CudaDeviceTest, TimesAndProfiles) {
  ASSERT_EQ(Open(), "");
  Give({1, 2, 3, 4});
  double seconds = 0;
  ASSERT_EQ(hone_time(model_, 3, &seconds), HONE_OK) << hone_last_error();
  EXPECT_THAT(seconds, Gt(0));
  ASSERT_EQ(hone_time_executor(model_, 3, &seconds), HONE_OK) << hone_last_error();
  EXPECT_THAT(seconds, Gt(0));
  ASSERT_EQ(hone_time_call(model_, 1, 3, &seconds), HONE_OK) << hone_last_error();
  double call_ns[3] = {0, 0, 0};
  ASSERT_EQ(hone_profile(model_, 1, call_ns), HONE_OK) << hone_last_error();
  EXPECT_THAT(call_ns, ElementsAre(5e5, 25e5, 5e5)) << "half a millisecond a launch";
  EXPECT_THAT(Output(), ElementsAre(8, 12, 21, 34)) << "a profiled run is a run";
}

// Starting a graph takes longer than small kernels do.
TEST_F(CudaDeviceTest, TimesShortRunsManyAtOnce) {
  ASSERT_EQ(Open(), "");
  Give({1, 2, 3, 4});
  ASSERT_EQ(hone_run(model_), HONE_OK) << hone_last_error();
  const CudaDriverCounts before = cuda_driver_counts();
  double seconds = 0;
  ASSERT_EQ(hone_time(model_, 25, &seconds), HONE_OK) << hone_last_error();
  const CudaDriverCounts after = cuda_driver_counts();
  EXPECT_EQ(after.graphs - before.graphs, 2);
  EXPECT_EQ(after.graph_launches - before.graph_launches, 1 + 1 + 2 + 5)
      << "both graphs ahead of the clock, two of ten runs, five of one";
  EXPECT_THAT(Output(), ElementsAre(8, 12, 21, 34));
}

constexpr char kStepsWait[] = "#define STEP_FLAGS HONE_LAUNCH_WAITS\n";

// A run is a scale and six steps, each of which reads what the one before it wrote.
TEST_F(CudaDeviceTest, StartsLaunchesEarlyThatWaitThemselves) {
  ASSERT_EQ(Open(kStepsWait), "");
  Give({1, 2, 3, 4});
  const CudaDriverCounts before = cuda_driver_counts();
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(hone_run(model_), HONE_OK) << hone_last_error();
    EXPECT_THAT(Output(), ElementsAre(8, 12, 21, 34));
  }
  const CudaDriverCounts after = cuda_driver_counts();
  EXPECT_EQ(after.edges - before.edges, 6);
  EXPECT_EQ(after.early_edges - before.early_edges, 5) << "the scale does not wait";
}

TEST_F(CudaDeviceTest, RunsThatAreTimedTogetherDoNotOverlap) {
  ASSERT_EQ(Open(kStepsWait), "");
  Give({1, 2, 3, 4});
  for (int run = 0; run < 2; ++run) ASSERT_EQ(hone_run(model_), HONE_OK) << hone_last_error();
  const CudaDriverCounts before = cuda_driver_counts();
  double seconds = 0;
  ASSERT_EQ(hone_time(model_, 10, &seconds), HONE_OK) << hone_last_error();
  const CudaDriverCounts after = cuda_driver_counts();
  EXPECT_EQ(after.edges - before.edges, 10 * 6 + 9) << "nine times from one run to the next";
  EXPECT_EQ(after.early_edges - before.early_edges, 10 * 5);
  EXPECT_THAT(Output(), ElementsAre(8, 12, 21, 34));
}

TEST_F(CudaDeviceTest, AsksADriverThatRefusesEarlyStartsOnlyOnce) {
  ASSERT_EQ(Open(kStepsWait), "");
  cuda_driver_refuse_early_starts();
  Give({1, 2, 3, 4});
  const CudaDriverCounts before = cuda_driver_counts();
  double seconds = 0;
  ASSERT_EQ(hone_time(model_, 10, &seconds), HONE_OK) << hone_last_error();
  ASSERT_EQ(hone_run(model_), HONE_OK) << hone_last_error();
  EXPECT_THAT(Output(), ElementsAre(8, 12, 21, 34));
  const CudaDriverCounts after = cuda_driver_counts();
  EXPECT_EQ(after.edges - before.edges, 6 + 10 * 6 + 9);
  EXPECT_EQ(after.early_edges, before.early_edges);
  EXPECT_EQ(after.refused_graphs - before.refused_graphs, 1);
}

// A tensor of another library, in the device's memory: here a block of it.
class SharedTensor {
 public:
  explicit SharedTensor(const std::vector<float>& values) {
    std::string error;
    device_ = FindDevice("cuda:0", "", 1, &error);
    memory_ = device_->Allocate(4 * values.size());
    device_->CopyIn(memory_->data(), values.data(), 4 * values.size());
    tensor_.data = memory_->data();
    tensor_.device = {HONE_DL_CUDA, 0};
    tensor_.ndim = 1;
    tensor_.dtype = {HONE_DL_FLOAT, 32, 1};
    tensor_.shape = &extent_;
    extent_ = static_cast<int64_t>(values.size());
  }
  hone_dl_tensor& operator*() { return tensor_; }

 private:
  std::shared_ptr<Device> device_;
  std::unique_ptr<DeviceMemory> memory_;
  int64_t extent_ = 0;
  hone_dl_tensor tensor_{};
};

TEST_F(CudaDeviceTest, TakesTensorsOfTheDeviceAndGivesViewsThere) {
  ASSERT_EQ(Open(), "");
  SharedTensor x({1, 2, 3, 4});
  ASSERT_EQ(hone_set_input_dlpack(model_, 0, &*x), HONE_OK) << hone_last_error();
  ASSERT_EQ(hone_run(model_), HONE_OK) << hone_last_error();
  EXPECT_THAT(Output(), ElementsAre(8, 12, 21, 34));
  hone_dl_managed_tensor* view = nullptr;
  ASSERT_EQ(hone_device_output_dlpack(model_, 0, &view), HONE_OK) << hone_last_error();
  EXPECT_EQ(view->dl_tensor.device.device_type, HONE_DL_CUDA);
  EXPECT_EQ(view->dl_tensor.device.device_id, 0);
  EXPECT_EQ(static_cast<const float*>(view->dl_tensor.data)[3], 34)
      << "the processor plays the GPU";
  EXPECT_NE(view->dl_tensor.data, hone_output(model_, 0)) << "that is the host's copy";
  view->deleter(view);

  SharedTensor other({10, 2, 3, 4});
  ASSERT_EQ(hone_bind_input_dlpack(model_, 0, &*other), HONE_OK) << hone_last_error();
  ASSERT_EQ(hone_run(model_), HONE_OK) << hone_last_error();
  EXPECT_THAT(Output(), ElementsAre(26, 12, 21, 34));
}

TEST_F(CudaDeviceTest, RefusesTensorsOfOtherDevicesAndStrides) {
  ASSERT_EQ(Open(), "");
  SharedTensor x({1, 2, 3, 4});
  (*x).device.device_id = 1;
  EXPECT_EQ(hone_set_input_dlpack(model_, 0, &*x), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(),
              HasSubstr("expected a tensor on the CPU or on the model's device"));
  (*x).device = {HONE_DL_CPU, 0};
  EXPECT_EQ(hone_bind_input_dlpack(model_, 0, &*x), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("expected a tensor on the model's own device to bind"));
  (*x).device = {HONE_DL_CUDA, 0};
  int64_t stride = 2;
  (*x).strides = &stride;
  EXPECT_EQ(hone_set_input_dlpack(model_, 0, &*x), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("expected a row-major tensor"));
}

// The driver lets no later call of the process succeed.
TEST_F(CudaDeviceTest, KeepsTheFirstFaultOfAKernel) {
  ASSERT_EQ(Open("#define ENTRY \"fault\"\n"), "");
  Give({1, 2, 3, 4});
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(hone_run(model_), HONE_FAILED);
    EXPECT_THAT(hone_last_error(),
                AllOf(HasSubstr("expected cuda:0 to go on, found CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
                      HasSubstr("start the process again")));
  }
  EXPECT_EQ(hone_output(model_, 0), nullptr);
}

// A GPU would go on, with undefined results; the driver that stands in for one does not.
TEST_F(CudaDeviceTest, FaultsWhereThreadsOfAWarpDoNotMeet) {
  ASSERT_EQ(Open("#define ENTRY \"apart\"\n#define THREADS 32\n"), "");
  Give({1, 2, 3, 4});
  EXPECT_EQ(hone_run(model_), HONE_FAILED);
  EXPECT_THAT(hone_last_error(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
}

TEST_F(CudaDeviceTest, SaysWhatTheDriverRefuses) {
  EXPECT_THAT(Open("", nullptr, "#define CODE \".visible .entry scale() { what; }\"\n"),
              AllOf(HasSubstr("to compile the module's code for cuda -arch=sm_80"),
                    HasSubstr("CUDA_ERROR_INVALID_PTX (218): expected code as LLVM writes it")));
  EXPECT_THAT(Open("#define ENTRY \"stop\"\n"),
              AllOf(HasSubstr("expected the module's code to have stop"), HasSubstr("(500)")));
  EXPECT_THAT(Open("#define THREADS 2048\n"), HasSubstr("2048 threads"));
  EXPECT_THAT(Open("", "cuda:1"), HasSubstr("expected a device cuda:1, found 1 device of CUDA on"));
  EXPECT_THAT(Open("", "cuda:-1"), HasSubstr("expected a device such as"));
}

// GPUs take 4096 bytes of parameters.
TEST_F(CudaDeviceTest, TakesNoKernelOfThousandsOfParameters) {
  std::string parameters = ".param .u64 p0";
  for (int i = 1; i < 513; ++i) parameters += ", .param .u64 p" + std::to_string(i);
  EXPECT_THAT(
      Open("", nullptr, "#define CODE \".visible .entry scale(" + parameters + ") { ret; }\"\n"),
      HasSubstr("CUDA_ERROR_INVALID_PTX (218)"));
}

TEST_F(CudaDeviceTest, IsTheDeviceOfModulesForItOnly) {
  EXPECT_THAT(Open("", "cpu"), HasSubstr("expected a module for this processor, found one for"));
  EXPECT_THAT(Open("#undef CODE_KIND\n#define CODE_KIND HONE_CODE_OPENCL_C\n"),
              HasSubstr("expected a module for a device of CUDA"));
}

TEST(CudaList, NamesDevicesAndTheirTargets) {
  const std::vector<ListedDevice> devices = cuda::ListDevices();
  ASSERT_EQ(devices.size(), 1);
  EXPECT_EQ(devices[0].name, "cuda:0");
  EXPECT_EQ(devices[0].target, "cuda -arch=sm_86 -multiprocessors=4 -l2=1048576");
  EXPECT_THAT(devices[0].identity, AllOf(HasSubstr("Test Device"), HasSubstr("driver 12030")));
}

TEST(CudaList, KnowsArchitecturesByTheirCapability) {
  EXPECT_EQ(cuda::ArchOf(7, 0), "sm_70");
  EXPECT_EQ(cuda::ArchOf(8, 9), "sm_89");
  EXPECT_EQ(cuda::ArchOf(9, 0), "sm_90a");
  EXPECT_EQ(cuda::ArchOf(10, 3), "sm_103a");
  EXPECT_EQ(cuda::ArchOf(12, 1), "sm_120") << "the newest that is known and not of its own";
}

TEST_F(CudaDeviceTest, SaysWhereMemoryIsShort) {
  std::string error;
  const std::shared_ptr<Device> device = FindDevice("cuda:0", "", 1, &error);
  ASSERT_NE(device, nullptr) << error;
  EXPECT_EQ(device->Allocate(uint64_t{1} << 40), nullptr);
  EXPECT_EQ(device->error(), "") << "it goes on";
  const std::unique_ptr<DeviceMemory> memory = device->Allocate(100);
  ASSERT_NE(memory, nullptr);
  char bytes[100];
  device->CopyOut(bytes, memory->data(), sizeof(bytes));
  EXPECT_EQ(std::string(bytes, 100), std::string(100, '\0')) << "new memory is zeroed";
}

}  // namespace
}  // namespace hone
