// Whole image networks from ONNX to numbers: with upstream's constant weights, and with seeded
// ones, which is the set that proves anything.
#include <fstream>
#include <sstream>

#include "compiler/frontend/onnx/import.h"
#include "gtest/gtest.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/seeded_weights.h"

namespace hone::driver {
namespace {

struct LightModel {
  const char* name;
  int last_scale_log2;
};

class LightModels : public ::testing::TestWithParam<LightModel> {
 protected:
  void SetUp() override {
    const std::optional<std::string> shared = frontend::SharedData();
    if (!shared) GTEST_SKIP() << "no shared test data here; set HONE_SHARED_DATA to its folder";
    folder_ = *shared + "/onnx_light/";
  }
  std::string Bytes(const std::string& file) const {
    std::ifstream stream(folder_ + file, std::ios::binary);
    std::stringstream bytes;
    bytes << stream.rdbuf();
    return bytes.str();
  }
  void Expect(const std::string& model, const frontend::TensorData& input,
              const std::string& expected_file, double atol) {
    const absl::StatusOr<ir::Module> module = frontend::ImportOnnxBytes(model);
    ASSERT_TRUE(module.ok()) << module.status();
    absl::StatusOr<Compiled> compiled =
        Compiled::Make(*module, {.target = HostTarget(), .require_tuned = false});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const absl::StatusOr<frontend::TensorData> expected =
        frontend::ReadTensorFile(folder_ + expected_file);
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (int threads : {1, 2}) {
      const auto outputs = compiled->Run({input}, threads);
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      EXPECT_EQ(FirstDifference((*outputs)[0], *expected, 1e-3, atol), "") << threads << " threads";
    }
  }

  std::string folder_;
};

TEST_P(LightModels, ConstantWeights) {
  const std::string name = GetParam().name;
  const absl::StatusOr<frontend::TensorData> input =
      frontend::ReadTensorFile(folder_ + "input_ramp.pb");
  ASSERT_TRUE(input.ok()) << input.status();
  Expect(Bytes(name + ".onnx"), *input, name + "_output_0.pb", 1e-5);
}

TEST_P(LightModels, SeededWeights) {
  const std::string name = GetParam().name;
  const absl::StatusOr<std::string> model =
      frontend::WithSeededWeights(Bytes(name + ".onnx"), GetParam().last_scale_log2);
  ASSERT_TRUE(model.ok()) << model.status();
  Expect(*model, frontend::SeededInput({1, 3, 224, 224}), name + ".seeded_output_0.pb", 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, LightModels,
                         ::testing::Values(LightModel{"light_resnet50", -13},
                                           LightModel{"light_squeezenet", 0},
                                           LightModel{"light_inception_v1", -2},
                                           LightModel{"light_vgg19", -1},
                                           LightModel{"light_bvlc_alexnet", -2}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone::driver
