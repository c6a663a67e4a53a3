// Whatever the schedule templates make of a kernel compiles to what the interpreter says.
#include <fmt/format.h>

#include "absl/strings/str_replace.h"
#include "support/random.h"
#include "tests/compiler/codegen/emulator.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/pair_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::codegen {
namespace {

const char* const kKernels[] = {
    "fn (p0: Tensor[(1, 20, 5, 7), float32], p1: Tensor[(1, 20, 5, 7), float32]) { %0 = add(p0, "
    "p1); nn.relu(%0) }",
    "fn (p0: Tensor[(3, 17), float32], const p1: Tensor[(17,), float32]) { %0 = multiply(p0, p1); "
    "%1 = nn.relu(%0); add(%1, p0) }",
    "fn (p0: Tensor[(), float32]) { nn.relu(p0) }",
    "fn (p0: Tensor[(2, 33, 3, 3), float32]) { nn.batch_flatten(p0) }",
    "fn (p0: Tensor[(4, 35), float32]) { nn.softmax(p0) }",
    "fn (p0: Tensor[(2, 16, 4, 4), float32]) { mean(p0, axis=[2, 3]) }",
    "fn (p0: Tensor[(3, 6, 5), float32]) { transpose(p0, axes=[2, 0, 1]) }",
    "fn (p0: Tensor[(2, 35, 19), uint8]) { transpose(p0, axes=[0, 2, 1]) }",
    "fn (p0: Tensor[(17, 5, 33), bool]) { transpose(p0, axes=[2, 0, 1]) }",
    "fn (p0: Tensor[(2, 3, 5, 37), uint8]) { transpose(p0, axes=[0, 2, 3, 1]) }",
    "fn (p0: Tensor[(3, 5, 32), bfloat16]) { transpose(p0, axes=[1, 2, 0]) }",
    "fn (p0: Tensor[(2, 9, 33), float32]) { %0 = transpose(p0, axes=[1, 2, 0]); nn.relu(%0) }",
    "fn (p0: Tensor[(40, 7), bfloat16]) { transpose(p0, axes=[1, 0]) }",
    "fn (p0: Tensor[(37, 2, 150, 1), int64]) { transpose(p0, axes=[2, 1, 3, 0]) }",
    "fn (p0: Tensor[(33, 70), float64]) { transpose(p0, axes=[1, 0]) }",
    "fn (p0: Tensor[(37, 2, 150, 1), float32]) { transpose(p0, axes=[2, 1, 3, 0]) }",
    "fn (p0: Tensor[(1, 16, 3, 3), float32], p1: Tensor[(1, 17, 3, 3), float32]) { %0 = (p0, p1); "
    "concatenate(%0, axis=1) }",
    "fn (p0: Tensor[(2, 3, 7), float32], p1: Tensor[(2, 5, 7), float32]) { nn.batch_matmul(p0, "
    "p1) }",
    "fn (p0: Tensor[(1, 8, 5, 5), float32], const p1: Tensor[(8, 4, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, groups=2, padding=[1, 1, 1, 1]) }",
    "fn (p0: Tensor[(1, 32, 7, 9), float32], const p1: Tensor[(32, 4, 3, 3), float32]) { %0 = "
    "nn.conv2d(p0, p1, groups=8, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 64, 6, 5), float32], const p1: Tensor[(64, 8, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, groups=8, padding=[1, 1, 1, 1], strides=[2, 2]) }",
    "fn (p0: Tensor[(2, 64, 5, 5), float32], const p1: Tensor[(96, 32, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, groups=2, padding=[1, 1, 1, 1]) }",
    "fn (p0: Tensor[(1, 48, 23), float32], const p1: Tensor[(48, 1, 5), float32]) { "
    "nn.conv1d(p0, p1, groups=48, padding=[2, 2]) }",
    "fn (p0: Tensor[(1, 72, 7, 6), float32], const p1: Tensor[(72, 24, 3, 3), float32]) { %0 = "
    "nn.conv2d(p0, p1, groups=3, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(2, 60, 5, 5), float32], const p1: Tensor[(36, 20, 1, 1), float32]) { "
    "nn.conv2d(p0, p1, groups=3, strides=[2, 2]) }",
    "fn (p0: Tensor[(1, 19, 9, 7), float32], const p1: Tensor[(38, 1, 3, 3), float32]) { %0 = "
    "nn.conv2d(p0, p1, groups=19, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 32, 5, 7), float32], const p1: Tensor[(128, 1, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, groups=32, padding=[1, 1, 1, 1], strides=[2, 2]) }",
    "fn (p0: Tensor[(1, 33, 6, 37), float32], const p1: Tensor[(3, 33, 3, 5), float32], const p2: "
    "Tensor[(3,), float32]) { %0 = nn.conv2d(p0, p1, dilation=[1, 2], padding=[1, 3, 0, 4], "
    "strides=[2, 1]); %1 = nn.bias_add(%0, p2); tanh(%1) }",
    "fn (p0: Tensor[(2, 5, 9, 17), float32], const p1: Tensor[(1, 5, 3, 3), float32], p2: "
    "Tensor[(2, 1, 9, 17), float32]) { %0 = nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); add(%0, p2) }",
    "fn (p0: Tensor[(1, 20, 4, 5, 6), float32], const p1: Tensor[(40, 4, 3, 3, 3), float32]) { "
    "nn.conv3d(p0, p1, groups=5, padding=[1, 1, 1, 1, 1, 1]) }",
    "fn (p0: Tensor[(1, 33, 5, 6), float32], const p1: Tensor[(33, 1, 4, 4), float32]) { %0 = "
    "nn.conv2d_transpose(p0, p1, groups=33, padding=[1, 1, 1, 1], strides=[2, 2]); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 24, 5), float32], const p1: Tensor[(24, 40, 3), float32]) { "
    "nn.conv1d_transpose(p0, p1, groups=3, output_padding=[1], padding=[1, 1], strides=[2]) }",
    "fn (p0: Tensor[(2, 19, 37), float32], const p1: Tensor[(33, 19, 3), float32]) { %0 = "
    "nn.conv1d(p0, p1, dilation=[2], padding=[2, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 17, 4, 6, 5), float32], const p1: Tensor[(33, 17, 3, 3, 3), float32]) { %0 "
    "= nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 3, 5, 9, 9), float32], const p1: Tensor[(20, 3, 3, 5, 5), float32]) { "
    "nn.conv3d(p0, p1, padding=[1, 2, 2, 1, 2, 2], strides=[1, 2, 2]) }",
    "fn (p0: Tensor[(1, 16, 4, 9, 8), float32], const p1: Tensor[(33, 16, 3, 3, 3), float32]) { %0 "
    "= nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 19, 4, 7, 6), float32]) { nn.max_pool3d(p0, padding=[1, 1, 1, 1, 1, 1], "
    "pool_size=[3, 3, 3], strides=[2, 2, 2]) }",
    "fn (p0: Tensor[(1, 24, 5, 4), float32], const p1: Tensor[(24, 18, 4, 4), float32], const p2: "
    "Tensor[(18,), float32]) { %0 = nn.conv2d_transpose(p0, p1, padding=[1, 1, 1, 1], strides=[2, "
    "2]); %1 = nn.bias_add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(1, 16, 7), float32], const p1: Tensor[(16, 5, 3), float32]) { "
    "nn.conv1d_transpose(p0, p1, output_padding=[1], padding=[1, 1], strides=[2]) }",
    "fn (p0: Tensor[(1, 16, 3, 2, 3), float32], const p1: Tensor[(16, 17, 2, 3, 3), float32]) { "
    "nn.conv3d_transpose(p0, p1, padding=[0, 1, 1, 0, 1, 1], strides=[2, 1, 3]) }",
    "fn (p0: Tensor[(1, 20, 9, 11), float32], const p1: Tensor[(40, 20, 3, 3), float32]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1], strides=[2, 2]); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 32, 7, 7), float32], const p1: Tensor[(32, 32, 1, 1), float32], p2: "
    "Tensor[(1, 32, 7, 7), float32]) { %0 = nn.conv2d(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(2, 3, 13, 37), float32], const p1: Tensor[(3, 1, 3, 3), float32], const p2: "
    "Tensor[(3,), float32]) { %0 = nn.conv2d(p0, p1, groups=3, padding=[1, 1, 1, 1]); %1 = "
    "nn.bias_add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(1, 5, 11, 40), float32], const p1: Tensor[(5, 1, 5, 3), float32]) { "
    "nn.conv2d(p0, p1, dilation=[1, 2], groups=5, padding=[2, 2, 2, 2], strides=[2, 3]) }",
    "fn (p0: Tensor[(1, 3, 19, 67), float32]) { nn.max_pool2d(p0, padding=[1, 1, 1, 1], "
    "pool_size=[3, 3], strides=[2, 2]) }",
    "fn (p0: Tensor[(1, 48, 11, 13), float32]) { %0 = nn.relu(p0); nn.max_pool2d(%0, padding=[2, "
    "4, "
    "3, 1], pool_size=[6, 6]) }",
    "fn (p0: Tensor[(1, 33, 17, 19), float32]) { nn.avg_pool2d(p0, padding=[4, 4, 4, 4], "
    "pool_size=[9, 9]) }",
    "fn (p0: Tensor[(1, 4, 9, 35), float32]) { nn.avg_pool2d(p0, padding=[1, 1, 1, 1], "
    "pool_size=[3, 3]) }",
    "fn (p0: Tensor[(1, 3, 16, 16), float32], const p1: Tensor[(16, 3, 7, 7), float32]) { "
    "nn.conv2d(p0, p1, padding=[3, 3, 3, 3], strides=[2, 2]) }",
    "fn (p0: Tensor[(2, 3, 23, 20), float32], const p1: Tensor[(20, 3, 7, 7), float32]) { %0 = "
    "nn.conv2d(p0, p1, padding=[3, 2, 3, 3], strides=[2, 2]); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 20, 7, 17), float32], const p1: Tensor[(24, 20, 1, 7), float32]) { %0 = "
    "nn.conv2d(p0, p1, padding=[0, 3, 0, 3]); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 16, 17, 6), float32], const p1: Tensor[(17, 16, 7, 1), float32], p2: "
    "Tensor[(1, 17, 17, 6), float32]) { %0 = nn.conv2d(p0, p1, padding=[3, 0, 3, 0]); %1 = add(%0, "
    "p2); nn.relu(%1) }",
    "fn (p0: Tensor[(1, 18, 9, 11), float32], const p1: Tensor[(20, 18, 5, 5), float32]) { "
    "nn.conv2d(p0, p1, padding=[2, 2, 2, 2]) }",
    "fn (p0: Tensor[(1, 32, 12, 13), float32], const p1: Tensor[(16, 32, 4, 4), float32]) { "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1], strides=[2, 2]) }",
    "fn (const p0: Tensor[(40,), float32], const p1: Tensor[(40,), int32], const p2: Tensor[(10,), "
    "int32], p3: Tensor[(12, 7), float32], const p4: Tensor[(7,), float32]) { %0 = "
    "nn.sparse_dense(p0, p1, p2, p3); %1 = add(%0, p4); nn.relu(%1) }",
    "fn (p0: Tensor[(40,), float32], p1: Tensor[(40,), int64], p2: Tensor[(10,), int64], p3: "
    "Tensor[(12, 35), float32]) { nn.sparse_dense(p0, p1, p2, p3) }",
    "fn (p0: Tensor[(2, 19, 5), float32], p1: Tensor[(2, 35, 5), float32], p2: Tensor[(2, 17, 35), "
    "float32], p3: Tensor[(1, 1, 35), float32]) { %0 = nn.batch_matmul(p0, p1); %1 = add(%0, p3); "
    "%2 = nn.softmax(%1); nn.batch_matmul(%2, p2) }",
};

