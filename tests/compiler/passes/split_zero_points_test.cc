// Zero points out of the sums: the same integers, bit for bit, on every target.
#include "compiler/passes/split_zero_points.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ops/call_type.h"
#include "compiler/passes/evaluator.h"
#include "compiler/passes/infer_type.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/rewriting.h"
#include "support/random.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

using ir::Expr;
using Ints = std::vector<int64_t>;

const char* const kTargets[] = {"llvm -mtriple=x86_64-linux-gnu -mcpu=cascadelake",
                                "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3",
                                "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1",
                                "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"};

Expr RandomBytes(Random& random, const Ints& shape, DataType dtype) {
  const ir::TensorType type = {shape, dtype};
  std::vector<uint8_t> bytes(static_cast<size_t>(type.ElementCount()));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Below(256));
  return ir::ConstantFromBytes(type, bytes.data());
}

DataType RandomType(Random& random) {
  return random.Below(2) == 0 ? DataType::kInt8 : DataType::kUInt8;
}

// One number, often 0; or a vector.
Expr RandomZero(Random& random, DataType dtype, int64_t vector) {
  if (vector > 0 && random.Below(3) == 0) return RandomBytes(random, {vector}, dtype);
  return random.Below(3) == 0 ? Scalar(0, dtype) : RandomBytes(random, {}, dtype);
}

int64_t Between(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.Below(static_cast<uint64_t>(high - low + 1)));
}

// A product; its data, and now and then its weight and zero points, are inputs.
struct Model {
  ir::Module module;
  std::vector<Expr> inputs;
};

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  Model Make() {
    const Expr body = Scaled(random_.Below(3) == 0 ? Matrices() : Conv());
    Model model;
    model.module.functions["main"] = ir::Function(params_, body);
    model.inputs = std::move(inputs_);
    return model;
  }

 private:
  Expr Input(const Expr& value) {
    inputs_.push_back(value);
    params_.push_back(ir::Var(fmt::format("p{}", params_.size()), *value->type));
    return params_.back();
  }
  Expr Maybe(const Expr& value) { return random_.Below(4) == 0 ? Input(value) : value; }

  Expr Conv() {
    const int64_t groups = random_.Below(3) == 0 ? Between(random_, 1, 5) : 1;
    const int64_t in = random_.Below(2) == 0 ? 1 : Between(random_, 1, 5);
    const int64_t out = random_.Below(2) == 0 ? 1 : Between(random_, 1, 3);
    const int64_t taps = Between(random_, 1, 3);
    const int64_t pad = Between(random_, 0, taps - 1);
    const int64_t extent = taps + Between(random_, 0, 4);
    const DataType data = RandomType(random_);
    const DataType weight = RandomType(random_);
    return MakeTyped(
        "qnn.conv2d",
        {Input(
             RandomBytes(random_, {Between(random_, 1, 2), groups * in, extent, extent + 1}, data)),
         Maybe(RandomBytes(random_, {groups * out, in, taps, taps}, weight)),
         Maybe(RandomZero(random_, data, 0)), Maybe(RandomZero(random_, weight, groups * out))},
        {{"groups", groups},
         {"padding", Ints{pad, 0, pad, 1}},
         {"strides", Ints{Between(random_, 1, 2), 1}}});
  }

  Expr Matrices() {
    const bool batched = random_.Below(2) == 0;
    Ints a = {Between(random_, 1, 4), Between(random_, 1, 9)};
    Ints b = {Between(random_, 1, 5), a[1]};
    const DataType data = RandomType(random_);
    const DataType weight = RandomType(random_);
    const Expr data_zero = RandomZero(random_, data, batched ? 0 : a[0]);
    const Expr weight_zero = RandomZero(random_, weight, b[0]);
    if (batched) {
      const int64_t batch = Between(random_, 1, 3);
      a.insert(a.begin(), batch);
      b.insert(b.begin(), random_.Below(2) == 0 ? 1 : batch);
    }
    return MakeTyped(batched ? "qnn.batch_matmul" : "qnn.dense",
                     {Input(RandomBytes(random_, a, data)), Maybe(RandomBytes(random_, b, weight)),
                      Maybe(data_zero), Maybe(weight_zero)});
  }

  // Back to bytes, through what keeps them, and to integers again.
  Expr Scaled(const Expr& sums) {
    if (random_.Below(2) == 0) return sums;
    const DataType dtype = RandomType(random_);
    const Expr bytes = MakeTyped("qnn.requantize", {sums, Scalar(0.0013, DataType::kFloat32),
                                                    RandomZero(random_, dtype, 0)});
    const Expr bounded = MakeTyped("maximum", {bytes, Scalar(17, dtype)});
    const Ints flat = {bytes->type->tensor.ElementCount()};
    const Expr moved = MakeTyped("reshape", {bounded}, {{"newshape", flat}});
    return MakeTyped("cast", {moved}, {{"dtype", DataType::kInt32}});
  }

  Random random_;
  std::vector<Expr> params_;
  std::vector<Expr> inputs_;
};

