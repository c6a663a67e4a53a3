// What is tuned for a network in one framework serves its twin in another.
#include <gtest/gtest.h>

#include <set>

#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/tensorflow/import.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/graph_def_maker.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::driver {
namespace {

std::set<std::string> Workloads(const absl::StatusOr<ir::Module>& module, const std::string& op) {
  std::set<std::string> texts;
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return texts;
  const auto tasks = TasksOf(*module, HostTarget());
  EXPECT_TRUE(tasks.ok()) << tasks.status();
  if (!tasks.ok()) return texts;
  for (const TuningTask& task : tasks->tasks) {
    if (task.def->workload.text.find(op) != std::string::npos) {
      texts.insert(task.def->workload.text);
    }
  }
  return texts;
}

// The last convolutions of InceptionV3.
TEST(TensorflowTwin, ConvolutionsOfChannelsLastAreTasksOfChannelsFirst) {
  for (const int64_t channels : {384, 448, 192}) {
    frontend::GraphDefMaker last;
    last.Placeholder("x", {1, 8, 8, 2048})
        .Node("Relu", "data", {"x"})
        .Floats("w", {1, 1, 2048, channels}, {0.5})
        .Node("Conv2D", "conv", {"data", "w"})
        .Window(1, "SAME")
        .Floats("s", {channels}, {1})
        .Node("FusedBatchNormV3", "norm", {"conv", "s", "s", "s", "s"})
        .Flag("is_training", false)
        .Float("epsilon", 0.001F)
        .Node("Relu", "relu", {"norm"})
        .Ints("axes", {1, 2})
        .Node("Mean", "y", {"relu", "axes"});
    const std::vector<float> ones(channels, 1);
    frontend::OnnxMaker first;
    first.Input("x", {1, 2048, 8, 8})
        .Initializer("w", frontend::FloatTensor({channels, 2048, 1, 1},
                                                std::vector<float>(channels * 2048, 0.5F)))
        .Initializer("s", frontend::FloatTensor({channels}, ones))
        .Node("Relu", {"x"}, {"data"})
        .Node("Conv", {"data", "w"}, {"conv"})
        .Node("BatchNormalization", {"conv", "s", "s", "s", "s"}, {"norm"})
        .Float("epsilon", 0.001F)
        .Node("Relu", {"norm"}, {"relu"})
        .Node("GlobalAveragePool", {"relu"}, {"pool"})
        .Node("Flatten", {"pool"}, {"y"})
        .Output("y");
    const auto twin = frontend::ImportOnnxBytes(first.Bytes());
    const auto model = frontend::ImportTensorflowBytes(last.Bytes());
    for (const std::string op : {"nn.conv2d", "nn.global_avg_pool2d"}) {
      const std::set<std::string> expected = Workloads(twin, op);
      EXPECT_EQ(expected.size(), 1u);
      EXPECT_EQ(Workloads(model, op), expected);
    }
  }
}

}  // namespace
}  // namespace hone::driver
