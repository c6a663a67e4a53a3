// What a program in another language sees.
#include "runtime/c_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/runtime/c_module.h"
#include "tests/runtime/sample_modules.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CApiTest : public testing::Test {
 protected:
  CApiTest() {
    const std::string path = CompileC(folder_, "scale", ScaleModule());
    const float parameters[4] = {2, 3, 5, 7};
    AppendParameters(path, {reinterpret_cast<const char*>(parameters), sizeof(parameters)});
    EXPECT_EQ(hone_open(path.c_str(), 2, &model_), HONE_OK) << hone_last_error();
  }
  ~CApiTest() override { hone_close(model_); }

  std::vector<float> Output() const {
    const auto* data = static_cast<const float*>(hone_output(model_, 0));
    return {data, data + 4};
  }

  TestFolder folder_;
  hone_model* model_ = nullptr;
};

TEST_F(CApiTest, DescribesInputsOutputsAndKernels) {
  EXPECT_EQ(hone_threads(model_), 2);
  EXPECT_EQ(hone_input_count(model_), 1u);
  hone_tensor_info info{};
  ASSERT_EQ(hone_input_info(model_, 0, &info), HONE_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_STREQ(info.dtype, "float32");
  EXPECT_EQ(info.rank, 1u);
  EXPECT_EQ(info.shape[0], 4);
  ASSERT_EQ(hone_output_info(model_, 0, &info), HONE_OK);
  EXPECT_STREQ(info.name, "y");
  hone_kernel_info kernel{};
  ASSERT_EQ(hone_call_count(model_), 1u);
  ASSERT_EQ(hone_call_kernel(model_, 0, &kernel), HONE_OK);
  EXPECT_STREQ(kernel.tier, "tuned");
  EXPECT_EQ(kernel.flops, 4);
}

TEST_F(CApiTest, RunsAndTimes) {
  const float x[4] = {1, 2, 3, 4};
  ASSERT_EQ(hone_set_input(model_, 0, x, sizeof(x)), HONE_OK);
  ASSERT_EQ(hone_run(model_), HONE_OK);
  EXPECT_THAT(Output(), ElementsAre(2, 6, 15, 28));
  double seconds = -1;
  ASSERT_EQ(hone_time(model_, 100, &seconds), HONE_OK);
  EXPECT_GT(seconds, 0);
  double call_ns = -1;
  ASSERT_EQ(hone_profile(model_, 3, &call_ns), HONE_OK);
  EXPECT_GE(call_ns, 0);
  seconds = -1;
  ASSERT_EQ(hone_time_call(model_, 0, 100, &seconds), HONE_OK);
  EXPECT_GT(seconds, 0);
  EXPECT_EQ(hone_time_call(model_, 1, 100, &seconds), HONE_BAD_INPUT);
  EXPECT_STREQ(hone_last_error(), "expected a call below 1, found 1");
  seconds = -1;
  ASSERT_EQ(hone_time_executor(model_, 1000, &seconds), HONE_OK);
  EXPECT_GT(seconds, 0);
}

TEST_F(CApiTest, ARunNamesTheInputsThatWereNeverSet) {
  EXPECT_EQ(hone_run(model_), HONE_BAD_INPUT);
  EXPECT_STREQ(hone_last_error(),
               "expected every input to be set before a run, found none for x (float32[4]); set "
               "what is missing and run again");
  double seconds = 0;
  EXPECT_EQ(hone_time(model_, 1, &seconds), HONE_OK);
  alignas(64) const float x[4] = {1, 2, 3, 4};
  ASSERT_EQ(hone_bind_input(model_, 0, x), HONE_OK);
  EXPECT_EQ(hone_run(model_), HONE_OK);
  ASSERT_EQ(hone_bind_input(model_, 0, nullptr), HONE_OK);
  EXPECT_EQ(hone_run(model_), HONE_BAD_INPUT);
}

TEST_F(CApiTest, SaysWhatIsWrong) {
  const float x[3] = {1, 2, 3};
  EXPECT_EQ(hone_set_input(model_, 0, x, sizeof(x)), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("16 bytes for input x, found 12"));
  EXPECT_EQ(hone_set_input(model_, 1, x, sizeof(x)), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("found 1"));
  alignas(64) const float bound[5] = {};
  EXPECT_EQ(hone_bind_input(model_, 0, bound + 1), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("aligned"));
  EXPECT_EQ(hone_output(model_, 1), nullptr);
  hone_model* none = nullptr;
  EXPECT_EQ(hone_open("/nowhere.so", 1, &none), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("/nowhere.so"));
  EXPECT_EQ(none, nullptr);
}

TEST_F(CApiTest, RefusesNull) {
  const auto refused = [](int code) {
    return code == HONE_BAD_INPUT &&
           std::string(hone_last_error()).find("NULL") != std::string::npos;
  };
  hone_model* opened = nullptr;
  EXPECT_TRUE(refused(hone_open(nullptr, 1, &opened)));
  EXPECT_TRUE(refused(hone_open("/nowhere.so", 1, nullptr)));
  hone_close(nullptr);

  hone_tensor_info info{};
  hone_kernel_info kernel{};
  double seconds = 0;
  float x[4] = {};
  hone_dl_managed_tensor* output = nullptr;
  int64_t shape[1] = {4};
  hone_dl_tensor tensor{x, {HONE_DL_CPU, 0}, 1, {HONE_DL_FLOAT, 32, 1}, shape, nullptr, 0};
  for (hone_model* model : {static_cast<hone_model*>(nullptr), model_}) {
    // With the open model it is the other pointer that is missing.
    EXPECT_TRUE(refused(hone_input_info(model, 0, model != nullptr ? nullptr : &info)));
    EXPECT_TRUE(refused(hone_output_info(model, 0, model != nullptr ? nullptr : &info)));
    EXPECT_TRUE(refused(hone_set_input(model, 0, model != nullptr ? nullptr : x, sizeof(x))));
    EXPECT_TRUE(refused(hone_time(model, 1, model != nullptr ? nullptr : &seconds)));
    EXPECT_TRUE(refused(hone_time_call(model, 0, 1, model != nullptr ? nullptr : &seconds)));
    EXPECT_TRUE(refused(hone_time_executor(model, 1, model != nullptr ? nullptr : &seconds)));
    EXPECT_TRUE(refused(hone_profile(model, 1, model != nullptr ? nullptr : &seconds)));
    EXPECT_TRUE(refused(hone_call_kernel(model, 0, model != nullptr ? nullptr : &kernel)));
    EXPECT_TRUE(refused(hone_set_input_dlpack(model, 0, model != nullptr ? nullptr : &tensor)));
    EXPECT_TRUE(refused(hone_bind_input_dlpack(model, 0, model != nullptr ? nullptr : &tensor)));
    EXPECT_TRUE(refused(hone_output_dlpack(model, 0, model != nullptr ? nullptr : &output)));
    EXPECT_TRUE(refused(hone_device_output_dlpack(model, 0, model != nullptr ? nullptr : &output)));
  }
  EXPECT_TRUE(refused(hone_run(nullptr)));
  EXPECT_TRUE(refused(hone_bind_input(nullptr, 0, nullptr)));
  EXPECT_TRUE(refused(hone_bind_output(nullptr, 0, nullptr)));
  EXPECT_EQ(hone_output(nullptr, 0), nullptr);
  EXPECT_EQ(hone_target(nullptr), nullptr);
  EXPECT_EQ(hone_threads(nullptr), 0);
  EXPECT_EQ(hone_input_count(nullptr), 0u);
  EXPECT_EQ(hone_output_count(nullptr), 0u);
  EXPECT_EQ(hone_call_count(nullptr), 0u);

  tensor.shape = nullptr;
  EXPECT_TRUE(refused(hone_set_input_dlpack(model_, 0, &tensor)));
  tensor.shape = shape;
  tensor.data = nullptr;
  EXPECT_TRUE(refused(hone_set_input_dlpack(model_, 0, &tensor)));
  tensor.data = x;
  EXPECT_EQ(hone_set_input_dlpack(model_, 0, &tensor), HONE_OK);
  EXPECT_EQ(hone_run(model_), HONE_OK);
}

TEST_F(CApiTest, RefusesNumbersThatMakeNoSense) {
  const std::string path = folder_ / "scale.so";
  hone_model* opened = nullptr;
  for (const int threads : {-1, 1025, 1000000}) {
    EXPECT_EQ(hone_open(path.c_str(), threads, &opened), HONE_BAD_INPUT);
    EXPECT_THAT(hone_last_error(),
                AllOf(HasSubstr("1024"), HasSubstr("found " + std::to_string(threads))));
  }
  EXPECT_EQ(hone_open_with(path.c_str(), 1, 6, &opened), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("flags"));
  EXPECT_EQ(opened, nullptr);
  double seconds = 7;
  EXPECT_EQ(hone_time(model_, -1, &seconds), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("found -1"));
  EXPECT_EQ(hone_time_call(model_, 0, 0, &seconds), HONE_BAD_INPUT);
  EXPECT_EQ(hone_time_executor(model_, 0, &seconds), HONE_BAD_INPUT);
  EXPECT_EQ(hone_profile(model_, 0, &seconds), HONE_BAD_INPUT);
  EXPECT_EQ(seconds, 7);
}

TEST_F(CApiTest, TakesAndGivesDlpackTensors) {
  float x[8] = {1, -1, 2, -1, 3, -1, 4, -1};
  int64_t shape[1] = {4};
  int64_t strides[1] = {2};
  hone_dl_tensor tensor{x, {HONE_DL_CPU, 0}, 1, {HONE_DL_FLOAT, 32, 1}, shape, strides, 0};
  ASSERT_EQ(hone_set_input_dlpack(model_, 0, &tensor), HONE_OK) << hone_last_error();
  ASSERT_EQ(hone_run(model_), HONE_OK);
  hone_dl_managed_tensor* output = nullptr;
  ASSERT_EQ(hone_output_dlpack(model_, 0, &output), HONE_OK);
  EXPECT_EQ(output->dl_tensor.ndim, 1);
  EXPECT_EQ(output->dl_tensor.shape[0], 4);
  EXPECT_EQ(output->dl_tensor.dtype.code, HONE_DL_FLOAT);
  EXPECT_EQ(static_cast<const float*>(output->dl_tensor.data)[3], 28);
  output->deleter(output);
  EXPECT_EQ(hone_bind_input_dlpack(model_, 0, &tensor), HONE_BAD_INPUT);
  tensor.dtype.bits = 64;
  EXPECT_EQ(hone_set_input_dlpack(model_, 0, &tensor), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("input x"));
}

TEST(CApiOpenTest, RefusesAnArtifact) {
  TestFolder folder;
  const std::string path = CompileC(folder, "artifact", "#define FUNCTIONS 0\n" + ChainModule());
  hone_model* model = nullptr;
  EXPECT_EQ(hone_open(path.c_str(), 1, &model), HONE_BAD_INPUT);
  EXPECT_THAT(hone_last_error(), HasSubstr("candidate kernel"));
}

}  // namespace
}  // namespace hone
