#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ops/call_type.h"
#include "compiler/ops/lower.h"
#include "compiler/ops/typing.h"
#include "tests/compiler/ops/op_runner.h"

namespace hone::ops {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

struct ConvCase {
  const char* name;
  Ints data, weight, strides, padding, dilation;
  int64_t groups;
};

void PrintTo(const ConvCase& c, std::ostream* out) { *out << c.name; }

// A convolution over any number of spatial axes, straight from its definition.
TestTensor ReferenceConv(const ConvCase& c, const TestTensor& data, const TestTensor& weight) {
  const size_t n = c.weight.size() - 2;
  Ints shape = {c.data[0], c.weight[0]};
  for (size_t i = 0; i < n; ++i) {
    const int64_t padded = c.data[2 + i] + c.padding[i] + c.padding[n + i];
    shape.push_back((padded - c.dilation[i] * (c.weight[2 + i] - 1) - 1) / c.strides[i] + 1);
  }
  const int64_t group_out = c.weight[0] / c.groups;
  return Generate(shape, [&](const Index& at) {
    double sum = 0;
    const Ints taps(c.weight.begin() + 1, c.weight.end());
    Generate(taps, [&](const Index& tap) {
      Index in = {at[0], at[1] / group_out * c.weight[1] + tap[0]};
      Index w = {at[1], tap[0]};
      for (size_t i = 0; i < n; ++i) {
        const int64_t p = at[2 + i] * c.strides[i] + tap[1 + i] * c.dilation[i] - c.padding[i];
        if (p < 0 || p >= c.data[2 + i]) return 0.0;
        in.push_back(p);
        w.push_back(tap[1 + i]);
      }
      sum += data.At(in) * weight.At(w);
      return 0.0;
    });
    return sum;
  });
}

class ConvTest : public testing::TestWithParam<ConvCase> {};

TEST_P(ConvTest, EqualsItsDefinition) {
  const ConvCase& c = GetParam();
  const TestTensor data = RandomTensor(c.data, 1);
  const TestTensor weight = RandomTensor(c.weight, 2);
  const std::string op = "nn.conv" + std::to_string(c.data.size() - 2) + "d";
  ExpectNear(RunOp(op, {data, weight},
                   {{"strides", c.strides},
                    {"padding", c.padding},
                    {"dilation", c.dilation},
                    {"groups", c.groups}}),
             ReferenceConv(c, data, weight));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvTest,
    testing::Values(
        ConvCase{"plain", {1, 3, 6, 5}, {4, 3, 3, 3}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1},
        ConvCase{"padded", {2, 3, 6, 5}, {4, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1},
        ConvCase{"uneven_pads", {1, 2, 6, 5}, {3, 2, 3, 2}, {2, 1}, {0, 1, 2, 0}, {1, 1}, 1},
        ConvCase{"strided_1x1", {1, 4, 7, 7}, {3, 4, 1, 1}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 1},
        ConvCase{"dilated", {1, 2, 9, 9}, {2, 2, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 3}, 1},
        ConvCase{"grouped", {1, 4, 5, 5}, {6, 2, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2},
        ConvCase{"depthwise", {1, 4, 5, 5}, {4, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 4},
        ConvCase{"depthwise_x2", {1, 3, 5, 5}, {6, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 3},
        ConvCase{"one_axis", {1, 3, 8}, {2, 3, 3}, {2}, {1, 0}, {1}, 1},
        ConvCase{"three_axes",
                 {1, 2, 4, 5, 4},
                 {2, 2, 2, 3, 2},
                 {1, 2, 1},
                 {1, 0, 0, 0, 1, 1},
                 {1, 1, 1},
                 1}),
    [](const auto& info) { return info.param.name; });

TEST(ConvTypeTest, IntegersAccumulateIn32Bits) {
  const TestTensor data = RandomTensor({1, 8, 3, 3}, 1, DataType::kInt8, -128, 128);
  const TestTensor weight = RandomTensor({2, 8, 3, 3}, 2, DataType::kInt8, -128, 128);
  const auto result = RunOp("nn.conv2d", {data, weight});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->dtype, DataType::kInt32);
  double sum = 0;
  for (size_t i = 0; i < data.values.size(); ++i) sum += data.values[i] * weight.values[i];
  EXPECT_EQ(result->values[0], sum);
}

TEST(ConvTypeTest, ErrorsNameOperandExpectedAndFound) {
  const ir::TensorType data = {{1, 4, 8, 8}, DataType::kFloat32};
  EXPECT_EQ(InferenceError("nn.conv2d", {data, {{8, 3, 3, 3}, DataType::kFloat32}}),
            "nn.conv2d: operand weight: expected 4 input channels a group and output channels "
            "divisible by groups=1, found Tensor[(8, 3, 3, 3), float32]");
  EXPECT_THAT(InferenceError("nn.conv2d", {{{4, 8, 8}, DataType::kFloat32}, data}),
              HasSubstr("operand data: expected a tensor of rank 4, found"));
  EXPECT_THAT(InferenceError("nn.conv2d", {data, {{8, 4, 3, 3}, DataType::kFloat64}}),
              HasSubstr("operand weight: expected float32 as the data, found"));
  EXPECT_THAT(InferenceError("nn.conv2d", {data, {{8, 4, 9, 9}, DataType::kFloat32}}),
              HasSubstr("operand data: expected a padded extent of at least 9 on axis 2"));
  EXPECT_THAT(
      InferenceError("nn.conv2d", {data, {{8, 4, 3, 3}, DataType::kFloat32}},
                     {{"strides", Ints{0, 1}}}),
      HasSubstr("attribute strides: expected 2 positive integers below 2147483648, found (0, 1)"));
  EXPECT_THAT(InferenceError("nn.max_pool2d", {data}, {{"pool_size", Ints{INT64_MAX, 1}}}),
              HasSubstr("expected a window of positive extents below 2147483648, found "
                        "(9223372036854775807, 1)"));
  EXPECT_THAT(InferenceError("nn.conv2d", {data}), HasSubstr("expected 2 operands, found 1"));
  EXPECT_THAT(InferenceError("nn.conv2d", {data, data}, {{"stride", Ints{1, 1}}}),
              HasSubstr("unknown attribute stride"));
  EXPECT_THAT(InferenceError("nn.conv2d", {data, data}, {{"groups", 1.5}}),
              HasSubstr("attribute groups: expected an integer, found a float"));
  EXPECT_THAT(InferenceError("nn.conv9d", {data}), HasSubstr("no operator nn.conv9d"));
}

ir::Expr ConvRelu(Ints padding) {
  const ir::Expr data = ir::TensorVar("x", {1, 8, 6, 6}, DataType::kFloat32);
  const ir::Expr weight = ir::TensorVar("w", {16, 8, 3, 3}, DataType::kFloat32);
  const ir::Expr conv = *TypedCall("nn.conv2d", {data, weight}, {{"padding", padding}});
  return TypedFunction({data, weight}, *TypedCall("nn.relu", {conv}));
}

TEST(LowerTest, StagesOperandsAndFlopsOfAFusedKernel) {
  const auto kernel = Lower(ConvRelu({1, 1, 1, 1}), {false, true});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  ASSERT_EQ(kernel->naive.launches.size(), 3u);
  EXPECT_EQ(kernel->naive.launches[0].name, "pad");
  EXPECT_EQ(kernel->naive.launches[1].name, "conv2d");
  EXPECT_EQ(kernel->naive.launches[2].name, "relu");
  EXPECT_EQ(kernel->naive.buffers[0]->role, loop::Role::kInput);
  EXPECT_EQ(kernel->naive.buffers[1]->role, loop::Role::kConstant);
  EXPECT_EQ(kernel->naive.buffers.back()->role, loop::Role::kOutput);
  ASSERT_EQ(kernel->ops.size(), 2u);
  EXPECT_EQ(kernel->ops[0].op, "nn.conv2d");
  EXPECT_EQ(kernel->ops[0].args, (std::vector<std::string>{"p0", "p1"}));
  EXPECT_EQ(kernel->ops[0].results, (std::vector<std::string>{"conv2d"}));
  EXPECT_EQ(kernel->ops[1].args, (std::vector<std::string>{"conv2d"}));
  EXPECT_EQ(kernel->flops, 2.0 * 16 * 36 * 8 * 9 + 16 * 36);
}

TEST(LowerTest, NoPadStageWithoutPadding) {
  const auto kernel = Lower(ConvRelu({0, 0, 0, 0}), {false, true});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  ASSERT_EQ(kernel->naive.launches.size(), 2u);
  EXPECT_EQ(kernel->naive.launches[0].name, "conv2d");
}

TEST(LowerTest, TheWorkloadsTextGivesTheSameKernel) {
  const auto kernel = Lower(ConvRelu({1, 1, 1, 1}), {false, true});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto again = LowerWorkload(kernel->workload.text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(loop::ToText(again->naive), loop::ToText(kernel->naive));
  EXPECT_EQ(again->workload.digest, kernel->workload.digest);
  EXPECT_EQ(again->flops, kernel->flops);
}

TEST(LowerTest, RefusesWhatIsNoKernel) {
  EXPECT_EQ(LowerWorkload("fn (").status().code(), absl::StatusCode::kInvalidArgument);
  const ir::Expr x = ir::TensorVar("x", {2, 3}, DataType::kFloat32);
  const ir::Expr unknown =
      ir::WithType(ir::Call("nn.magic", {x}), TensorOf({2, 3}, DataType::kFloat32));
  EXPECT_EQ(Lower(TypedFunction({x}, unknown), {false}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Lower(TypedFunction({x}, x), {false, true}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hone::ops
