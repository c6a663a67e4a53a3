// Small graphs with TensorFlow's own results: the files of tests/data/tensorflow/operators, which
// tests/compiler/frontend/tensorflow/make_cases.py wrote.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "compiler/frontend/file.h"
#include "compiler/frontend/tensorflow/graph.h"
#include "compiler/frontend/tensorflow/import.h"
#include "compiler/ir/expr.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/paths.h"

namespace hone::frontend {
namespace {

const std::string kTensorflowOperators = std::string(HONE_TEST_DATA) + "/tensorflow/operators";

// The constants whose names begin with `prefix`, by the rest of the name.
std::map<std::string, TensorData> ValuesOf(const tf::Graph& graph, const std::string& prefix) {
  std::map<std::string, TensorData> values;
  for (const tf::Node& node : graph.nodes) {
    if (!node.name.starts_with(prefix)) continue;
    const ir::Expr e = std::get<ir::Expr>(node.attrs.at("value"));
    const auto* const bytes = reinterpret_cast<const char*>(e->data.bytes());
    values[node.name.substr(prefix.size())] = {e->type->tensor.dtype, e->type->tensor.shape,
                                               std::string(bytes, e->data.size_bytes())};
  }
  return values;
}

class TensorflowCasesTest : public testing::TestWithParam<std::string> {};

TEST_P(TensorflowCasesTest, IsRight) {
  const auto bytes = ReadWholeFile(fmt::format("{}/{}.pb", kTensorflowOperators, GetParam()));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  Allowance allowance(int64_t{1} << 30);
  const auto graph = tf::ReadGraph(*bytes, allowance);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto inputs = ValuesOf(*graph, "value/");
  const auto expected = ValuesOf(*graph, "expected/");
  const auto module = ImportTensorflowBytes(*bytes);
  ASSERT_TRUE(module.ok()) << module.status();
  const ir::Expr& main = module->functions.at("main");
  std::vector<TensorData> args;
  for (const ir::Expr& param : ir::Params(*main)) args.push_back(inputs.at(param->name));
  const auto outputs = RunModel(*module, args);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const auto names = ir::GetAttr<std::vector<std::string>>(main->attrs, "output_names", {});
  ASSERT_EQ(outputs->size(), names.size());
  EXPECT_EQ(names.size(), expected.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(Difference((*outputs)[i], expected.at(names[i]), 1e-5, 2e-5), "") << names[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, TensorflowCasesTest,
                         testing::ValuesIn(StemsIn(kTensorflowOperators)),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hone::frontend
