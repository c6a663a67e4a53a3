// What the graph language says is what compiled modules compute.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compiler/ir/parser.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::driver {
namespace {

using frontend::FloatTensor;
using frontend::TensorData;

template <typename T>
TensorData Tensor(DataType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  return {dtype, std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
}
template <typename T>
std::vector<T> ValuesOf(const TensorData& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

std::vector<TensorData> Outputs(const std::string& text, const std::vector<TensorData>& inputs) {
  const auto module = ir::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  options.target = HostTarget();
  auto compiled = Compiled::Make(*module, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return {};
  auto outputs = compiled->Run(inputs, 1);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? *outputs : std::vector<TensorData>();
}

TEST(LanguageTest, AScalarPlusOne) {
  const auto outputs = Outputs("def @main(%x: int64) { add(%x, 1i64) }",
                               {Tensor<int64_t>(DataType::kInt64, {}, {41})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(ValuesOf<int64_t>(outputs[0]), std::vector<int64_t>{42});
}

TEST(LanguageTest, BranchesLetsTuplesAndFunctionValues) {
  const char* const text = R"(
def @twice(%f: fn (Tensor[(3), float32]) -> Tensor[(3), float32], %x: Tensor[(3), float32]) {
  %f(%f(%x))
}
def @main(%c: bool, %x: (Tensor[(3), float32], Tensor[(3), float32])) {
  let %scale: fn (Tensor[(3), float32]) -> Tensor[(3), float32] =
      fn (%v: Tensor[(3), float32]) { multiply(%v, %x.1) };
  %0 = if (%c) { (@twice(%scale, %x.0), %x.1) } else { (negative(%x.0), %x.0) };
  (%0, %0.1)
})";
  for (const uint8_t condition : {uint8_t{1}, uint8_t{0}}) {
    const auto outputs = Outputs(text, {Tensor<uint8_t>(DataType::kBool, {}, {condition}),
                                        FloatTensor({3}, {1, 2, 3}), FloatTensor({3}, {2, 3, 4})});
    ASSERT_EQ(outputs.size(), 3u);
    const std::vector<float> taken{4, 18, 48};
    const std::vector<float> other{-1, -2, -3};
    EXPECT_EQ(ValuesOf<float>(outputs[0]), condition != 0 ? taken : other);
    const std::vector<float> second =
        condition != 0 ? std::vector<float>{2, 3, 4} : std::vector<float>{1, 2, 3};
    EXPECT_EQ(ValuesOf<float>(outputs[1]), second);
    EXPECT_EQ(ValuesOf<float>(outputs[2]), second);
  }
}

// The branch that is not taken is computed as well: it must not trap.
TEST(LanguageTest, ABranchThatGuardsADivision) {
  const char* const text = R"(
def @main(%n: int32, %d: int32) {
  if (not_equal(%d, 0i32)) { divide(%n, %d) } else { -1i32 }
})";
  EXPECT_EQ(ValuesOf<int32_t>(Outputs(text, {Tensor<int32_t>(DataType::kInt32, {}, {7}),
                                             Tensor<int32_t>(DataType::kInt32, {}, {0})})[0]),
            std::vector<int32_t>{-1});
  EXPECT_EQ(ValuesOf<int32_t>(Outputs(text, {Tensor<int32_t>(DataType::kInt32, {}, {7}),
                                             Tensor<int32_t>(DataType::kInt32, {}, {2})})[0]),
            std::vector<int32_t>{3});
}

TEST(LanguageTest, ADivisionOfIntegersByZeroGivesZero) {
  // A division of constants is folded, one of %n is done when the module runs.
  const auto text = [](const std::string& type, const std::string& n, const std::string& d) {
    return "def @main(%n: " + type + ", %d: " + type + ") { (divide(" + n + ", " + d + "), mod(" +
           n + ", " + d + "), floor_mod(" + n + ", " + d + ")) }";
  };
  const std::vector<TensorData> narrow = {Tensor<int8_t>(DataType::kInt8, {}, {-7}),
                                          Tensor<int8_t>(DataType::kInt8, {}, {0})};
  const std::vector<TensorData> wide = {Tensor<int64_t>(DataType::kInt64, {}, {7}),
                                        Tensor<int64_t>(DataType::kInt64, {}, {0})};
  for (const auto& output : Outputs(text("int8", "%n", "%d"), narrow)) {
    EXPECT_EQ(ValuesOf<int8_t>(output), std::vector<int8_t>{0});
  }
  for (const auto& output : Outputs(text("int64", "%n", "%d"), wide)) {
    EXPECT_EQ(ValuesOf<int64_t>(output), std::vector<int64_t>{0});
  }
  for (const auto& output : Outputs(text("int64", "%n", "0i64"), wide)) {
    EXPECT_EQ(ValuesOf<int64_t>(output), std::vector<int64_t>{0});
  }
  for (const auto& output :
       Outputs(text("int64", "add(1i64, 6i64)", "multiply(0i64, 3i64)"), wide)) {
    EXPECT_EQ(ValuesOf<int64_t>(output), std::vector<int64_t>{0});
  }
}

// As numpy's; not as indices, which never do.
TEST(LanguageTest, IntegersOfTheModelWrapAround) {
  const char* const text = R"(
def @main(%x: Tensor[(4), int64], %y: Tensor[(4), int64]) {
  %0 = multiply(%x, 6364136223846793005i64);
  %1 = multiply(maximum(%x, 0i64), 4i64);
  (floor_mod(%0, 1000i64), greater(add(%y, 1i64), %y), maximum(add(%y, 1i64), %y),
   floor_mod(multiply(%y, 6i64), 3i64), less(%1, 0i64), equal(add(%y, 1i64), %y))
})";
  const int64_t most = INT64_MAX;
  const int64_t quarter = int64_t{1} << 61;
  const auto outputs =
      Outputs(text, {Tensor<int64_t>(DataType::kInt64, {4}, {1, 2, 3, 10}),
                     Tensor<int64_t>(DataType::kInt64, {4}, {most, 7, -1, quarter})});
  ASSERT_EQ(outputs.size(), 6u);
  EXPECT_EQ(ValuesOf<int64_t>(outputs[0]), (std::vector<int64_t>{5, 394, 399, 202}));
  EXPECT_EQ(ValuesOf<uint8_t>(outputs[1]), (std::vector<uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(ValuesOf<int64_t>(outputs[2]), (std::vector<int64_t>{most, 8, 0, quarter + 1}));
  // 6 * 2^61 is -2^62, of which 3 leaves 2; 6 * (2^63 - 1) is -6.
  EXPECT_EQ(ValuesOf<int64_t>(outputs[3]), (std::vector<int64_t>{0, 0, 0, 2}));
  EXPECT_EQ(ValuesOf<uint8_t>(outputs[4]), (std::vector<uint8_t>{0, 0, 0, 0}));
  EXPECT_EQ(ValuesOf<uint8_t>(outputs[5]), (std::vector<uint8_t>{0, 0, 0, 0}));
  const auto wrapped =
      Outputs("def @main(%x: Tensor[(4), int64]) { less(multiply(maximum(%x, 0i64), 4i64), 0i64) }",
              {Tensor<int64_t>(DataType::kInt64, {4}, {quarter, 1, -1, 0})});
  ASSERT_EQ(wrapped.size(), 1u);
  EXPECT_EQ(ValuesOf<uint8_t>(wrapped[0]), (std::vector<uint8_t>{1, 0, 0, 0}));
}

// The cases hold for constants as for inputs: the first are computed by the interpreter, the others
// by code.
TEST(LanguageTest, FloatsAtTheEdges) {
  const float inf = INFINITY;
  const struct {
    const char* op;
    float a;
    float b;
    float expected;
  } cases[] = {
      {"maximum", 1, NAN, NAN},
      {"minimum", NAN, 1, NAN},
      {"mod", 1e30f, 7, std::fmod(1e30f, 7.0f)},
      {"mod", -3e38f, 1e-3f, std::fmod(-3e38f, 1e-3f)},
      {"mod", 3e38f, 1e-30f, std::fmod(3e38f, 1e-30f)},
      {"mod", 5.5f, inf, 5.5f},
      {"mod", 5.5f, 0, NAN},
      {"mod", -7, 3, -1},
      {"floor_mod", -1e30f, 7, 7 - std::fmod(1e30f, 7.0f)},
      {"power", -inf, 0.5f, inf},
      {"power", -inf, 3, -inf},
      {"power", -0.0f, -1, -inf},
      {"power", -0.0f, -0.5f, inf},
      {"power", -1, inf, 1},
      {"power", -8, 0.5f, NAN},
      {"power", -2, 5, -32},
  };
  const auto check = [](const std::string& what, float found, float expected) {
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(found)) << what << " gives " << found;
    } else {
      EXPECT_FLOAT_EQ(found, expected) << what;
    }
  };
  for (const auto& c : cases) {
    const std::string call = std::string(c.op) + "(%a, %b)";
    const std::string head = "def @main(%a: Tensor[(9), float32], %b: Tensor[(9), float32]) ";
    const auto run =
        Outputs(head + "{ " + call + " }", {FloatTensor({9}, std::vector<float>(9, c.a)),
                                            FloatTensor({9}, std::vector<float>(9, c.b))});
    ASSERT_EQ(run.size(), 1u);
    for (const float found : ValuesOf<float>(run[0])) check(call, found, c.expected);
  }
  // By a constant NaN, which code generation sees.
  for (const char* call : {"maximum(%x, float32(0x7fc00000))", "minimum(float32(0x7fc00000), %x)",
                           "clip(%x, a_min=nan, a_max=2.0)"}) {
    const auto run = Outputs(std::string("def @main(%x: Tensor[(9), float32]) { ") + call + " }",
                             {FloatTensor({9}, std::vector<float>(9, 1))});
    ASSERT_EQ(run.size(), 1u) << call;
    for (const float found : ValuesOf<float>(run[0])) check(call, found, NAN);
  }
}

TEST(LanguageTest, NumbersAreRoundedOnceToNarrowFloats) {
  const auto outputs = Outputs(
      "def @main(%x: Tensor[(4), float64], %i: Tensor[(2), int32]) { (cast(%x, dtype=\"float16\"), "
      "cast(%x, dtype=\"bfloat16\"), cast(%i, dtype=\"bfloat16\")) }",
      {Tensor<double>(DataType::kFloat64, {4},
                      {1 + 0x1p-11 + 0x1p-40, -2049.0000001, 65519.999999, 1 + 0x1p-8 + 0x1p-40}),
       Tensor<int32_t>(DataType::kInt32, {2}, {0x1010001, -0x1010000})});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(ValuesOf<uint16_t>(outputs[0]),
            (std::vector<uint16_t>{0x3C01, 0xE801, 0x7BFF, 0x3C04}));
  EXPECT_EQ(ValuesOf<uint16_t>(outputs[1])[3], 0x3F81);
  EXPECT_EQ(ValuesOf<uint16_t>(outputs[2]), (std::vector<uint16_t>{0x4B81, 0xCB80}));
}

TEST(LanguageTest, AListOfOneIntegerIsWrittenAsTheInteger) {
  const char* const text = R"(
def @main(%x: Tensor[(1, 1, 4, 4), float32], %w: Tensor[(1, 1, 1, 1), float32],
          %q: Tensor[(2), int8], %s: Tensor[(2), float32]) {
  %0 = qnn.dequantize(%q, %s, 0i8, axis=0);
  (nn.max_pool2d(%x, pool_size=2, strides=2), nn.conv2d(%x, %w, strides=1, padding=0),
   qnn.quantize(transpose(%0, axes=0), 1f32, 0i8))
})";
  const auto outputs = Outputs(
      text, {FloatTensor({1, 1, 4, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}),
             FloatTensor({1, 1, 1, 1}, {2}), Tensor<int8_t>(DataType::kInt8, {2}, {1, 2}),
             FloatTensor({2}, {1, 2})});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(ValuesOf<float>(outputs[0]), (std::vector<float>{6, 8, 14, 16}));
  EXPECT_EQ(ValuesOf<float>(outputs[1])[15], 32);
  EXPECT_EQ(ValuesOf<int8_t>(outputs[2]), (std::vector<int8_t>{1, 4}));
}

TEST(LanguageTest, NamesOfOutputsAreAListOfStrings) {
  const auto refusal = [](const std::string& names) {
    const auto module =
        ir::ParseModule("def @main(%x: float32, output_names=" + names + ") { nn.relu(%x) }");
    EXPECT_TRUE(module.ok()) << module.status();
    CompileOptions options;
    options.target = HostTarget();
    return std::string(Compiled::Make(*module, options).status().message());
  };
  EXPECT_EQ(refusal("[\"y\"]"), "");
  EXPECT_EQ(refusal("[]"), "");
  EXPECT_EQ(
      refusal("3"),
      "in @main, the function: expected a list of strings as attribute output_names, found 3");
}

// The model has constants that are folded, too.
TEST(LanguageTest, TensorsOfAllRanksThatThereAre) {
  const auto text = [](int rank) {
    std::string ones = "1";
    for (int i = 1; i < rank; ++i) ones += ", 1";
    return "def @main(%x: float32) { multiply(reshape(%x, newshape=[" + ones +
           "]), exp(reshape(0f32, newshape=[" + ones + "]))) }";
  };
  const auto outputs = Outputs(text(26), {FloatTensor({}, {3})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].shape, std::vector<int64_t>(26, 1));
  EXPECT_EQ(ValuesOf<float>(outputs[0]), std::vector<float>{3});
  CompileOptions options;
  options.target = HostTarget();
  EXPECT_NE(Compiled::Make(*ir::ParseModule(text(27)), options)
                .status()
                .message()
                .find("a result of at most 26 extents was expected, found 27: join some"),
            std::string::npos);
}

TEST(LanguageTest, ATensorThatMemoryDoesNotHoldIsNamed) {
  const auto module =
      ir::ParseModule("def @main(%x: Tensor[(17592186044416), float32]) { nn.relu(%x) }");
  ASSERT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  options.target = HostTarget();
  auto compiled = Compiled::Make(*module, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const std::string message(compiled->Run({}, 1).status().message());
  EXPECT_NE(message.find("expected 70368744177664 bytes for "), std::string::npos) << message;
  EXPECT_NE(message.find("put"), std::string::npos) << message;  // input x or output output0
}

TEST(LanguageTest, TensorsWithoutElements) {
  const char* const text = R"(
def @main(%x: Tensor[(0, 4, 5, 5), float32], %a: Tensor[(0, 4), float32],
          %b: Tensor[(3, 0), float32], %w: Tensor[(2, 0), float32],
          %k: Tensor[(2, 4, 1, 1), float32]) {
  (nn.relu(nn.conv2d(%x, %k)), exp(nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2])),
   nn.dense(%b, %w), sum(%a, axis=[0]))
})";
  const auto outputs = Outputs(
      text, {FloatTensor({0, 4, 5, 5}, {}), FloatTensor({0, 4}, {}), FloatTensor({3, 0}, {}),
             FloatTensor({2, 0}, {}), FloatTensor({2, 4, 1, 1}, std::vector<float>(8))});
  ASSERT_EQ(outputs.size(), 4u);
  EXPECT_EQ(outputs[0].shape, (std::vector<int64_t>{0, 2, 5, 5}));
  EXPECT_EQ(outputs[1].shape, (std::vector<int64_t>{0, 4, 2, 2}));
  EXPECT_EQ(ValuesOf<float>(outputs[2]), std::vector<float>(6));
  EXPECT_EQ(ValuesOf<float>(outputs[3]), std::vector<float>(4));
}

