// The models and cases of the shared test data, where they are there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/frontend/file.h"
#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/seeded_weights.h"

namespace hone::frontend {
namespace {

constexpr char kAbsent[] = "the shared test data is not there; set HONE_SHARED_DATA to its folder";

nlohmann::json ReadJson(const std::string& path) {
  return nlohmann::json::parse(ReadWholeFile(path).value());
}

TEST(LightModelsTest, AllImportWithStoredAndWithSeededWeights) {
  const auto data = SharedData();
  if (!data) GTEST_SKIP() << kAbsent;
  const std::string folder = *data + "/onnx_light/";
  for (const auto& entry : ReadJson(folder + "manifest.json")) {
    const std::string file = entry["model"];
    SCOPED_TRACE(file);
    const auto expected = ReadTensorFile(folder + std::string(entry["outputs"][0]["file"]));
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto stored = ImportOnnx(folder + file);
    ASSERT_TRUE(stored.ok()) << stored.status();
    const ir::Expr& main = stored->functions.at("main");
    ASSERT_EQ(ir::Params(*main).size(), 1u);
    EXPECT_EQ(ir::Params(*main)[0]->name, std::string(entry["inputs"][0]["name"]));
    EXPECT_EQ(ir::Body(*main)->type->tensor.shape, expected->shape);

    const auto bytes =
        WithSeededWeights(ReadWholeFile(folder + file).value(), entry["seeded"]["last_scale_log2"]);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    const auto seeded = ImportOnnxBytes(*bytes);
    ASSERT_TRUE(seeded.ok()) << seeded.status();
    EXPECT_EQ(ir::Params(*seeded->functions.at("main")).size(), 1u);
    EXPECT_EQ(ir::Body(*seeded->functions.at("main"))->type->tensor.shape, expected->shape);
  }
}

enum class Outcome { kRight, kRefused, kWrong };

// Runs one conformance case; `why` says what is wrong, or why it is refused.
Outcome RunCase(const std::string& folder, const nlohmann::json& entry, std::string* why) {
  ImportOptions options;
  std::vector<TensorData> inputs;
  for (const auto& input : entry["inputs"]) {
    const std::string name = input["name"];
    TensorData tensor = ReadTensorFile(folder + std::string(input["file"])).value();
    const auto is_listed = [&](const char* list) {
      return std::find(entry[list].begin(), entry[list].end(), name) != entry[list].end();
    };
    if (is_listed("const_inputs") || is_listed("quant_inputs")) {
      options.constants[name] = std::move(tensor);
    } else {
      inputs.push_back(std::move(tensor));
    }
  }
  const auto module = ImportOnnx(folder + "model.onnx", options);
  if (!module.ok()) {
    *why = std::string(module.status().message());
    return Outcome::kRefused;
  }
  const auto outputs = RunModel(*module, inputs);
  if (!outputs.ok()) {
    *why = std::string(outputs.status().message());
    return Outcome::kWrong;
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    const auto expected = ReadTensorFile(folder + std::string(entry["outputs"][i]["file"]));
    *why = Difference((*outputs)[i], expected.value());
    if (!why->empty()) return Outcome::kWrong;
  }
  return Outcome::kRight;
}

// What is not refused by name is right.
TEST(OnnxNodeTest, NoCaseIsWrong) {
  const auto data = SharedData();
  if (!data) GTEST_SKIP() << kAbsent;
  std::map<Outcome, int> counts;
  for (const auto& entry : ReadJson(*data + "/onnx_node/manifest.json")) {
    const std::string name = entry["name"];
    std::string why;
    const Outcome outcome = RunCase(*data + "/onnx_node/" + name + "/", entry, &why);
    ++counts[outcome];
    EXPECT_NE(outcome, Outcome::kWrong) << name << ": " << why;
    if (outcome == Outcome::kRefused && std::getenv("HONE_VERBOSE") != nullptr) {
      std::cout << name << ": " << why.substr(0, 300) << "\n";
    }
  }
  std::cout << "onnx_node by the interpreter: " << counts[Outcome::kRight] << " right, "
            << counts[Outcome::kRefused] << " refused, " << counts[Outcome::kWrong] << " wrong\n";
  EXPECT_GE(counts[Outcome::kRight], 200);
}

}  // namespace
}  // namespace hone::frontend
