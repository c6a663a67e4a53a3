// Factors that move into weights leave what a network computes.
#include "compiler/passes/fold_scale_axis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/printer.h"
#include "compiler/passes/evaluator.h"
#include "compiler/passes/infer_type.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/rewriting.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

using ir::Call;
using ir::Expr;

constexpr int64_t kChannels = 4;

Expr Factors(Random& random) {
  const std::vector<std::vector<int64_t>> shapes = {
      {}, {1}, {kChannels, 1, 1}, {1, kChannels, 1, 1}, {6}, {6, 1}};
  const std::vector<int64_t>& shape = shapes[random.Below(shapes.size())];
  const ir::TensorType type{shape, DataType::kFloat32};
  std::vector<float> values(static_cast<size_t>(type.ElementCount()));
  const bool positive = random.Below(3) != 0;
  for (float& value : values) {
    value = (static_cast<float>(random.Below(4)) + 1) / 2;
    if (!positive && random.Below(2) == 0) value = -value;
  }
  return ir::ConstantFromBytes(type, values.data());
}

Expr RandomConv(Random& random, const Expr& x) {
  const int64_t groups = std::vector<int64_t>{1, 2, kChannels}[random.Below(3)];
  const auto pad_value = static_cast<int64_t>(random.Below(5) == 0 ? 2 : 0);
  return Call(
      "nn.conv2d", {x, RandomConstant(random, {kChannels, kChannels / groups, 3, 3})},
      {{"padding", std::vector<int64_t>(4, 1)}, {"pad_value", pad_value}, {"groups", groups}});
}

Expr RandomPool(Random& random, const Expr& x) {
  const ir::Attrs attrs = {{"pool_size", std::vector<int64_t>{3, 3}},
                           {"strides", std::vector<int64_t>{1, 1}},
                           {"padding", std::vector<int64_t>(4, 1)}};
  return Call(random.Below(2) == 0 ? "nn.max_pool2d" : "nn.avg_pool2d", {x}, attrs);
}

ir::Module RandomScales(Random& random) {
  const Expr data = ir::TensorVar("data", {1, kChannels, 6, 6}, DataType::kFloat32);
  std::vector<Expr> values{data};
  const auto pick = [&] {
    return values[values.size() - 1 - random.Below(std::min<size_t>(values.size(), 2))];
  };
  const size_t count = 3 + random.Below(8);
  for (size_t i = 0; i < count; ++i) {
    const Expr x = pick();
    switch (random.Below(8)) {
      case 0:
        values.push_back(Call("nn.relu", {x}));
        break;
      case 1:
        values.push_back(RandomPool(random, x));
        break;
      case 2:
        values.push_back(Call("add", {x, RandomConstant(random, {kChannels, 1, 1})}));
        break;
      case 3:
        values.push_back(Call("add", {RandomConv(random, x), RandomConv(random, pick())}));
        break;
      case 4:
        values.push_back(Call("nn.leaky_relu", {x}, {{"alpha", 0.5}}));
        break;
      case 5:
        values.push_back(RandomConv(random, x));
        break;
      default:
        values.push_back(Call("multiply", {x, Factors(random)}));
    }
  }
  if (random.Below(2) == 0) return {{{"main", ir::Function({data}, values.back())}}};
  // A dense layer with factors before and behind.
  const int64_t features = kChannels * 36;
  Expr x = Call("nn.batch_flatten", {values.back()});
  x = Call("multiply", {x, RandomConstant(random, {features})});
  x = Call("nn.dense", {x, RandomConstant(random, {6, features})});
  x = Call("multiply", {x, RandomConstant(random, {6})});
  return {{{"main", ir::Function({data}, x)}}};
}

size_t Multiplications(const ir::Module& module) {
  size_t count = 0;
  for (const Expr& node : ir::PostOrder(module.functions.at("main"))) {
    count += ir::IsCall(node, "multiply") ? 1 : 0;
  }
  return count;
}

TEST(FoldScaleAxis, KeepsWhatRandomNetsCompute) {
  PassContext context = TestContext();
  context.evaluator = DefaultEvaluator();
  size_t folded = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const auto before = InferTypes(RandomScales(random));
    ASSERT_TRUE(before.ok()) << before.status();
    const auto after = RunOne(*before, context, "FoldScaleAxis");
    ASSERT_TRUE(after.ok()) << after.status();
    folded += Multiplications(*before) - Multiplications(*after);
    const std::vector<Expr> inputs{RandomConstant(random, {1, kChannels, 6, 6})};
    const Expr expected = InterpretMain(*before, inputs)[0];
    const Expr found = InterpretMain(*after, inputs)[0];
    const auto count = static_cast<size_t>(expected->type->tensor.ElementCount());
    const auto* a = reinterpret_cast<const float*>(expected->data.bytes());
    const auto* b = reinterpret_cast<const float*>(found->data.bytes());
    float scale = 1;
    for (size_t i = 0; i < count; ++i) scale = std::max(scale, std::abs(a[i]));
    for (size_t i = 0; i < count; ++i) {
      ASSERT_NEAR(a[i], b[i], 1e-5 * scale)
          << seed << "\n"
          << ir::ToText(*before, {.constants = false}) << ir::ToText(*after, {.constants = false});
    }
  }
  EXPECT_GT(folded, 200u);
}

TEST(FoldScaleAxis, NegativeFactorsDoNotPassRelu) {
  const ir::Module module = Typed(R"(
def @main(%x: Tensor[(3, 2), float32]) {
  %0 = nn.relu(multiply(%x, meta[Constant][0]));
  nn.dense(%0, meta[Constant][1])
}
meta[Constant][0] = Tensor[(2), float32] "AAAAwAAAgEA=";
meta[Constant][1] = Tensor[(1, 2), float32] "AACAPwAAAEA=";)");
  const auto after = RunOne(module, TestContext(), "FoldScaleAxis");
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(Multiplications(*after), 1u);
}

// A model's weights are as much memory as all else in it: the pass must fill none.
TEST(FoldScaleAxis, TouchesNoWeights) {
  Random random(3);
  const Expr data = ir::TensorVar("data", {1, kChannels, 6, 6}, DataType::kFloat32);
  const Expr before = Call("multiply", {data, RandomConstant(random, {kChannels, 1, 1})});
  const Expr conv = Call("nn.conv2d", {before, RandomConstant(random, {8, kChannels, 3, 3})});
  const Expr behind = Call("multiply", {conv, RandomConstant(random, {8, 1, 1})});
  const auto after = RunOne({{{"main", ir::Function({data}, behind)}}}, TestContext(),  //
                            "FoldScaleAxis");
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(Multiplications(*after), 0u);
  const Expr& body = ir::Body(*after->functions.at("main"));
  ASSERT_TRUE(ir::IsCall(body, "nn.conv2d"));
  EXPECT_TRUE(body->args[1]->data.IsPending());
}

}  // namespace
}  // namespace hone::passes
