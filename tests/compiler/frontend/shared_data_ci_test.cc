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
#include "tests/compiler/frontend/node_case.h"
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

NodeCase ReadCase(const std::string& folder, const nlohmann::json& entry) {
  NodeCase c;
  c.folder = folder + std::string(entry["name"]);
  for (const auto& input : entry["inputs"]) c.inputs.push_back(input["name"]);
  return c;
}

// Inputs that became constants and decide no shape by the manifest, which does not list those of
// expanded operators. What has a shape that depends on data needs that data.
std::vector<std::string> NeedlessConstants(const nlohmann::json& entry,
                                           const std::vector<std::string>& constants) {
  std::vector<std::string> needless;
  if (entry["dynamic_output_shape"] || entry["expanded"]) return needless;
  for (const std::string& name : constants) {
    const auto& listed = entry["const_inputs"];
    if (std::find(listed.begin(), listed.end(), name) == listed.end()) needless.push_back(name);
  }
  return needless;
}

// What is not refused by name is right.
TEST(OnnxNodeTest, NoCaseIsWrong) {
  const auto data = SharedData();
  if (!data) GTEST_SKIP() << kAbsent;
  std::map<CaseOutcome, int> counts;
  for (const auto& entry : ReadJson(*data + "/onnx_node/manifest.json")) {
    const std::string name = entry["name"];
    std::string why;
    std::vector<std::string> constants;
    const NodeCase node_case = ReadCase(*data + "/onnx_node/", entry);
    const CaseOutcome outcome = RunCase(node_case, &why, &constants);
    EXPECT_THAT(NeedlessConstants(entry, constants), testing::IsEmpty()) << name;
    ++counts[outcome];
    EXPECT_NE(outcome, CaseOutcome::kWrong) << name << ": " << why;
    if (outcome == CaseOutcome::kRefused && std::getenv("HONE_VERBOSE") != nullptr) {
      std::cout << name << ": " << why.substr(0, 300) << "\n";
    }
  }
  std::cout << "onnx_node by the interpreter: " << counts[CaseOutcome::kRight] << " right, "
            << counts[CaseOutcome::kRefused] << " refused, " << counts[CaseOutcome::kWrong]
            << " wrong\n";
  EXPECT_GE(counts[CaseOutcome::kRight], 585);
}

}  // namespace
}  // namespace hone::frontend