void CheckKernel(const std::string& text, const char* target_text, double tolerance = 1e-4) {
  const auto under_test =
      TaskUnderTest::Of(text + " accumulate=float32 numerics=default", target_text);
  ASSERT_TRUE(under_test.ok()) << under_test.status().ToString();
  for (const ir::LayoutSignature& signature : (*under_test)->signatures()) {
    const schedule::Task task = (*under_test)->With(signature);
    const schedule::Space space = schedule::SpaceOfTask(task);
    Random random(3);
    for (int i = 0; i < 4; ++i) {
      const schedule::Config config = i == 0 ? schedule::DefaultOfTask(task) : space.Sample(random);
      const auto nest = schedule::NestOfConfig(task, config);
      ASSERT_TRUE(nest.ok()) << nest.status().ToString();
      SCOPED_TRACE(config.ToText() + " " + signature.ToString());
      // Where numbers cancel, a rest remains: what is transformed is off by the largest of them.
      const bool transformed =
          config.Has("strategy") && config.String("strategy").starts_with("winograd");
      ExpectSameAsInterpreter(*nest, transformed ? 1e-3 : tolerance, target_text);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Kernels of 8-bit integers: every signedness, with and without something to pad.
std::vector<std::string> ByteKernels() {
  std::vector<std::string> kernels;
  const char* const convs[][3] = {
      {"(1, 20, 9, 11)", "(40, 20, 3, 3)", "padding=[1, 1, 1, 1], strides=[2, 2]"},
      {"(2, 3, 9, 9)", "(17, 3, 3, 3)", "pad_value=9, padding=[1, 1, 1, 1]"},
      {"(1, 33, 5, 7)", "(31, 33, 1, 1)", "strides=[1, 1]"},
      {"(1, 1, 1, 1)", "(1, 1, 1, 1)", "strides=[1, 1]"},
      {"(1, 48, 5, 6)", "(72, 16, 3, 3)", "groups=3, pad_value=9, padding=[1, 1, 1, 1]"},
      {"(1, 35, 8, 9)", "(35, 1, 3, 3)", "groups=35, pad_value=9, padding=[1, 1, 1, 1]"}};
  const char* const types[][2] = {
      {"uint8", "int8"}, {"int8", "int8"}, {"uint8", "uint8"}, {"int8", "uint8"}};
  for (const auto& [data, weight] : types) {
    const std::string zero = data[0] == 'u' ? "3u8" : "-3i8";
    for (const auto& [data_shape, weight_shape, attrs] : convs) {
      const std::string params = fmt::format("fn (p0: Tensor[{}, {}], const p1: Tensor[{}, {}]",
                                             data_shape, data, weight_shape, weight);
      const std::string conv = fmt::format("nn.conv2d(p0, p1, {})", attrs);
      kernels.push_back(fmt::format("{}) {{ {} }}", params, conv));
      kernels.push_back(
          fmt::format("{}) {{ %0 = {}; qnn.requantize(%0, 0.01f32, {}) }}", params, conv, zero));
    }
    for (const char* constant : {"", "const "}) {
      kernels.push_back(
          fmt::format("fn (p0: Tensor[(5, 23), {}], {}p1: Tensor[(35, 23), {}]) {{ %0 = "
                      "nn.dense(p0, p1); qnn.requantize(%0, 0.01f32, {}) }}",
                      data, constant, weight, zero));
      kernels.push_back(
          fmt::format("fn (p0: Tensor[(2, 7, 16), {}], {}p1: Tensor[(2, 18, 16), {}]) {{ "
                      "nn.batch_matmul(p0, p1) }}",
                      data, constant, weight));
    }
  }
  return kernels;
}

// Bit for bit: the tolerance is below half a step.
TEST(ByteTemplates, SchedulesComputeWhatTheInterpreterDoes) {
  std::vector<std::string> targets = {"native"};
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    targets.push_back(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={} -threads=2", cpu));
  }
  size_t turn = 0;
  for (const std::string& kernel : ByteKernels()) {
    for (const std::string& target : {targets[0], targets[1 + turn++ % 3]}) {
      SCOPED_TRACE(kernel + " " + target);
      CheckKernel(kernel, target.c_str());
      if (HasFailure()) return;
    }
  }
}

// Where sums in another order lie on two sides of a tie, results are a step apart.
TEST(BFloat16Templates, SchedulesComputeWhatTheInterpreterDoes) {
  constexpr double kSteps = 2 * 0x1p-7;
  std::vector<std::string> targets = {"native"};
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    targets.push_back(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={} -threads=2", cpu));
  }
  size_t turn = 0;
  for (const char* of_float32 : kKernels) {
    const std::string kernel = absl::StrReplaceAll(of_float32, {{"float32", "bfloat16"}});
    for (const std::string& target : {targets[0], targets[1 + turn++ % 3]}) {
      SCOPED_TRACE(kernel + " " + target);
      CheckKernel(kernel, target.c_str(), kSteps);
      if (HasFailure()) return;
    }
  }
}

class Templates : public testing::TestWithParam<const char*> {};

TEST_P(Templates, SchedulesComputeWhatTheInterpreterDoes) {
  CheckKernel(GetParam(), "native");
  if (HasFailure()) return;
  CheckKernel(GetParam(), "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=2");
}

TEST_P(Templates, SchedulesComputeWhatTheInterpreterDoesOnArm) {
  if (!HasEmulator()) GTEST_SKIP() << kNoEmulator;
  CheckKernel(GetParam(), "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -threads=2");
}

// With dot products and without.
TEST(ByteTemplates, SchedulesComputeWhatTheInterpreterDoesOnArm) {
  if (!HasEmulator()) GTEST_SKIP() << kNoEmulator;
  size_t turn = 0;
  for (const std::string& kernel : ByteKernels()) {
    const char* cpu = turn++ % 2 == 0 ? "neoverse-n1" : "cortex-a72";
    CheckKernel(kernel, fmt::format("llvm -mtriple=aarch64-linux-gnu -mcpu={}", cpu).c_str());
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Templates, testing::ValuesIn(kKernels));

}  // namespace
}  // namespace hone::codegen
