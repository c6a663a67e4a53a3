// A constant sparse matrix whose rows differ in length gives the same bits on any number of
// threads, however its rows are shared out.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ops/call_type.h"
#include "runtime/host.h"
#include "support/random.h"
#include "tests/compiler/driver/compiled.h"

namespace hone::driver {
namespace {

using frontend::TensorData;

constexpr int64_t kColumns = 50;
constexpr int64_t kResultColumns = 24;

// Lengths of 300 rows: one has nearly all elements, or they fall by half, or all are empty.
std::vector<int32_t> Lengths(const std::string& kind) {
  std::vector<int32_t> lengths(300, kind == "hub" ? 1 : 0);
  if (kind == "hub") lengths[7] = 20000;
  if (kind == "sorted") {
    for (size_t row = 0; row < 14; ++row) lengths[row] = 1 << (13 - row);
  }
  return lengths;
}

// The matrix by an input; `spare` elements stand behind those of the rows.
ir::Module Product(const std::vector<int32_t>& lengths, int64_t spare) {
  std::vector<int32_t> begins = {0};
  for (const int32_t length : lengths) begins.push_back(begins.back() + length);
  const int64_t nonzeros = begins.back() + spare;
  Random random(3);
  std::vector<float> data;
  std::vector<int32_t> columns;
  for (int64_t i = 0; i < nonzeros; ++i) {
    data.push_back(static_cast<float>(random.Uniform() - 0.5));
    columns.push_back(static_cast<int32_t>(random.Below(kColumns)));
  }
  const auto rows = static_cast<int64_t>(begins.size());
  const ir::Expr x = ir::TensorVar("x", {kColumns, kResultColumns}, DataType::kFloat32);
  ir::Module module;
  module.functions["main"] = ops::TypedFunction(
      {x}, *ops::TypedCall("nn.sparse_dense",
                           {ir::ConstantFromBytes({{nonzeros}, DataType::kFloat32}, data.data()),
                            ir::ConstantFromBytes({{nonzeros}, DataType::kInt32}, columns.data()),
                            ir::ConstantFromBytes({{rows}, DataType::kInt32}, begins.data()), x}));
  return module;
}

TensorData Features() {
  Random random(5);
  std::vector<float> values(kColumns * kResultColumns);
  for (float& value : values) value = static_cast<float>(random.Uniform() - 0.5);
  TensorData tensor{DataType::kFloat32, {kColumns, kResultColumns}, ""};
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return tensor;
}

class SparseShares : public ::testing::TestWithParam<const char*> {};

TEST_P(SparseShares, EveryTeamGivesTheSameBits) {
  const ir::Module module = Product(Lengths(GetParam()), /*spare=*/5);
  CompileOptions options;
  options.target = HostTarget();
  auto alone = Compiled::Make(module, options);
  ASSERT_TRUE(alone.ok()) << alone.status();
  const auto expected = alone->Run({Features()}, 1);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const int target_threads : {2, 3}) {
    options.target = *CpuTarget::Parse(HostTargetText(target_threads));
    auto shared = Compiled::Make(module, options);
    ASSERT_TRUE(shared.ok()) << shared.status();
    ASSERT_EQ(shared->report().kernels.size(), 1u);
    EXPECT_NE(shared->report().kernels[0].config.find("nonzeros"), std::string::npos)
        << shared->report().kernels[0].config;
    for (const int threads : {1, 2, 3}) {
      const auto found = shared->Run({Features()}, threads);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_TRUE((*found)[0].bytes == (*expected)[0].bytes) << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, SparseShares, ::testing::Values("hub", "sorted", "empty"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace hone::driver
