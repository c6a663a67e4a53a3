// Real models with bytes changed, cut out and put in: every one is imported or refused, none
// crashes.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <set>

#include "compiler/frontend/file.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/tensorflow/import.h"
#include "support/random.h"
#include "tests/compiler/frontend/seeded_weights.h"
#include "tests/paths.h"

namespace hone::frontend {
namespace {

std::string Damage(std::string bytes, Random& random) {
  for (uint64_t k = random.Below(4) + 1; k > 0 && !bytes.empty(); --k) {
    const size_t at = random.Below(bytes.size());
    switch (random.Below(4)) {
      case 0:
        bytes[at] = static_cast<char>(random.Next());
        break;
      case 1:
        bytes.erase(at, random.Below(16));
        break;
      case 2:
        bytes.insert(at, bytes.substr(random.Below(bytes.size()), random.Below(32)));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
    }
  }
  return bytes;
}

void ExpectImportedOrRefused(const absl::Status& status) {
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status) || absl::IsUnimplemented(status))
      << status;
}

TEST(DamagedModelsTest, AreImportedOrRefused) {
  const std::string folder = std::string(HONE_TEST_DATA) + "/onnx/";
  const std::pair<const char*, int> models[] = {
      {"test_torch_Conv2d_depthwise_padded/model.onnx", 4000},
      {"test_maxpool_2d_ceil/model.onnx", 4000},
      {"test_gemm_all_attributes/model.onnx", 4000},
      {"test_batchnorm_epsilon/model.onnx", 4000},
      {"test_softmax_axis_1/model.onnx", 4000},
      {"light_squeezenet.onnx", 300}};
  Random random(11);
  for (const auto& [name, rounds] : models) {
    const auto bytes = ReadWholeFile(folder + name);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    int imported = 0;
    for (int round = 0; round < rounds; ++round) {
      const auto module = ImportOnnxBytes(Damage(*bytes, random));
      imported += module.ok() ? 1 : 0;
      ExpectImportedOrRefused(module.status());
    }
    std::cout << name << ": " << imported << " of " << rounds << " still imported\n";
  }
}

TEST(DamagedModelsTest, OfTensorflowAreImportedOrRefused) {
  constexpr int kRounds = 20000;
  const auto bytes = ReadWholeFile(std::string(HONE_TEST_DATA) + "/tensorflow/small.pb");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  Random random(13);
  int imported = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto module = ImportTensorflowBytes(Damage(*bytes, random));
    imported += module.ok() ? 1 : 0;
    ExpectImportedOrRefused(module.status());
  }
  std::cout << "small.pb: " << imported << " of " << kRounds << " still imported\n";
}

// Every operator of the conformance cases.
TEST(DamagedModelsTest, OfEveryOperatorAreImportedOrRefused) {
  const auto data = SharedData();
  if (!data)
    GTEST_SKIP() << "the shared test data is not there; set HONE_SHARED_DATA to its folder";
  Random random(12);
  int imported = 0;
  int rounds = 0;
  std::set<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(*data + "/onnx_node")) {
    if (entry.is_directory()) folders.insert(entry.path().string());
  }
  for (const std::string& folder : folders) {
    const auto bytes = ReadWholeFile(folder + "/model.onnx");
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    for (int round = 0; round < 600; ++round, ++rounds) {
      const auto module = ImportOnnxBytes(Damage(*bytes, random));
      imported += module.ok() ? 1 : 0;
      SCOPED_TRACE(folder);
      ExpectImportedOrRefused(module.status());
    }
  }
  std::cout << "conformance cases: " << imported << " of " << rounds << " still imported\n";
}

}  // namespace
}  // namespace hone::frontend
