// Every model of the zoo in small, on compiled code: the numbers are the interpreter's.
#include <string>
#include <tuple>

#include "gtest/gtest.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/driver/device_here.h"
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

INSTANTIATE_TEST_SUITE_P(Small, CompiledZoo, ::testing::ValuesIn(frontend::SmallZoo()),
                         [](const auto& info) { return std::string(info.param.name); });

class ZooOnDevices : public ::testing::TestWithParam<std::tuple<DeviceKind, frontend::SmallModel>> {
};

TEST_P(ZooOnDevices, GiveTheInterpretersNumbers) {
  const auto& [kind, model] = GetParam();
  HONE_SKIP_WITHOUT(kind);
  ExpectTheInterpretersNumbers(model.Build(), *Target::Parse(kind.target));
}

INSTANTIATE_TEST_SUITE_P(Small, ZooOnDevices,
                         ::testing::Combine(::testing::ValuesIn(DeviceKinds()),
                                            ::testing::ValuesIn(frontend::SmallZoo())),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" +
                                  std::string(std::get<1>(info.param).name);
                         });

}  // namespace
}  // namespace hone::driver
