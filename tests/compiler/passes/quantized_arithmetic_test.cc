// Sums, products and means of bytes that are quantised at once: the values onnxruntime's integer
// kernels give where real numbers, rounded one by one, fall on the other side of a tie.
#include "compiler/passes/quantized_arithmetic.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/str_replace.h"
#include "compiler/ir/printer.h"
#include "compiler/passes/pipeline.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

ir::Expr Bytes(std::vector<int64_t> shape, const std::vector<uint8_t>& values) {
  return ir::ConstantFromBytes({std::move(shape), DataType::kUInt8}, values.data());
}

// main after Legalize alone.
std::vector<uint8_t> Legalized(const std::string& text, const std::vector<ir::Expr>& inputs) {
  ir::Module module = Typed(text);
  for (const Pass& pass : Pipeline()) {
    if (pass.name != "Legalize") continue;
    const auto result = pass.run(module, TestContext());
    EXPECT_TRUE(result.ok()) << result.status();
    if (result.ok()) module = *result;
  }
  const ir::Expr result = InterpretMain(module, inputs)[0];
  std::vector<uint8_t> values(result->data.size_bytes());
  std::memcpy(values.data(), result->data.bytes(), values.size());
  return values;
}

std::string Binary(const char* op, const char* end) {
  return fmt::format(
      "def @main(%x: Tensor[(3), uint8], %y: Tensor[(3), uint8]) {{ %0 = qnn.dequantize(%x, "
      "0.5f32, 3u8); %1 = qnn.dequantize(%y, 0.25f32, 5u8); qnn.quantize({}(%0, %1), {}) }}",
      op, end);
}

using Values = std::vector<uint8_t>;

// The zero point, odd, is added before rounding to even: 0.5 + 1 and 1.5 + 1 become 2, where
// rounding first makes 0 + 1 and 2 + 1. Sums saturate at either end.
TEST(QuantizedArithmeticTest, SumsAddTheZeroPointBeforeRounding) {
  const std::string text = Binary("add", "1.0f32, 1u8");
  EXPECT_EQ(Legalized(text, {Bytes({3}, {4, 4, 3}), Bytes({3}, {5, 9, 5})}), (Values{2, 2, 1}));
  const std::string fine = Binary("add", "0.25f32, 1u8");
  EXPECT_EQ(Legalized(fine, {Bytes({3}, {255, 0, 3}), Bytes({3}, {5, 0, 6})}), (Values{255, 0, 2}));
}

TEST(QuantizedArithmeticTest, ProductsAddTheZeroPointBeforeRounding) {
  const std::string text = Binary("multiply", "0.25f32, 1u8");
  EXPECT_EQ(Legalized(text, {Bytes({3}, {4, 6, 3}), Bytes({3}, {6, 6, 9})}), (Values{2, 2, 1}));
}

// 2.5 and 3.5 steps are rounded to even, then the zero point is added.
TEST(QuantizedArithmeticTest, MeansAddTheZeroPointAfterRounding) {
  const std::string text =
      "def @main(%x: Tensor[(1, 2, 1, 2), uint8]) { %0 = qnn.dequantize(%x, 0.5f32, 3u8); "
      "qnn.quantize(nn.global_avg_pool2d(%0), 0.5f32, 1u8) }";
  EXPECT_EQ(Legalized(text, {Bytes({1, 2, 1, 2}, {5, 6, 6, 7})}), (Values{3, 5}));
}

// Kernels of integers exist for one type of bytes only; others stay real numbers, each rounded.
TEST(QuantizedArithmeticTest, OperandsOfAnotherTypeStayReal) {
  const std::string text =
      "def @main(%x: Tensor[(1), uint8], %y: Tensor[(1), uint8]) { %0 = qnn.dequantize(%x, 0.5f32, "
      "3u8); %1 = qnn.dequantize(cast(%y, dtype=int8), 0.25f32, 5i8); qnn.quantize(add(%0, %1), "
      "1.0f32, 1u8) }";
  EXPECT_EQ(Legalized(text, {Bytes({1}, {4}), Bytes({1}, {5})}), (Values{1}));
}

// Channels of weights are found behind a transpose also where its axes count from the end.
TEST(QuantizedArithmeticTest, AxesOfATransposeMayCountFromTheEnd) {
  const auto legalized = [](const char* axes) {
    ir::Module module = Typed(fmt::format(
        "def @main(%x: Tensor[(2, 3), uint8], %w: Tensor[(3, 4), int8], %s: Tensor[(4), float32], "
        "%z: Tensor[(4), int8]) {{ %0 = qnn.dequantize(%x, 0.5f32, 3u8); "
        "%1 = transpose(qnn.dequantize(%w, %s, %z, axis=1), axes={}); nn.dense(%0, %1) }}",
        axes));
    for (const Pass& pass : Pipeline()) {
      if (pass.name == "Legalize") module = *pass.run(module, TestContext());
    }
    return ir::ToText(module);
  };
  const std::string from_front = legalized("[1, 0]");
  EXPECT_NE(from_front.find("qnn.dense"), std::string::npos) << from_front;
  EXPECT_EQ(absl::StrReplaceAll(legalized("[-1, -2]"), {{"[-1, -2]", "[1, 0]"}}), from_front);
}

}  // namespace
}  // namespace hone::passes
