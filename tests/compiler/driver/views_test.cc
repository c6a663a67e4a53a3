// Kernels that only move elements do not run where what they read can lie where their result is.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/parser.h"
#include "compiler/passes/infer_type.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::driver {
namespace {

using frontend::Floats;

frontend::TensorData CountingTensor(std::vector<int64_t> shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::string bytes(count * sizeof(float), '\0');
  for (int64_t i = 0; i < count; ++i) {
    reinterpret_cast<float*>(bytes.data())[i] = static_cast<float>(i % 97);
  }
  return {DataType::kFloat32, std::move(shape), std::move(bytes)};
}

struct Result {
  size_t calls = 0;
  std::vector<std::vector<float>> outputs;
};

// The result of a body of one input %x.
Result CompileAndRun(const std::vector<int64_t>& shape, const std::string& type,
                     const std::string& body) {
  const auto parsed = ir::ParseModule("def @main(%x: " + type + ") {" + body + "}");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  auto compiled = Compiled::Make(*parsed, {.target = HostTarget(), .require_tuned = false});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  const auto outputs = compiled->Run({CountingTensor(shape)}, 1);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  Result result;
  result.calls = compiled->function().call_count;
  for (const auto& output : *outputs) result.outputs.push_back(Floats(output));
  return result;
}

// Slices along the first axis lie in their data, and what is joined lies in the result.
TEST(Views, PartsOfValuesNeedNoCopies) {
  const Result result = CompileAndRun({4, 32}, "Tensor[(4, 32), float32]",
                                      R"(
    %0 = sqrt(%x);
    %1 = strided_slice(%0, axes=[0], begin=[1], end=[2]);
    %2 = strided_slice(%0, axes=[0], begin=[3], end=[4]);
    %3 = cumsum(%1, axis=1);
    %4 = cumsum(%2, axis=1);
    concatenate((%4, %3), axis=0)
  )");
  EXPECT_EQ(result.calls, 3U);
  const auto& out = result.outputs[0];
  ASSERT_EQ(out.size(), 64U);
  double third = 0;
  double first = 0;
  for (int64_t i = 0; i < 32; ++i) {
    third += std::sqrt(static_cast<double>((3 * 32 + i) % 97));
    first += std::sqrt(static_cast<double>(32 + i));
    EXPECT_NEAR(out[i] / third, 1, 1e-5);
    EXPECT_NEAR(out[32 + i] / first, 1, 1e-5);
  }
}

// One value has one place: where it is an output and part of another one, one of them is a copy.
// Inputs are given as outputs by copies.
TEST(Views, OutputsAreWhole) {
  const Result result = CompileAndRun({2, 16}, "Tensor[(2, 16), float32]",
                                      R"(
    %0 = cumsum(%x, axis=1);
    %1 = reshape(%0, newshape=[32]);
    %2 = concatenate((%0, %0), axis=0);
    %3 = reshape(%x, newshape=[32]);
    (%1, %2, %3, %0)
  )");
  ASSERT_EQ(result.outputs.size(), 4U);
  std::vector<float> sums;
  std::vector<float> all;
  for (int64_t i = 0; i < 32; ++i) {
    all.push_back(static_cast<float>(i));
    sums.push_back(i % 16 == 0 ? static_cast<float>(i) : sums.back() + static_cast<float>(i));
  }
  std::vector<float> twice = sums;
  twice.insert(twice.end(), sums.begin(), sums.end());
  EXPECT_EQ(result.outputs[0], sums);
  EXPECT_EQ(result.outputs[1], twice);
  EXPECT_EQ(result.outputs[2], all);
  EXPECT_EQ(result.outputs[3], sums);
}

// What does not begin at a multiple of 64 bytes is copied.
TEST(Views, UnalignedPartsAreCopied) {
  const Result result = CompileAndRun({3, 5}, "Tensor[(3, 5), float32]",
                                      R"(
    %0 = strided_slice(%x, axes=[0], begin=[1], end=[3]);
    %1 = cumsum(%0, axis=1);
    %2 = strided_slice(%x, axes=[0], begin=[0], end=[1]);
    %3 = cumsum(%2, axis=1);
    concatenate((%3, %1), axis=0)
  )");
  EXPECT_EQ(result.outputs[0],
            (std::vector<float>{0, 1, 3, 6, 10, 5, 11, 18, 26, 35, 10, 21, 33, 46, 60}));
}

// %x joined with itself, what that gives joined with itself, and so on: %(steps - 1).
std::string Doublings(int steps) {
  std::string text;
  std::string last = "%x";
  for (int i = 0; i < steps; ++i) {
    const std::string next = "%" + std::to_string(i);
    text += next + " = concatenate((" + last + ", " + last + "), axis=1);\n";
    last = next;
  }
  return text;
}

// What takes twice the time with each step would not end.
TEST(Views, WhatIsJoinedWithItselfAgainAndAgainCompiles) {
  const Result none = CompileAndRun({1, 0}, "Tensor[(1, 0), float32]", Doublings(40) + "%39");
  EXPECT_EQ(none.outputs[0], std::vector<float>());
  // This one has too many elements to run.
  const auto many = ir::ParseModule("def @main(%x: Tensor[(1, 1), float32]) {" + Doublings(40) +
                                    "strided_slice(%39, axes=[1], begin=[0], end=[5])}");
  ASSERT_TRUE(many.ok()) << many.status();
  EXPECT_TRUE(Compiled::Make(*many, {.target = HostTarget(), .require_tuned = false}).ok());
  const Result all = CompileAndRun({1, 3}, "Tensor[(1, 3), float32]", Doublings(4) + "%3");
  std::vector<float> expected;
  for (int i = 0; i < 48; ++i) expected.push_back(static_cast<float>(i % 3));
  EXPECT_EQ(all.outputs[0], expected);
}

}  // namespace
}  // namespace hone::driver
