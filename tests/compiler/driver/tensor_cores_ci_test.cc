// A model of bfloat16 whose products tensor cores compute, from graph text to outputs.
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

// Few bits each, so that every sum of products of them is exact, in any order.
std::string FewBits(size_t count, Random& random) {
  constexpr uint16_t kBits[] = {0x0000, 0x3F80, 0xBF80, 0x3F00, 0xBE80, 0x4000};  // 0, 1, -1, 1/2..
  std::string bytes;
  for (size_t i = 0; i < count; ++i) {
    const uint16_t bits = kBits[random.Below(std::size(kBits))];
    bytes += static_cast<char>(bits & 0xFF);
    bytes += static_cast<char>(bits >> 8);
  }
  return bytes;
}

std::string Weights(const std::string& shape, size_t count, Random& random) {
  return fmt::format("Tensor[({}), bfloat16] \"{}\";\n", shape,
                     absl::Base64Escape(FewBits(count, random)));
}

// A padded and a strided convolution, and a product with a row a pixel.
ir::Module Model(Random& random) {
  const std::string text =
      "def @main(%x: Tensor[(1, 16, 16, 16), bfloat16]) {\n"
      "%0 = nn.conv2d(%x, meta[Constant][0], padding=[1, 1, 1, 1]);\n"
      "%1 = nn.relu(add(%0, meta[Constant][3]));\n"
      "%2 = nn.conv2d(%1, meta[Constant][1], strides=[2, 2], padding=[1, 1, 1, 1]);\n"
      "%3 = reshape(nn.relu(%2), newshape=[64, 32]);\n"
      "nn.dense(%3, meta[Constant][2]) }\n"
      "meta[Constant][0] = " +
      Weights("32, 16, 3, 3", size_t{32} * 16 * 9, random) +
      "meta[Constant][1] = " + Weights("32, 32, 3, 3", size_t{32} * 32 * 9, random) +
      "meta[Constant][2] = " + Weights("48, 32", size_t{48} * 32, random) +
      "meta[Constant][3] = " + Weights("32, 1, 1", 32, random);
  const auto module = ir::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  const auto typed = passes::InferTypes(module.value_or(ir::Module()));
  EXPECT_TRUE(typed.ok()) << typed.status();
  return typed.value_or(ir::Module());
}

TEST(TensorCores, GiveTheInterpretersNumbers) {
  HONE_SKIP_WITHOUT(DeviceKinds().back());
  Random random(3);
  const ir::Module module = Model(random);
  const std::vector<frontend::TensorData> inputs = {
      {DataType::kBFloat16, {1, 16, 16, 16}, FewBits(size_t{16} * 16 * 16, random)}};
  const auto expected = frontend::RunModel(module, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const char* const target : {"cuda -arch=sm_80", "cuda -arch=sm_75"}) {
    auto compiled =
        Compiled::Make(module, {.target = *Target::Parse(target), .require_tuned = false});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const std::string ptx = compiled->table().codes[0].bytes;
    EXPECT_EQ(ptx.find("mma.sync") != std::string::npos, target != std::string("cuda -arch=sm_75"));
    const auto outputs = compiled->Run(inputs, 1);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(FirstDifference((*outputs)[0], (*expected)[0], 0, 0), "") << target;
  }
}

}  // namespace
}  // namespace hone::driver
