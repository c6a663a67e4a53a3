// Concatenations and slices of feature maps need no kernels where parts are whole blocks.
#include <gtest/gtest.h>

#include "compiler/frontend/zoo/net_builder.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/small_zoo.h"

namespace hone::driver {
namespace {

using frontend::NetBuilder;
using ir::Expr;

// Calls of kernels that do nothing but move elements between tensors of one layout.
int MovesOf(const CompileReport& report) {
  int calls = 0;
  for (const KernelReport& kernel : report.kernels) {
    const bool joins = kernel.name.starts_with("concatenate");
    if (joins || kernel.name.starts_with("strided_slice")) calls += kernel.calls;
  }
  return calls;
}

// Compiles, compares with the interpreter's numbers; the calls that move elements.
int CheckedMovesOf(const ir::Module& module) {
  const std::vector<frontend::TensorData> inputs = frontend::InputsOf(module);
  const auto expected = frontend::RunModel(module, inputs);
  EXPECT_TRUE(expected.ok()) << expected.status();
  auto compiled = Compiled::Make(module, {.target = HostTarget(), .require_tuned = false});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!expected.ok() || !compiled.ok()) return -1;
  for (const int threads : {1, 2}) {
    const auto outputs = compiled->Run(inputs, threads);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    for (size_t i = 0; i < expected->size(); ++i) {
      EXPECT_EQ(FirstDifference((*outputs)[i], (*expected)[i], 1e-3, 1e-4), "") << i;
    }
  }
  return MovesOf(compiled->report());
}

TEST(FeatureMapViews, FireModulesMoveNothing) {
  NetBuilder net(1);
  Expr x = net.ConvBiasRelu(net.Image(3, {15, 15}), {32, 3, 2});
  for (const int64_t expand : {32, 64}) {
    const Expr s = net.ConvBiasRelu(x, {16, 1});
    x = net.Concat({net.ConvBiasRelu(s, {expand, 1}), net.ConvBiasRelu(s, {expand, 3, 1, 1})});
  }
  EXPECT_EQ(CheckedMovesOf(net.Finish(net.GlobalAvgPool(x))), 0);
}

// Each concatenation is part of the next one, and all are read.
TEST(FeatureMapViews, ChainsOfConcatenationsMoveNothing) {
  NetBuilder net(2);
  Expr x = net.ConvBiasRelu(net.Image(3, {7, 7}), {32, 3, 1, 1});
  for (int i = 0; i < 4; ++i) {
    const Expr y = net.Conv(net.Relu(net.BatchNorm(x)), {16, 3, 1, 1});
    x = net.Concat({x, y});
  }
  EXPECT_EQ(CheckedMovesOf(net.Finish(net.ConvBiasRelu(x, {16, 1}))), 0);
}

// Three 1x1 convolutions of the same data become one: two slices of it lie in its result, the one
// that is joined is copied there, and nothing else is.
TEST(FeatureMapViews, OfInceptionModulesOneSliceMoves) {
  for (const bool nested : {false, true}) {
    NetBuilder net(3);
    Expr x = net.ConvBiasRelu(net.Image(3, {9, 9}), {48, 3, 1, 1});
    const Expr one = net.ConvBiasRelu(x, {32, 1});
    const Expr three = net.ConvBiasRelu(net.ConvBiasRelu(x, {16, 1}), {32, 3, 1, 1});
    const Expr five = net.ConvBiasRelu(net.ConvBiasRelu(x, {16, 1}), {16, 5, 1, 2});
    const Expr pooled = net.ConvBiasRelu(net.MaxPool(x, {3, 1, 1}), {32, 1});
    x = nested ? net.Concat({one, net.Concat({three, five}), pooled})
               : net.Concat({one, three, five, pooled});
    EXPECT_EQ(CheckedMovesOf(net.Finish(net.ConvBiasRelu(x, {16, 3}))), 1) << nested;
  }
}

// A value has one place: what joins it again copies.
TEST(FeatureMapViews, WhatIsJoinedTwiceIsCopiedOnce) {
  NetBuilder net(4);
  const Expr x = net.ConvBiasRelu(net.Image(16, {6, 6}), {16, 3, 1, 1});
  const Expr y = net.ConvBiasRelu(x, {16, 3, 1, 1});
  const Expr z = net.ConvBiasRelu(y, {16, 3, 1, 1});
  const Expr a = net.ConvBiasRelu(net.Concat({x, y}), {16, 1});
  const Expr b = net.ConvBiasRelu(net.Concat({y, z}), {16, 1});
  EXPECT_EQ(CheckedMovesOf(net.Finish(net.Add(a, b))), 1);
}

// Channels that are and are not whole blocks, slices at and beside their bounds, values read in
// several places, inputs and outputs among what is joined.
ir::Module RandomJoins(uint64_t seed) {
  Random random(seed);
  NetBuilder net(seed);
  const int64_t size = 3 + static_cast<int64_t>(random.Below(5));
  std::vector<Expr> values = {net.Image(16, {size, size})};
  const auto channels = [&] {
    constexpr int64_t kSome[] = {4, 5, 8, 16, 16, 24, 32, 48};
    return kSome[random.Below(std::size(kSome))];
  };
  const auto pick = [&] {
    return values[values.size() - 1 - random.Below(std::min<size_t>(values.size(), 5))];
  };
  for (int i = 0; i < 9; ++i) {
    const Expr x = pick();
    switch (random.Below(5)) {
      case 0:
      case 1: {
        std::vector<Expr> parts = {x};
        for (uint64_t n = 1 + random.Below(3); n > 0; --n) parts.push_back(pick());
        values.push_back(net.Concat(std::move(parts)));
        break;
      }
      case 2: {
        const int64_t has = x->type->tensor.shape[1];
        const int64_t begin = static_cast<int64_t>(random.Below(static_cast<uint64_t>(has)));
        const int64_t from = random.Below(4) == 0 ? begin : begin / 16 * 16;
        const int64_t end = random.Below(2) == 0 ? has : std::min(has, from + 16);
        values.push_back(NetBuilder::Call("strided_slice", {x},
                                          {{"axes", std::vector<int64_t>{1}},
                                           {"begin", std::vector<int64_t>{from}},
                                           {"end", std::vector<int64_t>{end}}}));
        break;
      }
      case 3:
        values.push_back(net.MaxPool(x, {3, 1, 1}));
        break;
      default:
        values.push_back(net.ConvBiasRelu(x, {channels(), 3, 1, 1}));
    }
    if (values.back()->type->tensor.shape[1] > 160) {
      values.back() = net.Conv(values.back(), {channels(), 1});
    }
  }
  if (random.Below(3) == 0) return net.Finish(net.Concat({values.back(), pick()}));
  return net.Finish(values.back());
}

class RandomFeatureMaps : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomFeatureMaps, GiveTheInterpretersNumbers) {
  EXPECT_GE(CheckedMovesOf(RandomJoins(GetParam())), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFeatureMaps, ::testing::Range<uint64_t>(0, 12));

}  // namespace
}  // namespace hone::driver
