// Tensors without elements go the whole way: kernels of them compile and run.
#include "compiler/ops/call_type.h"
#include "gtest/gtest.h"
#include "support/status.h"
#include "tests/compiler/driver/compiled.h"

namespace hone::driver {
namespace {

frontend::TensorData Zeros(std::vector<int64_t> shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return {DataType::kFloat32, std::move(shape), std::string(count * sizeof(float), '\0')};
}

// The result of an operator on two tensors of zeros.
absl::StatusOr<std::vector<frontend::TensorData>> RunOnZeros(const std::string& op,
                                                             const std::vector<int64_t>& a,
                                                             const std::vector<int64_t>& b) {
  const ir::Expr x = ir::TensorVar("x", a, DataType::kFloat32);
  const ir::Expr y = ir::TensorVar("y", b, DataType::kFloat32);
  HONE_ASSIGN_OR_RETURN(ir::Expr call, ops::TypedCall(op, {x, y}));
  ir::Module module;
  module.functions["main"] = ops::TypedFunction(
      {x, y}, std::move(call), {{"output_names", std::vector<std::string>{"out"}}});
  HONE_ASSIGN_OR_RETURN(Compiled compiled,
                        Compiled::Make(module, {.target = HostTarget(), .require_tuned = false}));
  return compiled.Run({Zeros(a), Zeros(b)}, 1);
}

TEST(EmptyTensors, ProductsOfNoRowsAndOfNoDepth) {
  const auto no_rows = RunOnZeros("nn.dense", {0, 4}, {3, 4});
  ASSERT_TRUE(no_rows.ok()) << no_rows.status();
  EXPECT_EQ((*no_rows)[0], Zeros({0, 3}));
  const auto no_depth = RunOnZeros("nn.dense", {3, 0}, {4, 0});
  ASSERT_TRUE(no_depth.ok()) << no_depth.status();
  EXPECT_EQ((*no_depth)[0], Zeros({3, 4}));
}

TEST(EmptyTensors, ConvolutionsOfNoImages) {
  const auto result = RunOnZeros("nn.conv2d", {0, 3, 8, 8}, {16, 3, 3, 3});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)[0], Zeros({0, 16, 6, 6}));
}

TEST(EmptyTensors, SumsOfThem) {
  const auto result = RunOnZeros("add", {2, 0, 3}, {1, 3});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)[0], Zeros({2, 0, 3}));
}

}  // namespace
}  // namespace hone::driver
