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

// As in ResNets of Keras, and as tf2onnx leaves them: no kernel pads.
TEST(TensorflowTwin, PadsOfZerosBecomePaddingInEitherFramework) {
  const std::vector<float> weights(5 * 3 * 3 * 3, 0.5F);
  frontend::GraphDefMaker last;
  last.Placeholder("x", {1, 9, 9, 3})
      .Ints("flat", {0, 0, 1, 1, 1, 0, 0, 0})
      .Ints("dims", {4, 2})
      .Node("Reshape", "pads", {"flat", "dims"})
      .Node("Pad", "padded", {"x", "pads"})
      .Floats("w", {3, 3, 3, 5}, weights)
      .Node("Conv2D", "y", {"padded", "w"})
      .Window(2, "VALID");
  frontend::OnnxMaker explicit_pad;
  explicit_pad.Input("x", {1, 3, 9, 9})
      .Initializer("pads", frontend::IntTensor({8}, {0, 0, 1, 1, 0, 0, 1, 0}))
      .Initializer("w", frontend::FloatTensor({5, 3, 3, 3}, weights))
      .Node("Pad", {"x", "pads"}, {"padded"})
      .Node("Conv", {"padded", "w"}, {"y"})
      .Ints("strides", {2, 2})
      .Output("y");
  frontend::OnnxMaker own;
  own.Input("x", {1, 3, 9, 9})
      .Initializer("w", frontend::FloatTensor({5, 3, 3, 3}, weights))
      .Node("Conv", {"x", "w"}, {"y"})
      .Ints("strides", {2, 2})
      .Ints("pads", {1, 1, 1, 0})
      .Output("y");
  const auto expected = Workloads(frontend::ImportOnnxBytes(own.Bytes()), "nn.conv2d");
  EXPECT_EQ(expected.size(), 1u);
  for (const auto& model : {frontend::ImportOnnxBytes(explicit_pad.Bytes()),
                            frontend::ImportTensorflowBytes(last.Bytes())}) {
    EXPECT_EQ(Workloads(model, "nn.conv2d"), expected);
    EXPECT_TRUE(Workloads(model, "nn.pad").empty());
  }
}

}  // namespace
}  // namespace hone::driver