TEST(SplitZeroPoints, KeepsEveryBitOfRandomProducts) {
  int split = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Model model = Maker(seed).Make();
    const auto typed = InferTypes(model.module);
    ASSERT_TRUE(typed.ok()) << typed.status();
    PassContext context = TestContext();
    context.target = *CpuTarget::Parse(kTargets[seed % 4]);
    const auto after = SplitZeroPoints(*typed, context);
    ASSERT_TRUE(after.ok()) << after.status();
    const auto retyped = InferTypes(*after);
    ASSERT_TRUE(retyped.ok()) << retyped.status() << ir::ToText(*after);
    const Expr expected = InterpretMain(*typed, model.inputs)[0];
    const Expr actual = InterpretMain(*retyped, model.inputs)[0];
    ASSERT_EQ(expected->type->ToString(), actual->type->ToString());
    ASSERT_EQ(
        std::memcmp(expected->data.bytes(), actual->data.bytes(), expected->data.size_bytes()), 0)
        << seed << "\n"
        << ir::ToText(*typed) << ir::ToText(*retyped);
    split += ir::ToText(*retyped).find("qnn.conv2d") == std::string::npos ? 1 : 0;
  }
  EXPECT_GT(split, 300);
}

// As behind DynamicQuantizeLinear: the product of bytes is one, whatever is around it.
TEST(SplitZeroPoints, PaddingOfARunTimeZeroPointIsPartOfTheData) {
  Random random(1);
  const Expr weight = RandomBytes(random, {2, 3, 3, 3}, DataType::kInt8);
  for (const char* padding : {"1", "1, 0", "1, 0, 0, 2"}) {
    const auto typed = InferTypes(*ir::ParseModule(fmt::format(
        R"(
def @main(%x: Tensor[(1, 3, 4, 5), uint8], %w: Tensor[(2, 3, 3, 3), int8], %z: uint8) {{
  qnn.conv2d(%x, %w, %z, 0i8, padding=[{}])
}})",
        padding)));
    ASSERT_TRUE(typed.ok()) << typed.status();
    for (const char* target : kTargets) {
      PassContext context = TestContext();
      context.target = *CpuTarget::Parse(target);
      const auto after = InferTypes(*SplitZeroPoints(*typed, context));
      ASSERT_TRUE(after.ok()) << after.status();
      const std::string text = ir::ToText(*after);
      EXPECT_EQ(text.find("qnn."), std::string::npos) << text;
      EXPECT_NE(text.find("nn.pad"), std::string::npos) << text;
      for (const uint8_t zero : {0, 1, 127, 128, 255}) {
        const std::vector<Expr> inputs = {RandomBytes(random, {1, 3, 4, 5}, DataType::kUInt8),
                                          weight, Scalar(zero, DataType::kUInt8)};
        const Expr expected = InterpretMain(*typed, inputs)[0];
        const Expr actual = InterpretMain(*after, inputs)[0];
        ASSERT_EQ(
            std::memcmp(expected->data.bytes(), actual->data.bytes(), expected->data.size_bytes()),
            0)
            << text;
      }
    }
  }
}

// Between two products of int8 nothing turns signs on a target whose products want uint8.
TEST(SplitZeroPoints, SignedDataBecomesUnsignedWhereItIsMade) {
  const auto typed = InferTypes(*ir::ParseModule(R"(
def @main(%x: Tensor[(2, 4), int32], %r: Tensor[(3, 4), int8]) {
  %0 = qnn.requantize(%x, 0.5f32, -3i8);
  %1 = maximum(%0, -3i8);
  %2 = qnn.dense(%1, %r, -3i8, 0i8);
  %3 = qnn.dequantize(%1, 0.5f32, -3i8);
  (%2, %3)
})"));
  ASSERT_TRUE(typed.ok()) << typed.status();
  PassContext context = TestContext();
  context.target = *CpuTarget::Parse(kTargets[0]);
  const std::string text = ir::ToText(*SplitZeroPoints(*typed, context));
  EXPECT_NE(text.find("qnn.requantize(%x, 0.5f32, 125u8)"), std::string::npos) << text;
  EXPECT_NE(text.find("125u8);"), std::string::npos) << text;
  EXPECT_EQ(text.find("xor"), std::string::npos) << text;
}

}  // namespace
}  // namespace hone::passes
