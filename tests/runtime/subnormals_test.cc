// Subnormal numbers count as zero in launches that allow it, on every thread, and in nothing else.
#include "runtime/subnormals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cpu_device.h"
#include "runtime/executor.h"
#include "runtime/kernel_runner.h"
#include "tests/runtime/c_module.h"
#include "tests/runtime/sample_modules.h"

namespace hone {
namespace {

using ::testing::Each;

constexpr float kSmall = 1e-30f;
constexpr float kFactor = 1e-10f;
const float kSubnormal = static_cast<float>(1e-30 * 1e-10);

float ProductHere() {
  volatile float small = kSmall;
  return small * kFactor;
}

// Opens ScaleModule, which multiplies four floats by four parameters.
class SubnormalsTest : public testing::TestWithParam<int> {
 protected:
  void Open(const std::string& flags) {
    const std::string path =
        CompileC(folder_, "module", "#define RUN_FLAGS " + flags + "\n" + ScaleModule());
    const std::array<float, 4> factors = {kFactor, kFactor, kFactor, kFactor};
    AppendParameters(path, {reinterpret_cast<const char*>(factors.data()), sizeof(factors)});
    std::string error;
    module_ = Module::Open(path, &error);
    ASSERT_NE(module_, nullptr) << error;
    executor_ = Executor::Make(*module_, module_->table().functions[0], GetParam(), &error);
    ASSERT_NE(executor_, nullptr) << error;
    std::fill_n(static_cast<float*>(executor_->Input(0)), 4, kSmall);
  }
  std::vector<float> Output() const {
    const auto* data = static_cast<const float*>(executor_->Output(0));
    return {data, data + 4};
  }

  TestFolder folder_;
  std::unique_ptr<Module> module_;
  std::unique_ptr<Executor> executor_;
};

TEST_P(SubnormalsTest, CountAsZeroWhereALaunchAllowsIt) {
  Open("HONE_LAUNCH_FLUSH_SUBNORMALS");
  executor_->Run();
  EXPECT_THAT(Output(), Each(0.0f));
  EXPECT_EQ(ProductHere(), kSubnormal) << "the caller's mode is not restored";
}

TEST_P(SubnormalsTest, CountAsZeroInProfilesToo) {
  Open("HONE_LAUNCH_FLUSH_SUBNORMALS");
  executor_->Profile(1);
  EXPECT_THAT(Output(), Each(0.0f));
  EXPECT_EQ(ProductHere(), kSubnormal);
}

TEST_P(SubnormalsTest, AreExactWhereALaunchDoesNotAllowIt) {
  Open("0");
  executor_->Run();
  EXPECT_THAT(Output(), Each(kSubnormal));
}

// A caller who flushes them gets the same from launches that say nothing, and keeps its mode.
TEST_P(SubnormalsTest, LeaveACallersOwnChoiceAlone) {
  Open("HONE_LAUNCH_FLUSH_SUBNORMALS");
  SubnormalMode callers;
  callers.Set(true);
  executor_->Run();
  EXPECT_EQ(ProductHere(), 0);
}

TEST_P(SubnormalsTest, CountAlikeInAKernelThatIsMeasured) {
  for (const bool flush : {true, false}) {
    Open(flush ? "HONE_LAUNCH_FLUSH_SUBNORMALS" : "0");
    CpuDevice device(std::make_shared<ThreadTeam>(GetParam()));
    std::string error;
    const auto loaded = device.Load(*module_, &error);
    ASSERT_NE(loaded, nullptr) << error;
    KernelRunner runner(module_->table(), module_->table().kernels[0], *loaded);
    std::array<float, 4> x{kSmall, kSmall, kSmall, kSmall}, y{};
    std::array<float, 4> p{kFactor, kFactor, kFactor, kFactor};
    runner.Bind({x.data(), p.data(), y.data()});
    runner.Run(HONE_PHASE_RUN);
    EXPECT_THAT(y, Each(flush ? 0.0f : kSubnormal));
    EXPECT_EQ(ProductHere(), kSubnormal);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, SubnormalsTest, testing::Values(1, 2, 4));

}  // namespace
}  // namespace hone
