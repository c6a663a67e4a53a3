// Every model of the zoo in small, on compiled code: the numbers are the interpreter's.
#include "gtest/gtest.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/small_zoo.h"

namespace hone::driver {
namespace {

class CompiledZoo : public ::testing::TestWithParam<frontend::SmallModel> {};

TEST_P(CompiledZoo, GivesTheInterpretersNumbers) {
  const ir::Module module = GetParam().Build();
  const std::vector<frontend::TensorData> inputs = frontend::InputsOf(module);
  const auto expected = frontend::RunModel(module, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  absl::StatusOr<Compiled> compiled =
      Compiled::Make(module, {.target = HostTarget(), .require_tuned = false});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto outputs = compiled->Run(inputs, 1);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(FirstDifference((*outputs)[0], (*expected)[0], 1e-3, 1e-5), "");
}

INSTANTIATE_TEST_SUITE_P(Small, CompiledZoo, ::testing::ValuesIn(frontend::SmallZoo()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone::driver
