// Whatever people bring to `hone tune` comes to an end, and stays right: every model of the zoo.
#include <cmath>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/data_type.h"
#include "runtime/executor.h"
#include "runtime/module.h"
#include "support/random.h"
#include "tests/cli/run_hone.h"

namespace hone::cli {
namespace {

using nlohmann::json;

// How far apart results of a default and of a tuned module may be, of the output's largest element:
// algorithms that round differently, through a whole network.
constexpr double kTolerance = 1e-3;

class TuneModel : public ::testing::TestWithParam<const char*> {
 protected:
  json Hone(std::vector<std::string> args) { return RunHoneJson(std::move(args), folder_.path()); }
  json Tune() {
    return Hone({"tune", "model.onnx", "--db", "hone.db", "--threads", "1", "--trials", "2"});
  }
  // The floats of each output of the first function, on inputs from a fixed seed.
  std::vector<std::vector<float>> Outputs(const std::string& module_file) {
    std::string error;
    const std::unique_ptr<Module> module = Module::Open(folder_ / module_file, &error);
    if (module == nullptr) {
      ADD_FAILURE() << error;
      return {};
    }
    const auto executor = Executor::Make(*module, module->table().functions[0], 1, &error);
    if (executor == nullptr) {
      ADD_FAILURE() << error;
      return {};
    }
    FillInputs(*executor);
    executor->Run();
    std::vector<std::vector<float>> outputs;
    for (uint32_t i = 0; i < executor->function().output_count; ++i) {
      const hone_value& value = executor->function().outputs[i];
      EXPECT_EQ(static_cast<DataType>(value.dtype), DataType::kFloat32);
      const auto* floats = static_cast<const float*>(executor->Output(i));
      outputs.emplace_back(floats, floats + value.size_bytes / sizeof(float));
    }
    return outputs;
  }

  TestFolder folder_;

 private:
  // Floats in [0, 1), whole numbers 0 and 1.
  static void FillInputs(Executor& executor) {
    Random random(5);
    for (uint32_t i = 0; i < executor.function().input_count; ++i) {
      const hone_value& value = executor.function().inputs[i];
      const auto type = static_cast<DataType>(value.dtype);
      if (type == DataType::kFloat32) {
        auto* floats = static_cast<float*>(executor.Input(i));
        for (uint64_t e = 0; e < value.size_bytes / sizeof(float); ++e) {
          floats[e] = static_cast<float>(random.Uniform());
        }
      } else {
        ASSERT_EQ(type, DataType::kInt64);
        auto* integers = static_cast<int64_t*>(executor.Input(i));
        for (uint64_t e = 0; e < value.size_bytes / sizeof(int64_t); ++e) {
          integers[e] = static_cast<int64_t>(random.Below(2));
        }
      }
    }
  }
};

void ExpectClose(const std::vector<float>& tuned, const std::vector<float>& standard) {
  ASSERT_EQ(tuned.size(), standard.size());
  double largest = 0;
  double error = 0;
  for (size_t i = 0; i < tuned.size(); ++i) {
    ASSERT_FALSE(std::isnan(tuned[i])) << i;
    largest = std::max(largest, std::abs(static_cast<double>(standard[i])));
    error = std::max(error, std::abs(static_cast<double>(tuned[i]) - standard[i]));
  }
  EXPECT_LE(error, kTolerance * largest);
}

TEST_P(TuneModel, EndsStaysRightAndSpendsNothingTwice) {
  ASSERT_EQ(RunHone({"zoo", GetParam(), "-o", "model.onnx"}, folder_.path()).exit_code, 0);
  const json tuned = Tune();
  ASSERT_FALSE(tuned["tasks"].empty());
  for (const json& task : tuned["tasks"]) {
    EXPECT_LE(task["trials"], 2) << task;
    EXPECT_GT(task["best_us"], 0) << task;
  }
  const json again = Tune();
  for (const json& task : again["tasks"]) EXPECT_EQ(task["trials"], 0) << task;
  EXPECT_EQ(again["models"], tuned["models"]) << "nothing is timed twice";

  Hone({"compile", "model.onnx", "-o", "default.so", "--threads", "1"});
  Hone({"compile", "model.onnx", "-o", "tuned.so", "--db", "hone.db", "--threads", "1"});
  const auto standard = Outputs("default.so");
  const auto outputs = Outputs("tuned.so");
  ASSERT_FALSE(standard.empty());
  ASSERT_EQ(outputs.size(), standard.size());
  for (size_t i = 0; i < outputs.size(); ++i) ExpectClose(outputs[i], standard[i]);
}

INSTANTIATE_TEST_SUITE_P(Zoo, TuneModel,
                         ::testing::Values("mlp", "resnet18", "resnet34", "resnet50", "resnet101",
                                           "resnet152", "resnet_3d", "mobilenet", "mobilenet_v2",
                                           "squeezenet", "inception_v3", "vgg16", "densenet121",
                                           "dcgan", "dqn", "bert", "gcn", "lstm", "synthetic"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace hone::cli
