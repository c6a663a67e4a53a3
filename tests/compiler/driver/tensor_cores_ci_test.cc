// A model of 16-bit floats whose products tensor cores compute, from graph text to outputs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "compiler/frontend/tensor_file.h"
#include "compiler/ir/parser.h"
#include "compiler/passes/infer_type.h"
#include "support/random.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/driver/device_here.h"
#include "tests/compiler/frontend/model_runner.h"

namespace hone::driver {
namespace {

// Draws numbers of few bits each, so that every sum of products of them is exact, in any order.
class Numbers {
 public:
  explicit Numbers(DataType dtype) : dtype_(dtype), random_(3) {}

  std::string Name() const { return std::string(hone::Name(dtype_)); }
  frontend::TensorData Tensor(std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    return {dtype_, std::move(shape), Bytes(count)};
  }
  // As a constant of a graph's text.
  std::string Constant(const std::string& shape, int64_t count) {
    return fmt::format("Tensor[({}), {}] \"{}\";\n", shape, Name(),
                       absl::Base64Escape(Bytes(count)));
  }

 private:
  std::string Bytes(int64_t count) {
    constexpr uint16_t kBFloat16Bits[] = {0x0000, 0x3F80, 0xBF80, 0x3F00, 0xBE80, 0x4000};
    constexpr uint16_t kFloat16Bits[] = {0x0000, 0x3C00, 0xBC00, 0x3800, 0xB400, 0x4000};
    std::string bytes;
    for (int64_t i = 0; i < count; ++i) {
      const size_t one = random_.Below(std::size(kFloat16Bits));  // of 0, 1, -1, 1/2, -1/4 and 2
      const uint16_t bits = dtype_ == DataType::kFloat16 ? kFloat16Bits[one] : kBFloat16Bits[one];
      bytes += static_cast<char>(bits & 0xFF);
      bytes += static_cast<char>(bits >> 8);
    }
    return bytes;
  }

  const DataType dtype_;
  Random random_;
};

// A padded and a strided convolution, and a product with a row a pixel.
ir::Module Model(Numbers& numbers) {
  const std::string text =
      fmt::format("def @main(%x: Tensor[(1, 16, 16, 16), {}]) {{\n", numbers.Name()) +
      "%0 = nn.conv2d(%x, meta[Constant][0], padding=[1, 1, 1, 1]);\n"
      "%1 = nn.relu(add(%0, meta[Constant][3]));\n"
      "%2 = nn.conv2d(%1, meta[Constant][1], strides=[2, 2], padding=[1, 1, 1, 1]);\n"
      "%3 = reshape(nn.relu(%2), newshape=[64, 32]);\n"
      "nn.dense(%3, meta[Constant][2]) }\n"
      "meta[Constant][0] = " +
      numbers.Constant("32, 16, 3, 3", 32 * 16 * 9) +
      "meta[Constant][1] = " + numbers.Constant("32, 32, 3, 3", 32 * 32 * 9) +
      "meta[Constant][2] = " + numbers.Constant("48, 32", 48 * 32) +
      "meta[Constant][3] = " + numbers.Constant("32, 1, 1", 32);
  const auto module = ir::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  const auto typed = passes::InferTypes(module.value_or(ir::Module()));
  EXPECT_TRUE(typed.ok()) << typed.status();
  return typed.value_or(ir::Module());
}

class TensorCores : public ::testing::TestWithParam<DataType> {};

TEST_P(TensorCores, GiveTheInterpretersNumbers) {
  HONE_SKIP_WITHOUT(DeviceKinds().back());
  Numbers numbers(GetParam());
  const ir::Module module = Model(numbers);
  const std::vector<frontend::TensorData> inputs = {numbers.Tensor({1, 16, 16, 16})};
  const auto expected = frontend::RunModel(module, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const std::string target : {"cuda -arch=sm_90a", "cuda -arch=sm_80", "cuda -arch=sm_75"}) {
    auto compiled =
        Compiled::Make(module, {.target = *Target::Parse(target), .require_tuned = false});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const std::string ptx = compiled->table().codes[0].bytes;
    EXPECT_EQ(ptx.find("mma") != std::string::npos, target != "cuda -arch=sm_75");
    EXPECT_EQ(ptx.find("griddepcontrol.wait") != std::string::npos, target == "cuda -arch=sm_90a");
    const auto outputs = compiled->Run(inputs, 1);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(FirstDifference((*outputs)[0], (*expected)[0], 0, 0), "") << target;
  }
}

// The first convolution of a network, of three channels.
TEST_P(TensorCores, MultiplyImagesOfThreeChannels) {
  HONE_SKIP_WITHOUT(DeviceKinds().back());
  Numbers numbers(GetParam());
  const auto module = ir::ParseModule(
      fmt::format("def @main(%x: Tensor[(1, 3, 32, 32), {}]) {{\n", numbers.Name()) +
      "%0 = nn.conv2d(%x, meta[Constant][0], strides=[2, 2], padding=[3, 3, 3, 3]);\n"
      "nn.max_pool2d(nn.relu(add(%0, meta[Constant][1])), pool_size=[2, 2], strides=[2, 2]) }\n"
      "meta[Constant][0] = " +
      numbers.Constant("64, 3, 7, 7", 64 * 3 * 49) +
      "meta[Constant][1] = " + numbers.Constant("64, 1, 1", 64));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto typed = passes::InferTypes(*module);
  ASSERT_TRUE(typed.ok()) << typed.status();
  const std::vector<frontend::TensorData> inputs = {numbers.Tensor({1, 3, 32, 32})};
  const auto expected = frontend::RunModel(*typed, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const char* const target : {"cuda -arch=sm_90a", "cuda -arch=sm_80"}) {
    auto compiled =
        Compiled::Make(*typed, {.target = *Target::Parse(target), .require_tuned = false});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_NE(std::string(compiled->table().codes[0].bytes).find("mma"), std::string::npos);
    const auto outputs = compiled->Run(inputs, 1);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(FirstDifference((*outputs)[0], (*expected)[0], 0, 0), "") << target;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, TensorCores,
                         ::testing::Values(DataType::kBFloat16, DataType::kFloat16),
                         [](const auto& info) { return std::string(Name(info.param)); });

}  // namespace
}  // namespace hone::driver
