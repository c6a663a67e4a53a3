// DFT, STFT and MelWeightMatrix against values of ONNX's reference evaluator (1.23) and numpy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

TensorData Number(int64_t value) { return IntTensor({}, {value}); }

// A node whose operands are a signal, which is the model's input, and constants; one without an
// element type is left out.
class SignalNode {
 public:
  SignalNode(int opset, const std::string& op, TensorData signal, std::vector<TensorData> others)
      : maker_(opset), signal_(std::move(signal)) {
    std::vector<std::string> names = {"x"};
    maker_.Input("x", signal_.shape);
    for (const TensorData& other : others) {
      names.push_back(other.bytes.empty() ? "" : "c" + std::to_string(names.size()));
      if (!other.bytes.empty()) maker_.Initializer(names.back(), other);
    }
    maker_.Node(op, names, {"y"}).Output("y");
  }
  SignalNode& Int(const std::string& name, int64_t value) { return maker_.Int(name, value), *this; }

  void Expect(const std::vector<int64_t>& shape, const std::vector<float>& values) {
    const auto module = ImportOnnxBytes(maker_.Bytes());
    ASSERT_TRUE(module.ok()) << module.status();
    const auto outputs = RunModel(*module, {signal_});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ((*outputs)[0].shape, shape);
    EXPECT_THAT(Floats((*outputs)[0]), Pointwise(FloatNear(2e-5f), values));
  }
  std::string Error() { return std::string(ImportOnnxBytes(maker_.Bytes()).status().message()); }

 private:
  OnnxMaker maker_;
  TensorData signal_;
};

TensorData Real() { return FloatTensor({1, 5, 1}, {1, 2, -1, 3, 0.5}); }
TensorData Complex() { return FloatTensor({1, 3, 2}, {1, 2, -1, 3, 0.5, 1}); }

TEST(OnnxDftTest, OfReals) {
  SignalNode(17, "DFT", Real(), {})
      .Expect({1, 5, 2}, {5.5, 0, 0.154509f, 0.924556f, -0.404509f, -4.6859f, -0.404509f, 4.6859f,
                          0.154509f, -0.924556f});
  SignalNode(17, "DFT", Real(), {})
      .Int("onesided", 1)
      .Expect({1, 3, 2}, {5.5, 0, 0.154509f, 0.924556f, -0.404509f, -4.6859f});
}

TEST(OnnxDftTest, CutOffOrFilledWithZeros) {
  SignalNode(17, "DFT", Real(), {Number(3)})
      .Expect({1, 3, 2}, {2, 0, 0.5, -2.59808f, 0.5, 2.59808f});
  SignalNode(17, "DFT", Real(), {Number(8)})
      .Int("onesided", 1)
      .Expect({1, 5, 2}, {5.5, 0, -0.207107f, -2.53553f, 2.5, 1, 1.20711f, -4.53553f, -4.5, 0});
}

TEST(OnnxDftTest, BackAgain) {
  SignalNode(17, "DFT", Complex(), {})
      .Int("inverse", 1)
      .Expect({1, 3, 2}, {0.166667f, 2, -0.160684f, -0.433013f, 0.994017f, 0.433013f});
  SignalNode(20, "DFT", Complex(), {Number(4)})
      .Int("inverse", 1)
      .Int("onesided", 1)
      .Expect({1, 4, 1}, {-0.125, -1.375, 0.875, 1.625});
}

TEST(OnnxDftTest, AlongAnyAxisButTheLast) {
  const TensorData x = FloatTensor({1, 2, 3, 2}, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1});
  SignalNode(20, "DFT", x, {TensorData{}, Number(1)})
      .Expect({1, 2, 3, 2}, {1, 3, 5, 7, 4, 1, -1, -1, -1, -1, 4, -1});
  EXPECT_THAT(SignalNode(20, "DFT", x, {TensorData{}, Number(-1)}).Error(),
              HasSubstr("an axis before the last"));
  EXPECT_THAT(SignalNode(17, "DFT", FloatTensor({2, 3}, {0, 1, 2, 3, 4, 0}), {}).Error(),
              HasSubstr("last axis has one part or two"));
  EXPECT_THAT(SignalNode(17, "DFT", Real(), {Number(0)}).Error(), HasSubstr("one dft_length"));
}

TEST(OnnxStftTest, FramesUnderAWindow) {
  const TensorData x = FloatTensor({1, 8, 1}, {1, 2, -1, 3, 0.5, 4, -2, 1});
  const TensorData window = FloatTensor({4}, {0.5, 1, 1, 0.5});
  SignalNode(17, "STFT", x, {Number(2), window, Number(4)})
      .Expect({1, 3, 3, 2},
              {3, 0, 1.5, -0.5, -4, 0, 5, 0, -1, -1, -5, 0, 2.75, 0, 2.25, -3.5, -6.25, 0});
  SignalNode(17, "STFT", x, {Number(3), TensorData{}, Number(4)})
      .Int("onesided", 0)
      .Expect({1, 2, 4, 2}, {5, 0, 2, 1, -5, 0, 2, -1, 5.5, 0, -1, -2.5, 8.5, 0, -1, 2.5});
  const TensorData both =
      FloatTensor({1, 8, 2}, {1, 1, 2, -2, -1, 4, 3, 0.5, 0.5, 3, 4, -1, -2, 2, 1, 1});
  SignalNode(17, "STFT", both, {Number(4), window})
      .Int("onesided", 0)
      .Expect({1, 2, 4, 2},
              {3, 2.75, -0.75, -4, -4, 6.25, 3.75, -3, 2.75, 3, 0.75, -4, -6.25, 4, 3.75, 3});
  EXPECT_THAT(SignalNode(17, "STFT", x, {Number(2), window, Number(5)}).Error(),
              HasSubstr("a window of 5 samples"));
}

TEST(OnnxMelTest, TrianglesOverTheBins) {
  OnnxMaker maker(17);
  maker.Initializer("bins", Number(3))
      .Initializer("length", Number(16))
      .Initializer("rate", Number(8192))
      .Initializer("low", FloatTensor({}, {0}))
      .Initializer("high", FloatTensor({}, {4096}))
      .Node("MelWeightMatrix", {"bins", "length", "rate", "low", "high"}, {"y"})
      .Output("y");
  const auto module = ImportOnnxBytes(maker.Bytes());
  ASSERT_TRUE(module.ok()) << module.status();
  const auto outputs = RunModel(*module, {});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  std::vector<float> expected(27, 0);
  expected[0] = expected[4] = expected[11] = 1;
  expected[7] = expected[8] = expected[14] = 0.5;
  EXPECT_EQ((*outputs)[0].shape, (std::vector<int64_t>{9, 3}));
  EXPECT_EQ(Floats((*outputs)[0]), expected);
}

}  // namespace
}  // namespace hone::frontend
