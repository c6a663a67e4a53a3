// One module for several shapes of a model's inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/driver/compile.h"
#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::driver {
namespace {

using frontend::Floats;
using frontend::FloatTensor;
using ::testing::HasSubstr;

// y = x W, and norm = relu(table): the one depends on the extent N of x, the other does not.
ir::Module Model(int64_t n, const std::string& output = "norm") {
  frontend::OnnxMaker maker;
  std::vector<float> weight(64 * 48);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i % 7) - 3;
  maker.Input("x", {-1, 64})
      .Input("table", {64})
      .Initializer("weight", FloatTensor({64, 48}, weight))
      .Node("MatMul", {"x", "weight"}, {"y"})
      .Node("Relu", {"table"}, {output})
      .Output("y")
      .Output(output);
  return frontend::ImportOnnxBytes(
             maker.Bytes(),
             {.shapes = {{"x", {n, 64}}}, .dims = {}, .constants = {}, .values = {}, .outputs = {}})
      .value();
}

TEST(Specialisations, ShareKernelsAndConstants) {
  const auto alone = Compiled::Make(Model(1), {.target = HostTarget()});
  ASSERT_TRUE(alone.ok()) << alone.status();
  const std::vector<ir::Module> two = {Model(1), Model(4)};
  const auto both = Compiled::Make(two, {.target = HostTarget()});
  ASSERT_TRUE(both.ok()) << both.status();
  const CompileReport& report = both->report();
  ASSERT_EQ(report.specialisations.size(), 2u);
  EXPECT_EQ(report.specialisations[1].inputs[0].shape, (std::vector<int64_t>{4, 64}));
  EXPECT_EQ(report.specialisations[1].names[0], "x");
  EXPECT_EQ(report.kernels.size(), alone->report().kernels.size() + 1);
  int shared = 0;
  for (const KernelReport& kernel : report.kernels) shared += kernel.specialisations.size() == 2;
  EXPECT_EQ(shared, 1);
  const auto tasks = TasksOf(two, HostTarget());
  ASSERT_TRUE(tasks.ok()) << tasks.status();
  EXPECT_EQ(tasks->tasks.size(), report.kernels.size());
  EXPECT_EQ(tasks->constant_bytes, TasksOf(two[0], HostTarget())->constant_bytes);
}

TEST(Specialisations, HaveOneCopyOfAConstantInOneLayout) {
  std::vector<ir::Module> modules;
  std::vector<uint64_t> bytes;
  for (const int64_t n : {1, 2, 5}) {
    frontend::OnnxMaker maker;
    maker.Input("x", {n, 64})
        .Initializer("scale", FloatTensor({64}, std::vector<float>(64, 3)))
        .Node("Mul", {"x", "scale"}, {"y"})
        .Output("y");
    modules.push_back(frontend::ImportOnnxBytes(maker.Bytes(), {}).value());
    const auto compiled = Compiled::Make(modules, {.target = HostTarget()});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    bytes.push_back(compiled->report().parameters_bytes);
  }
  EXPECT_EQ(bytes, std::vector<uint64_t>(3, 64 * sizeof(float)));
}

TEST(Specialisations, GiveWhatEachGivesAlone) {
  std::vector<float> table(64, -1);
  table[3] = 5;
  const std::vector<ir::Module> all = {Model(4), Model(1), Model(3)};
  auto compiled = Compiled::Make(all, {.target = HostTarget()});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t n = compiled->report().specialisations[i].inputs[0].shape[0];
    std::vector<float> x(n * 64);
    for (size_t e = 0; e < x.size(); ++e) x[e] = static_cast<float>(e % 5) - 2;
    const std::vector<frontend::TensorData> inputs = {FloatTensor({n, 64}, x),
                                                      FloatTensor({64}, table)};
    auto alone = Compiled::Make(all[i], {.target = HostTarget()});
    ASSERT_TRUE(alone.ok()) << alone.status();
    const auto expected = alone->Run(inputs, 1);
    const auto found = compiled->Run(inputs, 1, i);
    ASSERT_TRUE(expected.ok() && found.ok()) << found.status();
    EXPECT_EQ(FirstDifference((*found)[0], (*expected)[0], 0, 0), "");
    EXPECT_EQ(FirstDifference((*found)[1], (*expected)[1], 0, 0), "");
    EXPECT_EQ(Floats((*found)[1])[3], 5);
  }
}

TEST(Specialisations, DifferInShapesOfInputsOnly) {
  for (const std::vector<ir::Module>& wrong :
       {std::vector<ir::Module>{Model(2), Model(2)}, {Model(2), Model(3, "another")}}) {
    const auto compiled = Compiled::Make(wrong, {.target = HostTarget()});
    EXPECT_TRUE(absl::IsInvalidArgument(compiled.status()));
    EXPECT_THAT(std::string(compiled.status().message()), HasSubstr("specialisations that differ"));
  }
}

}  // namespace
}  // namespace hone::driver
