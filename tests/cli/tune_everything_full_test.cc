// Whatever people bring to `hone tune` comes to an end, and stays right: every model of the zoo,
// and every kind of kernel.
#include <algorithm>
#include <cmath>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure_server/element.h"
#include "nlohmann/json.hpp"
#include "runtime/data_type.h"
#include "runtime/executor.h"
#include "runtime/module.h"
#include "support/random.h"
#include "tests/cli/kernel_kinds.h"
#include "tests/cli/run_hone.h"

namespace hone::cli {
namespace {

using nlohmann::json;

struct Tensor {
  DataType type;
  std::vector<double> elements;
};

// The step from 1 to the next number of a type of floats.
double Epsilon(DataType type) {
  switch (type) {
    case DataType::kFloat64:
      return 0x1p-52;
    case DataType::kFloat16:
      return 0x1p-10;
    case DataType::kBFloat16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

// How far apart elements of a default and of a tuned module may be, as a share of the output's
// largest: algorithms that round differently, through a whole network.
double Tolerance(DataType type) { return std::max(1e-3, 4 * Epsilon(type)); }

class TuneModel : public ::testing::Test {
 protected:
  // Tunes a model of this folder to an end, twice, and compares what it computes with and without
  // what was tuned.
  void ExpectEndsStaysRightAndSpendsNothingTwice(const std::string& model) {
    const json tuned = Tune(model);
    ASSERT_FALSE(tuned["tasks"].empty());
    for (const json& task : tuned["tasks"]) {
      EXPECT_LE(task["trials"], 2) << task;
      EXPECT_GT(task["best_us"], 0) << task;
    }
    const json again = Tune(model);
    for (const json& task : again["tasks"]) EXPECT_EQ(task["trials"], 0) << task;
    EXPECT_EQ(again["models"], tuned["models"]) << "nothing is timed twice";

    Hone({"compile", model, "-o", "default.so", "--threads", "1"});
    Hone({"compile", model, "-o", "tuned.so", "--db", Database(), "--threads", "1"});
    const std::vector<Tensor> standard = Outputs("default.so");
    const std::vector<Tensor> outputs = Outputs("tuned.so");
    ASSERT_FALSE(standard.empty());
    ASSERT_EQ(outputs.size(), standard.size());
    for (size_t i = 0; i < outputs.size(); ++i) ExpectClose(outputs[i], standard[i]);
  }

  // One for all tests: the micro-kernels are timed once.
  static std::string Database() {
    static const TestFolder folder;
    return folder / "hone.db";
  }

  TestFolder folder_;

 private:
  json Hone(std::vector<std::string> args) { return RunHoneJson(std::move(args), folder_.path()); }
  json Tune(const std::string& model) {
    return Hone({"tune", model, "--db", Database(), "--threads", "1", "--trials", "2"});
  }

  // Each output of the first function, on inputs from a fixed seed.
  std::vector<Tensor> Outputs(const std::string& module_file) {
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
    std::vector<Tensor> outputs;
    for (uint32_t i = 0; i < executor->function().output_count; ++i) {
      const hone_value& value = executor->function().outputs[i];
      const auto type = static_cast<DataType>(value.dtype);
      Tensor& output = outputs.emplace_back(Tensor{.type = type, .elements = {}});
      const auto count = static_cast<int64_t>(value.size_bytes) / SizeBytes(type);
      for (int64_t e = 0; e < count; ++e) {
        output.elements.push_back(measure::LoadElement(type, executor->Output(i), e));
      }
    }
    return outputs;
  }

  // Floats in [0, 1), whole numbers 0 and 1.
  static void FillInputs(Executor& executor) {
    Random random(5);
    for (uint32_t i = 0; i < executor.function().input_count; ++i) {
      const hone_value& value = executor.function().inputs[i];
      const auto type = static_cast<DataType>(value.dtype);
      const auto count = static_cast<int64_t>(value.size_bytes) / SizeBytes(type);
      for (int64_t e = 0; e < count; ++e) {
        const double drawn = random.Uniform();
        measure::StoreElement(type, executor.Input(i), e,
                              IsFloat(type) ? drawn : std::round(drawn));
      }
    }
  }

  static void ExpectClose(const Tensor& tuned, const Tensor& standard) {
    ASSERT_EQ(tuned.type, standard.type);
    ASSERT_EQ(tuned.elements.size(), standard.elements.size());
    double largest = 0;
    double error = 0;
    for (size_t i = 0; i < tuned.elements.size(); ++i) {
      ASSERT_FALSE(std::isnan(tuned.elements[i])) << i;
      largest = std::max(largest, std::abs(standard.elements[i]));
      error = std::max(error, std::abs(tuned.elements[i] - standard.elements[i]));
    }
    EXPECT_LE(error, IsFloat(tuned.type) ? Tolerance(tuned.type) * largest : 0);
  }
};

class TuneZooModel : public TuneModel, public testing::WithParamInterface<const char*> {};

TEST_P(TuneZooModel, EndsStaysRightAndSpendsNothingTwice) {
  ASSERT_EQ(RunHone({"zoo", GetParam(), "-o", "model.onnx"}, folder_.path()).exit_code, 0);
  ExpectEndsStaysRightAndSpendsNothingTwice("model.onnx");
}

INSTANTIATE_TEST_SUITE_P(Zoo, TuneZooModel,
                         ::testing::Values("mlp", "resnet18", "resnet34", "resnet50", "resnet101",
                                           "resnet152", "resnet_3d", "mobilenet", "mobilenet_v2",
                                           "squeezenet", "inception_v3", "vgg16", "densenet121",
                                           "dcgan", "dqn", "bert", "gcn", "lstm", "synthetic"),
                         [](const auto& info) { return std::string(info.param); });

class TuneKernelKind : public TuneModel, public testing::WithParamInterface<KernelKind> {};

TEST_P(TuneKernelKind, EndsStaysRightAndSpendsNothingTwice) {
  WriteFile(folder_ / "model.relay", ModelOf(GetParam()));
  ExpectEndsStaysRightAndSpendsNothingTwice("model.relay");
}

INSTANTIATE_TEST_SUITE_P(Kinds, TuneKernelKind, testing::ValuesIn(KernelKinds()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone::cli
