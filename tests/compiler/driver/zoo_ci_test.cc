// Every model of the zoo in small, on compiled code: the numbers are the interpreter's.
#include "gtest/gtest.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/driver/opencl_here.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/small_zoo.h"

namespace hone::driver {
namespace {

class CompiledZoo : public ::testing::TestWithParam<frontend::SmallModel> {};

void ExpectTheInterpretersNumbers(const ir::Module& module, const Target& target) {
  const std::vector<frontend::TensorData> inputs = frontend::InputsOf(module);
  const auto expected = frontend::RunModel(module, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  absl::StatusOr<Compiled> compiled =
      Compiled::Make(module, {.target = target, .require_tuned = false});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto outputs = compiled->Run(inputs, 1);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(FirstDifference((*outputs)[0], (*expected)[0], 1e-3, 1e-5), "");
}

TEST_P(CompiledZoo, GivesTheInterpretersNumbers) {
  ExpectTheInterpretersNumbers(GetParam().Build(), HostTarget());
}

TEST_P(CompiledZoo, GivesThemOnADeviceOfOpenCl) {
  const std::optional<Target> target = OpenClHere();
  if (!target) GTEST_SKIP() << "no device of OpenCL here; PoCL makes one of the processor";
  ExpectTheInterpretersNumbers(GetParam().Build(), *target);
}

INSTANTIATE_TEST_SUITE_P(Small, CompiledZoo, ::testing::ValuesIn(frontend::SmallZoo()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone::driver
