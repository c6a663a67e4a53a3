// The ONNX models that are kept in the source tree.
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/frontend/file.h"
#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/node_case.h"
#include "tests/compiler/frontend/seeded_weights.h"
#include "tests/paths.h"

namespace hone::frontend {
namespace {

const std::string kOnnxCases = std::string(HONE_TEST_DATA) + "/onnx/";

TEST(OnnxDataTest, ConformanceCasesAreRight) {
  const NodeCase cases[] = {
      {"test_torch_Conv2d_depthwise_padded", {"0"}},
      {"test_maxpool_2d_ceil", {"x"}},
      {"test_gemm_all_attributes", {"a", "b", "c"}},
      {"test_batchnorm_epsilon", {"x", "s", "bias", "mean", "var"}},
      {"test_softmax_axis_1", {"x"}},
  };
  for (NodeCase c : cases) {
    SCOPED_TRACE(c.folder);
    c.folder = kOnnxCases + c.folder;
    std::string why;
    EXPECT_EQ(RunCase(c, &why), CaseOutcome::kRight) << why;
  }
}

TEST(OnnxDataTest, SeededWeightsAreThoseOfTheGenerator) {
  const auto model = ReadWholeFile(kOnnxCases + "light_squeezenet.onnx");
  ASSERT_TRUE(model.ok()) << model.status();
  const auto seeded = WithSeededWeights(*model, 0);
  ASSERT_TRUE(seeded.ok()) << seeded.status();
  const auto module = ImportOnnxBytes(*seeded);
  ASSERT_TRUE(module.ok()) << module.status();
  const ir::Expr& main = module->functions.at("main");
  ASSERT_EQ(ir::Params(*main).size(), 1u);
  EXPECT_EQ(ir::Body(*main)->type->ToString(), "Tensor[(1, 1000, 1, 1), float32]");
  float first;
  const TensorData input = SeededInput({1, 3, 224, 224});
  std::memcpy(&first, input.bytes.data(), sizeof first);
  EXPECT_EQ(first, -0.8043633699417114f);
}

}  // namespace
}  // namespace hone::frontend
