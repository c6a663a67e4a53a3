// The trained graph network of the shared data, from ONNX to its stored numbers and accuracy.
#include <algorithm>
#include <cstring>

#include "compiler/frontend/onnx/import.h"
#include "compiler/ir/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/seeded_weights.h"
#include "tests/compiler/frontend/sparse_file.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::driver {
namespace {

using testing::HasSubstr;
using testing::Not;

class Cora : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::optional<std::string> shared = frontend::SharedData();
    if (!shared) GTEST_SKIP() << "no shared test data here; set HONE_SHARED_DATA to its folder";
    folder_ = *shared + "/cora/";
  }
  frontend::TensorData Read(const std::string& file) const {
    absl::StatusOr<frontend::TensorData> tensor = frontend::ReadTensorFile(folder_ + file);
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    return tensor.ok() ? *std::move(tensor) : frontend::TensorData();
  }
  template <typename T>
  static std::vector<T> Elements(const frontend::TensorData& tensor) {
    std::vector<T> elements(tensor.bytes.size() / sizeof(T));
    std::memcpy(elements.data(), tensor.bytes.data(), tensor.bytes.size());
    return elements;
  }
  // Test nodes whose largest logit is that of their label.
  int Right(const frontend::TensorData& logits) const {
    const auto values = Elements<float>(logits);
    const auto labels = Elements<int64_t>(Read("labels.pb"));
    int right = 0;
    for (const int64_t node : Elements<int64_t>(Read("test_index.pb"))) {
      const auto row = values.begin() + node * 7;
      right += std::max_element(row, row + 7) - row == labels[node] ? 1 : 0;
    }
    return right;
  }

  std::string folder_;
};

TEST_P(Cora, CompiledCodeGivesTheStoredLogitsAndAccuracy) {
  const absl::StatusOr<ir::Module> module = frontend::ImportOnnx(folder_ + GetParam());
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<frontend::TensorData> features =
      frontend::ReadSparseFile(folder_ + "features_sparse.pb");
  ASSERT_TRUE(features.ok()) << features.status();
  absl::StatusOr<Compiled> compiled =
      Compiled::Make(*module, {.target = HostTarget(), .require_tuned = false});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (const int threads : {1, 2}) {
    const auto outputs = compiled->Run({*features}, threads);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(FirstDifference((*outputs)[0], Read("logits.pb"), 1e-3, 1e-5), "");
    EXPECT_EQ(Right((*outputs)[0]), 814);
  }
}

TEST_P(Cora, TheAdjacencyIsSparseAndEveryKernelATask) {
  const absl::StatusOr<ir::Module> module = frontend::ImportOnnx(folder_ + GetParam());
  ASSERT_TRUE(module.ok()) << module.status();
  const auto fused = RunPasses(*module, HostTarget());
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_THAT(ir::ToText(*fused), Not(HasSubstr("(2708, 2708)")));
  const auto tasks = TasksOf(*module, HostTarget());
  ASSERT_TRUE(tasks.ok()) << tasks.status();
  int sparse = 0;
  for (const TuningTask& task : tasks->tasks) {
    const schedule::Task of_task{task.def.get(), task.signature, HostTarget()};
    EXPECT_GT(schedule::SpaceOfTask(of_task).Count(), 1) << task.def->workload.text;
    sparse += task.def->workload.text.find("nn.sparse_dense") != std::string::npos ? 1 : 0;
    if (task.def->workload.text.find("nn.sparse_dense") == std::string::npos) continue;
    EXPECT_THAT(task.def->workload.text, HasSubstr("(13264), float32]"));
  }
  EXPECT_EQ(sparse, 2);
  EXPECT_EQ(tasks->tasks.size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Models, Cora, ::testing::Values("gcn_cora.onnx", "gcn_cora_scatter.onnx"),
                         [](const auto& info) {
                           return std::string(info.param).find("scatter") == std::string::npos
                                      ? std::string("SparseInitializer")
                                      : std::string("Scatter");
                         });

}  // namespace
}  // namespace hone::driver