TEST(LanguageTest, CombinedConvolutionsGiveWhatTheyGaveApart) {
  const char* const text = R"(
def @main(%x: Tensor[(1, 1, 2, 2), float32]) {
  %0 = nn.relu(add(nn.conv2d(%x, meta[Constant][0]), meta[Constant][2]));
  %1 = nn.relu(add(nn.conv2d(%x, meta[Constant][1]), meta[Constant][2]));
  %2 = nn.relu(add(nn.conv2d(%x, meta[Constant][2]), meta[Constant][0]));
  (%0, %1, exp(%2))
}
meta[Constant][0] = Tensor[(1, 1, 1, 1), float32] "AACAPw==";
meta[Constant][1] = Tensor[(1, 1, 1, 1), float32] "AAAAQA==";
meta[Constant][2] = Tensor[(1, 1, 1, 1), float32] "AABAQA==";)";
  const auto outputs = Outputs(text, {FloatTensor({1, 1, 2, 2}, {1, 2, -3, -4})});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(ValuesOf<float>(outputs[0]), (std::vector<float>{4, 5, 0, 0}));
  EXPECT_EQ(ValuesOf<float>(outputs[1]), (std::vector<float>{5, 7, 0, 0}));
  EXPECT_NEAR(ValuesOf<float>(outputs[2])[0], std::exp(4.0F), 1e-4);
}

}  // namespace
}  // namespace hone::driver
